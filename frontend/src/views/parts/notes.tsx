import type { JSX } from 'preact';

/** What to record next time, by what a note says is missing. */
const STEPS: { missing: RegExp; record: string }[] = [
  { missing: /\bwith_stack or with_modules\b/, record: 'with_stack=True' },
  { missing: /\bwith_stack\b/, record: 'with_stack=True' },
  { missing: /\brecord_shapes\b/, record: 'record_shapes=True' },
];

/** Notes of a table, with the next step where one helps. */
export function TableNotes({ notes }: { notes: string[] }): JSX.Element {
  return (
    <>
      {notes.map((note) => {
        const step = STEPS.find((one) => one.missing.test(note));
        return (
          <p class="hint" key={note} data-testid="table-note">
            {note}
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
