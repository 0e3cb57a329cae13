import type { CSSProperties, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { count } from '../../lib/format';
import { type ColumnKey, hideColumn, showAllColumns, shownColumns } from '../../model/columns';
import { OWN_KEYS, stepFocus, usePopup } from './popup';

interface ColumnChoiceProps {
  /** What the choice is remembered by. */
  table: string;
  label: string;
  columns: (ColumnKey & { title: string })[];
  /** Width of the scroll bar beside it, px. */
  edge: number;
}

/** A button at the right end of a table's head that lists its columns to hide and show. */
export function ColumnChoice(props: ColumnChoiceProps): JSX.Element {
  const { table, columns, label, edge } = props;
  const [open, setOpen] = useState(false);
  const box = usePopup<HTMLDivElement>(open, () => setOpen(false));
  const button = useRef<HTMLButtonElement>(null);
  const hidden = columns.length - shownColumns(table, columns).length;
  const told = hidden > 0 ? `Columns: ${count(hidden)} hidden` : 'Columns';
  return (
    <div class="column-choice" ref={box} style={{ right: `${edge}px` }}>
      <button
        type="button"
        class={hidden > 0 ? 'icon some' : 'icon'}
        ref={button}
        data-testid="columns"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={`${told}, ${label}`}
        title={told}
        onClick={() => setOpen(!open)}
      >
        <svg width="13" height="12" viewBox="0 0 13 12" aria-hidden="true">
          <path d="M1.5 1v10M6.5 1v10M11.5 1v10" stroke="currentColor" stroke-width="2" />
        </svg>
      </button>
      {open && (
        <ColumnList
          {...props}
          place={button.current?.getBoundingClientRect() ?? null}
          close={() => {
            setOpen(false);
            button.current?.focus();
          }}
        />
      )}
    </div>
  );
}

const CONTROLS = 'input:not([disabled]), button:not([disabled])';
/** Least height in which a list is of use, px. */
const LEAST = 180;

/** Below the button, or above it where there is more room; in sight in any case. */
function placed(button: DOMRect | null): CSSProperties {
  if (!button) return {};
  const right = `${window.innerWidth - button.right}px`;
  const below = window.innerHeight - button.bottom - 8;
  if (below >= LEAST || below >= button.top)
    return { right, top: `${button.bottom + 2}px`, maxHeight: `${Math.max(below, 80)}px` };
  return { right, bottom: `${window.innerHeight - button.top + 2}px`, maxHeight: `${button.top - 8}px` };
}

function ColumnList(props: ColumnChoiceProps & { place: DOMRect | null; close: () => void }): JSX.Element {
  const { table, columns, label, place, close } = props;
  const panel = useRef<HTMLDivElement>(null);
  const controls = () => [...(panel.current?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])];
  const start = () => controls()[0]?.focus();
  useLayoutEffect(start, []);
  const shown = shownColumns(table, columns);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
    else if (!stepFocus(event.key, controls())) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="column-list"
      role="dialog"
      aria-label={`Columns of ${label}`}
      data-testid="column-list"
      ref={panel}
      style={placed(place)}
      onKeyDown={onKeyDown}
      {...OWN_KEYS}
    >
      {columns.map((column, i) => (
        <label key={column.key} title={i === 0 ? 'Says what a row is: it stays' : undefined}>
          <input
            type="checkbox"
            data-column={column.key}
            checked={shown.includes(column)}
            disabled={i === 0}
            onChange={(event) => hideColumn(table, column.key, !event.currentTarget.checked)}
          />
          {column.title.replace(/, (ns|µs|ms|s)$/, '')}
        </label>
      ))}
      <button
        type="button"
        class="quiet"
        data-testid="columns-reset"
        disabled={shown.length === columns.length}
        onClick={() => {
          showAllColumns(table, columns);
          // A button that cannot be pressed any more loses the keys.
          start();
        }}
      >
        Show all columns
      </button>
    </div>
  );
}
