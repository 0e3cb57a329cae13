import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { Bar } from '../../model/state';
import type { RowId, VisibleRow } from '../../model/tree';
import { Cells, type GridColumn, moved, type RowAttributes, reveal, rowClass, Sheet, useSight } from './sheet';

interface TreeTableProps<R> {
  label: string;
  /** What the choice of columns is remembered by. */
  name: string;
  /** What Enter does to a row. */
  enter: string;
  rows: VisibleRow<R>[];
  /** The first column has the names, indented. */
  columns: GridColumn<R>[];
  sort: Bar;
  onSort: (sort: Bar) => void;
  onTurn: (id: RowId, open: boolean) => void;
  chosen: RowId | null;
  onChoose: (row: R) => void;
  footer: (column: GridColumn<R>) => ComponentChildren;
  rowAttributes: (row: R) => RowAttributes;
  empty: string;
}

/** A tree as a table that draws only the rows in sight; arrows move and unfold, Enter chooses. */
export function TreeTable<R>(props: TreeTableProps<R>): JSX.Element {
  const { rows } = props;
  const sight = useSight(rows.length);
  const own = useId();
  const rowId = (index: number) => `${own}-${index}`;
  const [active, setActive] = useState<RowId | null>(null);
  const at = rows.findIndex((one) => one.id === active);
  const chosen = rows.findIndex((one) => one.id === props.chosen);
  // Once for each choice, as soon as the rows above it are open.
  useEffect(() => {
    if (chosen >= 0) reveal(sight.box.current, chosen);
  }, [props.chosen, chosen >= 0]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const next = press(event.key, at, props);
    if (next === null) return;
    event.preventDefault();
    setActive(rows[next]?.id ?? null);
    reveal(sight.box.current, next);
  };
  return (
    <Sheet
      {...props}
      rows={rows.length}
      sight={sight}
      row={(index, columns) => (
        <Row
          key={rows[index].id}
          {...props}
          columns={columns}
          of={rows[index]}
          index={index}
          domId={rowId(index)}
          active={rows[index].id === active}
        />
      )}
      box={{ class: 'grid tree' }}
      table={{
        role: 'treegrid',
        tabIndex: 0,
        onKeyDown,
        'aria-label': `${props.label}: arrows move and unfold, Enter ${props.enter}`,
        'aria-activedescendant': at < sight.first || at >= sight.last ? undefined : rowId(at),
      }}
    />
  );
}

/** What a key does: the row to go to, null where it means nothing. */
function press<R>(key: string, at: number, props: TreeTableProps<R>): number | null {
  const { rows } = props;
  const next = moved(key, at, rows.length);
  if (next !== null) return next;
  const one = rows[at];
  if (!one) return null;
  switch (key) {
    case 'Enter':
    case ' ':
      props.onChoose(one.row);
      return at;
    case 'ArrowRight':
      if (one.unfolds && !one.open) props.onTurn(one.id, true);
      return one.open ? at + 1 : at;
    case 'ArrowLeft':
      if (one.open) props.onTurn(one.id, false);
      return one.open ? at : rowAbove(rows, at);
    default:
      return null;
  }
}

function rowAbove<R>(rows: VisibleRow<R>[], at: number): number {
  let above = at - 1;
  while (above >= 0 && rows[above].depth >= rows[at].depth) above--;
  return above < 0 ? at : above;
}

interface RowProps<R> extends TreeTableProps<R> {
  of: VisibleRow<R>;
  index: number;
  domId: string;
  active: boolean;
}

function Row<R>(props: RowProps<R>): JSX.Element {
  const { of, index, active, onChoose } = props;
  const current = props.chosen === of.id;
  return (
    <tr
      class={rowClass(index, { active, current, opens: true })}
      id={props.domId}
      aria-rowindex={index + 2}
      aria-level={of.depth + 1}
      aria-posinset={of.place}
      aria-setsize={of.siblings}
      aria-expanded={of.unfolds ? of.open : undefined}
      aria-selected={current}
      onClick={() => onChoose(of.row)}
      {...props.rowAttributes(of.row)}
    >
      <Cells
        row={of.row}
        columns={props.columns}
        first={(name) => (
          <span class="tree-name" style={{ paddingLeft: `${14 * Math.min(of.depth, 40)}px` }}>
            <Twist of={of} onTurn={props.onTurn} />
            {name}
          </span>
        )}
      />
    </tr>
  );
}

interface TwistProps {
  of: { id: RowId; open: boolean; unfolds: boolean };
  onTurn: (id: RowId, open: boolean) => void;
}

/** Unfolds by the mouse; keys do it from the row. */
function Twist({ of, onTurn }: TwistProps): JSX.Element {
  if (!of.unfolds) return <span class="twist" />;
  return (
    <span
      class="twist turns"
      aria-hidden="true"
      data-testid="twist"
      onClick={(event) => {
        event.stopPropagation();
        onTurn(of.id, !of.open);
      }}
    >
      {of.open ? '▾' : '▸'}
    </span>
  );
}

/** Which rows are open. */
export function useOpenRows(first: () => Iterable<RowId>) {
  const [open, setOpen] = useState<ReadonlySet<RowId>>(() => new Set(first()));
  const turn = (id: RowId, wanted: boolean) =>
    setOpen((before) => new Set(wanted ? [...before, id] : [...before].filter((one) => one !== id)));
  /** Opens some more. */
  const add = (ids: Iterable<RowId>) => setOpen((before) => new Set([...before, ...ids]));
  const reset = (ids: Iterable<RowId>) => setOpen(new Set(ids));
  return { open, turn, add, reset };
}
