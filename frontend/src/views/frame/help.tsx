import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { helpOpen } from '../../model/state';

const SHEET: { title: string; keys: [string, string][] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['g then o, t, i, k', 'Overview · Timeline · GPU idle · Kernels'],
      ['g then p, m, f, y', 'Operators · Modules · Flame · Memory'],
      ['/', 'Search or filter'],
      ['?', 'This sheet'],
      ['Esc', 'Close, deselect'],
      ['↑ ↓ Enter', 'Move in a table, open the row'],
    ],
  },
  {
    title: 'Flame',
    keys: [
      ['↑ ↓ ← →', 'To the frame above, below, beside'],
      ['Enter', 'Zoom to the frame, open its details'],
      ['Backspace or Esc', 'Zoom out'],
      ['N · Shift + N', 'Next, previous frame that the search has found'],
    ],
  },
  {
    title: 'Memory',
    keys: [
      ['Click, ← →', 'Pick an instant; Home: the peak'],
      ['Drag', 'Zoom the curve and the map'],
      ['+ − 0', 'Zoom in, out, everything'],
    ],
  },
  {
    title: 'Timeline: move',
    keys: [
      ['W S', 'Zoom in, out at the mouse'],
      ['A D', 'Move left, right'],
      ['Ctrl + wheel', 'Zoom'],
      ['Wheel', 'Scroll the rows'],
      ['Shift + wheel, Shift + drag', 'Move in time'],
      ['Drag on the ruler', 'Zoom to a range'],
      ['F', 'Fit the selection; again: tighter'],
      ['0 or Z', 'The whole recording'],
    ],
  },
  {
    title: 'Timeline: pick',
    keys: [
      ['Click', 'Select an event'],
      ['Drag', 'Select an area: table by name below'],
      ['. ,  or  → ←', 'Next, previous event of the row'],
      ['↑ ↓', 'To the event above, below'],
      ['Enter · Shift + Enter', 'Next, previous marked event: a search hit, evidence'],
      ['M · Shift + M', 'Measure the selection · keep the mark'],
      ['L', 'What is in view, as a table'],
      ['C', 'Draw the critical path'],
    ],
  },
];

export function HelpSheet(): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open) box.current?.focus();
  }, [open]);
  if (!open) return null;
  const close = () => {
    helpOpen.value = false;
  };
  return (
    <div class="help" role="dialog" aria-label="Keyboard and mouse" tabIndex={-1} ref={box} data-testid="help">
      <header>
        <h2>Keyboard and mouse</h2>
        <button type="button" class="icon" aria-label="Close help" onClick={close}>
          ✕
        </button>
      </header>
      <div class="help-columns">
        {SHEET.map((part) => (
          <section key={part.title}>
            <h3>{part.title}</h3>
            <dl>
              {part.keys.map(([key, told]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{told}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="muted">
        Every number has its definition behind the dotted line, and its exact value on hover. The address holds the
        whole view: copy it to share what you see.
      </p>
    </div>
  );
}
