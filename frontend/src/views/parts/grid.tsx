import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Bar } from '../../model/state';
import { Help } from './help';
import { markMore } from './scroll';

export interface GridColumn {
  key: string;
  title: string;
  help?: string;
  width: string;
  /** Least width where `width` is automatic, px. */
  least?: number;
  number?: boolean;
  sortable?: boolean;
  cell: (row: number) => ComponentChildren;
  hover?: (row: number) => string;
}

interface GridProps {
  label: string;
  columns: GridColumn[];
  order: number[];
  sort?: Bar;
  onSort?: (sort: Bar) => void;
  onOpen?: (row: number) => void;
  current?: number | null;
  rowAttributes?: (row: number) => Record<string, string | number | null>;
  footer?: (column: GridColumn) => ComponentChildren;
  empty?: string;
}

export const ROW_HEIGHT = 24;
const OVERSCAN = 8;

/** A table that draws only the rows in sight; sorting and opening work by mouse and keyboard. */
export function Grid(props: GridProps): JSX.Element {
  const { order, columns } = props;
  const { box, first, last, onScroll } = useWindow(order.length);
  const { active, onKeyDown } = useActiveRow(props, box);
  const shown = order.slice(first, last);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a box that scrolls, no set of form fields
    <div
      class="grid"
      ref={box}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      role="group"
      aria-label={props.label}
    >
      <table aria-rowcount={order.length + 1} aria-label={props.label} style={{ minWidth: minimumWidth(columns) }}>
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
          {shown.map((row, i) => (
            <GridRow key={row} row={row} index={first + i} active={active === first + i} {...props} />
          ))}
          <Spacer height={(order.length - last) * ROW_HEIGHT} span={columns.length} />
        </tbody>
        {props.footer && (
          <tfoot>
            <tr>
              {columns.map((column) => (
                <td key={column.key} class={column.number ? 'number' : undefined}>
                  {props.footer?.(column)}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {order.length === 0 && <p class="grid-empty">{props.empty ?? 'Nothing here.'}</p>}
    </div>
  );
}

export function minimumWidth(columns: GridColumn[]): string {
  const fixed = columns.reduce(
    (sum, column) => sum + (column.width.endsWith('px') ? Number.parseInt(column.width, 10) : (column.least ?? 160)),
    0,
  );
  return `${fixed}px`;
}

export function Spacer({ height, span }: { height: number; span: number }): JSX.Element | null {
  if (height <= 0) return null;
  return (
    <tr>
      <td colSpan={span} class="spacer" style={{ height: `${height}px` }} />
    </tr>
  );
}

function GridRow(props: GridProps & { row: number; index: number; active: boolean }): JSX.Element {
  const { row, index, columns, onOpen, current } = props;
  const classes = [
    index % 2 ? 'odd' : '',
    props.active ? 'active' : '',
    current === row ? 'current' : '',
    onOpen ? 'opens' : '',
  ];
  return (
    <tr
      class={classes.filter(Boolean).join(' ')}
      aria-rowindex={index + 2}
      aria-selected={current === row}
      onClick={onOpen && (() => onOpen(row))}
      {...props.rowAttributes?.(row)}
    >
      {columns.map((column) => (
        <td key={column.key} class={column.number ? 'number' : undefined} title={column.hover?.(row)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

export function HeadCell({
  column,
  sort,
  onSort,
}: {
  column: GridColumn;
  sort?: Bar;
  onSort?: (sort: Bar) => void;
}): JSX.Element {
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

export function useWindow(rows: number) {
  const box = useRef<HTMLDivElement>(null);
  const [{ top, height }, setView] = useState({ top: 0, height: 600 });
  const read = () => {
    const element = box.current;
    markMore(element);
    if (element) setView({ top: element.scrollTop, height: element.clientHeight || 600 });
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
  return { box, first: first - (first % 2), last, onScroll: read };
}

function useActiveRow({ order, onOpen }: GridProps, box: { current: HTMLDivElement | null }) {
  const [active, setActive] = useState(-1);
  useEffect(() => setActive(-1), [order]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current) return;
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -1e9,
      End: 1e9,
    };
    if (event.key in moves) {
      event.preventDefault();
      const next = Math.max(0, Math.min(order.length - 1, active + moves[event.key]));
      setActive(next);
      reveal(box.current, next);
    } else if (event.key === 'Enter' && active >= 0) {
      onOpen?.(order[active]);
    }
  };
  return { active, onKeyDown };
}

export function reveal(element: HTMLDivElement | null, index: number): void {
  if (!element) return;
  const top = index * ROW_HEIGHT;
  const room = element.clientHeight - ROW_HEIGHT * 3;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top > element.scrollTop + room) element.scrollTop = top - room;
}
