import type { ComponentChildren, HTMLAttributes, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownColumns } from '../../model/columns';
import type { Bar } from '../../model/state';
import { ColumnChoice } from './column_choice';
import { Help } from './help';
import { markMore } from './scroll';

/** A column of rows that are told by `R`: most by their number in a table. */
export interface GridColumn<R = number> {
  key: string;
  title: string;
  help?: string;
  width: string;
  /** Least width where `width` is automatic, px. */
  least?: number;
  number?: boolean;
  sortable?: boolean;
  /** Columns of the view that it shows; the one of its key without. */
  of?: string[];
  /** Hidden until somebody asks for it. */
  extra?: boolean;
  cell: (row: R) => ComponentChildren;
  hover?: (row: R) => string;
}

export type RowAttributes = Record<string, string | number | null | undefined>;

export const ROW_HEIGHT = 24;
const OVERSCAN = 8;
/** So many rows need no more room than they take. */
const FEW = 5;
/** Room for the button that chooses columns, px. */
const CHOICE_WIDTH = 22;

/** How a panel that holds nothing but a table takes its room: as much as its rows need, as far as there is any. */
export function fitting(rows: number): string {
  return rows > FEW ? 'grow fits' : 'grow few';
}

interface SheetProps<R> {
  label: string;
  /** What the choice of columns is remembered by; without, there is none. */
  name?: string;
  columns: GridColumn<R>[];
  rows: number;
  sight: Sight;
  sort?: Bar;
  onSort?: (sort: Bar) => void;
  row: (index: number, columns: GridColumn<R>[]) => JSX.Element;
  footer?: (column: GridColumn<R>) => ComponentChildren;
  empty: string;
  box: HTMLAttributes<HTMLDivElement>;
  table: HTMLAttributes<HTMLTableElement>;
}

/** What tables have in common: a head that sorts, columns to choose from, totals, and only the rows in sight. */
export function Sheet<R>(props: SheetProps<R>): JSX.Element {
  const { name, label, rows, sight, footer } = props;
  const { first, last } = sight;
  const columns = shownColumns(name, props.columns);
  const room = name === undefined ? 0 : CHOICE_WIDTH;
  return (
    <div class={name === undefined ? 'sheet' : 'sheet chooses'}>
      <div {...props.box} ref={sight.box} onScroll={sight.onScroll}>
        <table {...props.table} aria-rowcount={rows + 1} style={{ minWidth: `${leastWidth(columns) + room}px` }}>
          <colgroup>
            {columns.map((column, i) => (
              <col key={column.key} style={{ width: widthOf(column, i === columns.length - 1 ? room : 0) }} />
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
            {Array.from({ length: last - first }, (_, i) => props.row(first + i, columns))}
            <Spacer height={(rows - last) * ROW_HEIGHT} span={columns.length} />
          </tbody>
          {footer && (
            <tfoot>
              <tr>
                {columns.map((column) => (
                  <td key={column.key} class={column.number ? 'number' : undefined}>
                    {footer(column)}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
        {rows === 0 && <p class="grid-empty">{props.empty}</p>}
      </div>
      {name !== undefined && <ColumnChoice table={name} label={label} columns={props.columns} edge={sight.edge} />}
    </div>
  );
}

/** Cells of a row; `first` goes before what the first one shows. */
export function Cells<R>(props: {
  row: R;
  columns: GridColumn<R>[];
  first?: (cell: ComponentChildren) => JSX.Element;
}) {
  const { row, columns, first } = props;
  return columns.map((column, i) => (
    <td key={column.key} class={column.number ? 'number' : undefined} title={column.hover?.(row)}>
      {i === 0 && first ? first(column.cell(row)) : column.cell(row)}
    </td>
  ));
}

const isFixed = (width: string) => width.endsWith('px');

function leastWidth<R>(columns: GridColumn<R>[]): number {
  const of = ({ width, least }: GridColumn<R>) => (isFixed(width) ? Number.parseInt(width, 10) : (least ?? 160));
  return columns.reduce((sum, column) => sum + of(column), 0);
}

function widthOf<R>({ width }: GridColumn<R>, more: number): string {
  return isFixed(width) ? `${Number.parseInt(width, 10) + more}px` : width;
}

function Spacer({ height, span }: { height: number; span: number }): JSX.Element | null {
  if (height <= 0) return null;
  return (
    <tr>
      <td colSpan={span} class="spacer" style={{ height: `${height}px` }} />
    </tr>
  );
}

interface HeadCellProps<R> {
  column: GridColumn<R>;
  sort?: Bar;
  onSort?: (sort: Bar) => void;
}

function HeadCell<R>({ column, sort, onSort }: HeadCellProps<R>): JSX.Element {
  const sorted = sort?.column === column.key;
  const direction = sorted ? (sort?.descending ? 'descending' : 'ascending') : 'none';
  const title = column.help ? <Help text={column.help}>{column.title}</Help> : column.title;
  if (column.sortable === false || !onSort) {
    return (
      <th scope="col" class={column.number ? 'number' : undefined}>
        {title}
      </th>
    );
  }
  const turn = () => onSort({ column: column.key, descending: sorted ? !sort?.descending : column.number === true });
  return (
    <th scope="col" class={column.number ? 'number' : undefined} aria-sort={direction}>
      <button type="button" class="sort" onClick={turn}>
        {title}
        <span class="arrow" aria-hidden="true">
          {sorted ? (sort?.descending ? '▾' : '▴') : ''}
        </span>
      </button>
    </th>
  );
}

export interface Sight {
  box: { current: HTMLDivElement | null };
  /** Rows that are drawn: from the first to before the last. */
  first: number;
  last: number;
  /** Width of the scroll bar, px. */
  edge: number;
  onScroll: () => void;
}

/** Which of so many rows are in sight. */
export function useSight(rows: number): Sight {
  const box = useRef<HTMLDivElement>(null);
  const [{ top, height, edge }, setView] = useState({ top: 0, height: 600, edge: 0 });
  const read = () => {
    const element = box.current;
    markMore(element);
    if (!element) return;
    setView({
      top: element.scrollTop,
      height: element.clientHeight || 600,
      edge: element.offsetWidth - element.clientWidth,
    });
  };
  useLayoutEffect(() => {
    read();
    const observer = new ResizeObserver(read);
    if (box.current) observer.observe(box.current);
    if (box.current?.firstElementChild) observer.observe(box.current.firstElementChild);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT) - OVERSCAN, rows));
  const last = Math.min(rows, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
  return { box, first: first - (first % 2), last, edge, onScroll: read };
}

const MOVES: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 20,
  PageUp: -20,
  Home: -1e9,
  End: 1e9,
};

/** The row that a key leads to; null where it is no key that moves. */
export function moved(key: string, at: number, rows: number): number | null {
  if (!Object.hasOwn(MOVES, key)) return null;
  return Math.max(0, Math.min(rows - 1, at + MOVES[key]));
}

export function reveal(element: HTMLDivElement | null, index: number): void {
  if (!element) return;
  const top = index * ROW_HEIGHT;
  const room = element.clientHeight - ROW_HEIGHT * 3;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top > element.scrollTop + room) element.scrollTop = top - room;
}

/** What a row looks like. */
export function rowClass(index: number, is: { active: boolean; current: boolean; opens: boolean }): string {
  const classes = [index % 2 && 'odd', is.active && 'active', is.current && 'current', is.opens && 'opens'];
  return classes.filter(Boolean).join(' ');
}
