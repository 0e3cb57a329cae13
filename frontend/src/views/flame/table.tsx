import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { largest, memorySize, percent, scaled, timeScale } from '../../lib/format';
import { matcher } from '../../model/stack_matches';
import { rowKeys } from '../../model/stack_zoom';
import { chosenRow, columnOf, type Flame, WEIGHT_WORDS, weightExact, weights, weightText } from '../../model/stacks';
import { type Bar, flameQuery, selection } from '../../model/state';
import { allRows, sortRows, texts } from '../../model/tables';
import { type Tree, unfold } from '../../model/tree';
import { ShareBar } from '../parts/bits';
import type { GridColumn } from '../parts/sheet';
import { TreeTable, useOpenRows } from '../parts/tree_table';
import { pickFrame } from './picture';

/** The picture as a table: the same rows, for keyboards and screen readers. */
export function FrameTable({ flame, zoom }: { flame: Flame; zoom: number | null }): JSX.Element {
  const { table, values, names, weight, stackless } = flame;
  const tree = useMemo(() => (zoom === null ? flame.tree : below(flame.tree, zoom)), [flame, zoom]);
  const keyOf = useMemo(() => rowKeys(flame), [flame]);
  const own = useMemo(() => weights(table, weight, 'self'), [table, weight]);
  const [sort, setSort] = useState<Bar>({ column: 'total', descending: true });
  const { open, turn, add } = useOpenRows(() => []);
  const zoomKey = zoom === null ? null : keyOf(zoom);
  useEffect(() => {
    if (zoomKey !== null) add([zoomKey]);
  }, [zoomKey]);
  const passes = useMemo(() => matcher(flame, flameQuery.value), [flame, flameQuery.value]);
  const rows = useMemo(() => {
    const by = { name: names, self: own, total: values }[sort.column] ?? values;
    return unfold(tree, {
      open: new Set(allRows(table).filter((row) => open.has(keyOf(row)))),
      passes,
      // What has no stack comes last, however much it is.
      sort: (some) => [
        ...sortRows(some, by, sort.descending).filter((row) => row !== stackless),
        ...some.filter((row) => row === stackless),
      ],
    }).map((one) => ({ ...one, id: keyOf(one.row) }));
  }, [table, tree, keyOf, stackless, open, passes, sort, names, own, values]);
  const columns = useMemo(() => frameColumns(flame), [flame]);
  const chosen = chosenRow(table, selection.value);
  return (
    <TreeTable
      label="Call stacks"
      name={FRAME_TABLE}
      enter="opens the details"
      rows={rows}
      columns={columns}
      sort={sort}
      onSort={setSort}
      onTurn={turn}
      chosen={chosen === null ? null : keyOf(chosen)}
      onChoose={(row) => pickFrame(flame, row, false)}
      footer={(one) => footer(flame, one)}
      rowAttributes={(row) => ({ 'data-testid': 'frame-row', 'data-value': values[row] })}
      empty="No frame matches."
    />
  );
}

/** The tree from a row on. */
function below(tree: Tree, row: number): Tree {
  return { ...tree, roots: [row], depth: tree.depth.map((depth) => depth - tree.depth[row]) };
}

/** What the choice of columns is remembered by. */
export const FRAME_TABLE = 'flame';

export function frameColumns(flame: Flame): GridColumn[] {
  const { table, values, names, weight, whole } = flame;
  const own = weights(table, weight, 'self');
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
      of: [columnOf(weight, 'total')],
      title: `${WEIGHT_WORDS[weight]}${unit}`,
      help: 'With all that it calls',
      width: '132px',
      number: true,
      cell: (row) => <ShareBar share={(100 * values[row]) / (whole || 1)} text={print(values[row])} kind="python" />,
      hover: (row) => weightExact(weight, values[row]),
    },
    {
      key: 'share',
      of: ['share_pct'],
      title: 'Share',
      width: '84px',
      number: true,
      sortable: false,
      cell: (row) => percent((100 * values[row]) / (whole || 1)),
    },
    {
      key: 'self',
      of: [columnOf(weight, 'self')],
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
