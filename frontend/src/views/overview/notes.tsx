import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { plural } from '../../lib/format';

const FIRST = 2;

/** What was and was not recorded, in the backend's words. */
export function Notes({ notes }: { notes: string[] }): JSX.Element {
  const [all, setAll] = useState(false);
  if (notes.length === 0) {
    return (
      <div class="notes good" data-testid="notes">
        <span class="mark" aria-hidden="true">
          ✓
        </span>
        <p>No remarks on this recording.</p>
      </div>
    );
  }
  const shown = all ? notes : notes.slice(0, FIRST);
  return (
    <div class="notes" data-testid="notes">
      <span class="mark" aria-hidden="true">
        !
      </span>
      <ul>
        {shown.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      {notes.length > FIRST && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : plural(notes.length - FIRST, 'more note')}
        </button>
      )}
    </div>
  );
}
