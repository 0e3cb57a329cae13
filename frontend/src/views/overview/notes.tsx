import type { JSX } from 'preact';
import { SeveritySign } from '../parts/severity';

/** What else the backend remarks, beside its checks. */
export function Notes({ notes }: { notes: string[] }): JSX.Element | null {
  if (notes.length === 0) return null;
  return (
    <div class="notes" data-testid="notes">
      <SeveritySign severity="info" />
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}
