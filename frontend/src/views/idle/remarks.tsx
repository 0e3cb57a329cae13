import type { JSX } from 'preact';

/** What the backend says beside its figures; nothing is said twice. */
export function Remarks({ notes }: { notes: string[] }): JSX.Element | null {
  const told = [...new Set(notes)];
  if (told.length === 0) return null;
  return (
    <ul class="remarks hint" data-testid="idle-notes">
      {told.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}
