import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Bar } from '../../model/state';
import type { VisibleRow } from '../../model/tree';
import { type GridColumn, HeadCell, minimumWidth, ROW_HEIGHT, reveal, Spacer, useWindow } from './grid';

interface TreeTableProps {
  label: string;
  rows: VisibleRow[];
  /** The first column has the names, indented. */
  columns: GridColumn[];
  sort: Bar;
  onSort: (sort: Bar) => void;
  onTurn: (row: number, open: boolean) => void;
  chosen: number | null;
  onChoose: (row: number) => void;
  footer: (column: GridColumn) => ComponentChildren;
  rowAttributes: (row: number) => Record<string, string | number | null>;
  empty: string;
}

const rowId = (index: number) => `tree-table-row-${index}`;

/** A tree as a table that draws only the rows in sight; arrows move and unfold, Enter chooses. */
export function TreeTable(props: TreeTableProps): JSX.Element {
  const { rows, columns } = props;
  const { box, first, last, onScroll } = useWindow(rows.length);
  const [active, setActive] = useState<number | null>(null);
  const at = rows.findIndex((one) => one.row === active);
  const chosen = rows.findIndex((one) => one.row === props.chosen);
  useEffect(() => {
    if (chosen >= 0) reveal(box.current, chosen);
  }, [props.chosen, chosen >= 0]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const next = press(event.key, rows, at, props);
    if (next === null) return;
    event.preventDefault();
    setActive(rows[next]?.row ?? null);
    reveal(box.current, next);
  };
  return (
    <div class="grid tree" ref={box} onScroll={onScroll}>
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose rows unfold
        role="treegrid"
        tabIndex={0}
        onKeyDown={onKeyDown}
        aria-label={`${props.label}: arrows move and unfold, Enter opens the details`}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={at < first || at >= last ? undefined : rowId(at)}
        style={{ minWidth: minimumWidth(columns) }}
      >
        <colgroup>
          {columns.map((column) => (
            <col key={column.key} style={{ width: column.width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={first * ROW_HEIGHT} span={columns.length} />
          {rows.slice(first, last).map((one, i) => (
            <Row key={one.row} of={one} index={first + i} active={one.row === active} {...props} />
          ))}
          <Spacer height={(rows.length - last) * ROW_HEIGHT} span={columns.length} />
        </tbody>
        <tfoot>
          <tr>
            {columns.map((column) => (
              <td key={column.key} class={column.number ? 'number' : undefined}>
                {props.footer(column)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
      {rows.length === 0 && <p class="grid-empty">{props.empty}</p>}
    </div>
  );
}

/** What a key does: the row to go to, null where it means nothing. */
function press(key: string, rows: VisibleRow[], at: number, props: TreeTableProps): number | null {
  const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
  if (key in moves) return Math.max(0, Math.min(rows.length - 1, at + moves[key]));
  const one = rows[at];
  if (!one) return null;
  switch (key) {
    case 'Enter':
    case ' ':
      props.onChoose(one.row);
      return at;
    case 'ArrowRight':
      if (one.unfolds && !one.open) props.onTurn(one.row, true);
      return one.open ? at + 1 : at;
    case 'ArrowLeft':
      if (one.open) props.onTurn(one.row, false);
      return one.open ? at : rowAbove(rows, at);
    default:
      return null;
  }
}

function rowAbove(rows: VisibleRow[], at: number): number {
  let above = at - 1;
  while (above >= 0 && rows[above].depth >= rows[at].depth) above--;
  return above < 0 ? at : above;
}

function Row(props: TreeTableProps & { of: VisibleRow; index: number; active: boolean }): JSX.Element {
  const { of, index, columns, chosen, onChoose, onTurn } = props;
  const classes = [index % 2 ? 'odd' : '', props.active ? 'active' : '', chosen === of.row ? 'current' : '', 'opens'];
  return (
    <tr
      class={classes.filter(Boolean).join(' ')}
      id={rowId(index)}
      aria-rowindex={index + 2}
      aria-level={of.depth + 1}
      aria-posinset={of.place}
      aria-setsize={of.siblings}
      aria-expanded={of.unfolds ? of.open : undefined}
      aria-selected={chosen === of.row}
      onClick={() => onChoose(of.row)}
      {...props.rowAttributes(of.row)}
    >
      {columns.map((column, i) => (
        <td key={column.key} class={column.number ? 'number' : undefined} title={column.hover?.(of.row)}>
          {i > 0 ? (
            column.cell(of.row)
          ) : (
            <span class="tree-name" style={{ paddingLeft: `${14 * Math.min(of.depth, 40)}px` }}>
              <Twist of={of} onTurn={onTurn} />
              {column.cell(of.row)}
            </span>
          )}
        </td>
      ))}
    </tr>
  );
}

/** Unfolds by the mouse; keys do it from the row. */
function Twist({ of, onTurn }: { of: VisibleRow; onTurn: (row: number, open: boolean) => void }): JSX.Element {
  if (!of.unfolds) return <span class="twist" />;
  return (
    <span
      class="twist turns"
      aria-hidden="true"
      data-testid="twist"
      onClick={(event) => {
        event.stopPropagation();
        onTurn(of.row, !of.open);
      }}
    >
      {of.open ? '▾' : '▸'}
    </span>
  );
}
