import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { largest, memorySize, percent, scaled, timeScale } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { type Flame, WEIGHT_WORDS, weightExact, weights, weightText } from '../../model/stacks';
import { type Bar, flameQuery, selection } from '../../model/state';
import { column, sortRows, texts } from '../../model/tables';
import { above, unfold } from '../../model/tree';
import { ShareBar } from '../parts/bits';
import type { GridColumn } from '../parts/grid';
import { TreeTable } from '../parts/tree_table';
import { pickFrame } from './page';

/** The picture as a table: the same rows, for keyboards and screen readers. */
export function FrameTable({ flame, zoom }: { flame: Flame; zoom: number | null }): JSX.Element {
  const { table, tree, values, names, weight } = flame;
  const own = useMemo(() => weights(table, weight, 'self'), [table, weight]);
  const [sort, setSort] = useState<Bar>({ column: 'total', descending: true });
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => {
    if (zoom !== null) setOpen((before) => new Set([...before, ...above(tree, zoom), zoom]));
  }, [tree, zoom]);
  const full = useMemo(() => texts(table, 'name'), [table]);
  const passes = useMemo(() => {
    const query = flameQuery.value;
    if (query.trim() === '') return null;
    const fits = wordFilter(query);
    return (row: number) => fits(full[row]);
  }, [full, flameQuery.value]);
  const rows = useMemo(() => {
    const by = { name: names, self: own, total: values }[sort.column] ?? values;
    return unfold(tree, { open, passes, sort: (some) => sortRows(some, by, sort.descending) });
  }, [tree, open, passes, sort, names, own, values]);
  const columns = useMemo(() => frameColumns(flame, own), [flame, own]);
  const what = selection.value;
  const first = what?.kind === 'frame' ? column(table, 'name').indexOf(what.name) : -1;
  const turn = (row: number, wanted: boolean) => {
    const next = new Set(open);
    if (wanted) next.add(row);
    else next.delete(row);
    setOpen(next);
  };
  return (
    <TreeTable
      label="Call stacks"
      rows={rows}
      columns={columns}
      sort={sort}
      onSort={setSort}
      onTurn={turn}
      chosen={first < 0 ? null : zoom !== null && full[zoom] === full[first] ? zoom : first}
      onChoose={(row) => pickFrame(flame, row)}
      footer={(one) => footer(flame, one)}
      rowAttributes={(row) => ({ 'data-testid': 'frame-row', 'data-value': values[row] })}
      empty="No frame matches."
    />
  );
}

function frameColumns(flame: Flame, own: number[]): GridColumn[] {
  const { table, values, names, weight, whole } = flame;
  const full = texts(table, 'name');
  const scale = timeScale(largest(values));
  const print = (value: number) => (weight === 'allocated' ? memorySize(value) : scaled(value, scale));
  const unit = weight === 'allocated' ? '' : `, ${scale.unit}`;
  return [
    {
      key: 'name',
      title: 'Frame',
      width: 'auto',
      least: 320,
      cell: (row) => <span class="name">{names[row]}</span>,
      hover: (row) => full[row] || names[row],
    },
    {
      key: 'total',
      title: `${WEIGHT_WORDS[weight]}${unit}`,
      help: 'With all that it calls',
      width: '132px',
      number: true,
      cell: (row) => <ShareBar share={(100 * values[row]) / (whole || 1)} text={print(values[row])} kind="python" />,
      hover: (row) => weightExact(weight, values[row]),
    },
    {
      key: 'share',
      title: 'Share',
      width: '84px',
      number: true,
      sortable: false,
      cell: (row) => percent((100 * values[row]) / (whole || 1)),
    },
    {
      key: 'self',
      title: `Own${unit}`,
      help: 'Without what it calls',
      width: '104px',
      number: true,
      cell: (row) => print(own[row]),
      hover: (row) => weightExact(weight, own[row]),
    },
  ];
}

function footer({ weight, whole }: Flame, one: GridColumn): JSX.Element | null {
  if (one.key === 'name') return <>All stacks</>;
  return one.key === 'total' ? <span title={weightExact(weight, whole)}>{weightText(weight, whole)}</span> : null;
}
