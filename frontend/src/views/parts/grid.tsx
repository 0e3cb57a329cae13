import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Bar } from '../../model/state';
import { Cells, type GridColumn, moved, type RowAttributes, reveal, rowClass, Sheet, useSight } from './sheet';

interface GridProps {
  label: string;
  /** What the choice of columns is remembered by; without, there is none. */
  name?: string;
  columns: GridColumn[];
  order: number[];
  sort?: Bar;
  onSort?: (sort: Bar) => void;
  onOpen?: (row: number) => void;
  current?: number | null;
  rowAttributes?: (row: number) => RowAttributes;
  footer?: (column: GridColumn) => ComponentChildren;
  empty?: string;
}

/** A table that draws only the rows in sight; sorting and opening work by mouse and keyboard. */
export function Grid(props: GridProps): JSX.Element {
  const { order, label } = props;
  const sight = useSight(order.length);
  const { active, onKeyDown } = useActiveRow(props, sight.box);
  return (
    <Sheet
      {...props}
      rows={order.length}
      sight={sight}
      row={(index, columns) => (
        <GridRow key={order[index]} {...props} columns={columns} index={index} active={active === index} />
      )}
      empty={props.empty ?? 'Nothing here.'}
      box={{ class: 'grid', role: 'group', 'aria-label': label, tabIndex: 0, onKeyDown }}
      table={{ 'aria-label': label }}
    />
  );
}

function GridRow(props: GridProps & { index: number; active: boolean }): JSX.Element {
  const { index, active, columns, onOpen } = props;
  const row = props.order[index];
  const current = props.current === row;
  return (
    <tr
      class={rowClass(index, { active, current, opens: onOpen !== undefined })}
      aria-rowindex={index + 2}
      aria-selected={current}
      onClick={onOpen && (() => onOpen(row))}
      {...props.rowAttributes?.(row)}
    >
      <Cells row={row} columns={columns} />
    </tr>
  );
}

function useActiveRow({ order, onOpen }: GridProps, box: { current: HTMLDivElement | null }) {
  const [active, setActive] = useState(-1);
  useEffect(() => setActive(-1), [order]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current) return;
    const next = moved(event.key, active, order.length);
    if (next !== null) {
      event.preventDefault();
      setActive(next);
      reveal(box.current, next);
    } else if (event.key === 'Enter' && active >= 0) {
      onOpen?.(order[active]);
    }
  };
  return { active, onKeyDown };
}
