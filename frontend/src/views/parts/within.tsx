import type { JSX } from 'preact';
import { filter, type Within, within } from '../../model/state';
import { Choice } from './bits';

const OPTIONS: { value: Within; label: string; help: string }[] = [
  { value: 'start', label: 'Starts in it', help: 'What starts in the chosen time; of a step, what it launched' },
  { value: 'launch', label: 'Launched in it', help: 'Device work whose launch call starts in the chosen time' },
  { value: 'run', label: 'Runs in it', help: 'What runs in the chosen time, cut to it' },
];

/** What belongs to the chosen time; nothing to ask where there is none. */
export function WithinChoice(): JSX.Element | null {
  if (!filter.value) return null;
  return (
    <span data-testid="within">
      <Choice
        label="What belongs to the chosen time"
        value={within.value}
        options={OPTIONS}
        onChange={(value) => (within.value = value)}
      />
    </span>
  );
}
