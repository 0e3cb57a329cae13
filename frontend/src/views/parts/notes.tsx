import type { JSX } from 'preact';
import { within } from '../../model/state';

/** What to record next time, by what a note says is missing. */
const STEPS: { missing: RegExp; record: string }[] = [
  { missing: /\bwith_stack or with_modules\b/, record: 'with_stack=True' },
  { missing: /\bwith_stack\b/, record: 'with_stack=True' },
  { missing: /\brecord_shapes\b/, record: 'record_shapes=True' },
];

/** What a note of the library offers to ask for instead: here a button does. */
const LAUNCHED = /\s*within=launch counts [^.]*\./;

/** Notes of a table, with the next step where one helps. */
export function TableNotes({ notes }: { notes: string[] }): JSX.Element {
  return (
    <>
      {notes.map((note) => {
        const step = STEPS.find((one) => one.missing.test(note));
        return (
          <p class="hint" key={note} data-testid="table-note">
            {note.replace(LAUNCHED, '')}
            {LAUNCHED.test(note) && <LaunchedInIt />}
            {step && (
              <>
                {' '}
                Next time, pass <code>{step.record}</code> to the profiler.
              </>
            )}
          </p>
        );
      })}
    </>
  );
}

function LaunchedInIt(): JSX.Element {
  return (
    <>
      {' '}
      <button type="button" class="quiet" data-testid="note-launched" onClick={() => (within.value = 'launch')}>
        Show what was launched in it
      </button>
    </>
  );
}
