import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { count, duration, exactTime, percent } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import {
  buildTree,
  type IdleNode,
  type IdleTree,
  keyId,
  type Per,
  SORTS,
  unfold,
  withStretches,
} from '../../model/idle';
import { useTable } from '../../model/remote';
import {
  type Bar,
  filter,
  filterParameters,
  gapQuery,
  type IdleKey,
  idleDevice,
  idleKey,
  treeOrder,
} from '../../model/state';
import { allRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { GridColumn } from '../parts/sheet';
import { TreeTable, useOpenRows } from '../parts/tree_table';
import { idleColumns } from './tree_columns';

interface WaitTreeProps {
  per: Per;
  /** Idle time by cause. */
  summed: Table;
}

/** Who kept the GPU waiting. */
export function WaitTree({ per, summed }: WaitTreeProps): JSX.Element {
  const asked = filterParameters(filter.value);
  const remote = useTable('idle_tree', asked);
  const inverted = treeOrder.value === 'source';
  const sources = useTable('idle', inverted ? { by: 'source', ...asked } : null);
  const outer = inverted ? sources.data : summed;
  const passes = useMemo(() => (gapQuery.value.trim() === '' ? null : wordFilter(gapQuery.value)), [gapQuery.value]);
  const tree = useMemo(() => {
    if (!remote.data) return null;
    const built = buildTree(remote.data, { order: treeOrder.value, device: idleDevice.value, passes });
    return passes ? built : withStretches(built, outer, idleDevice.value);
  }, [remote.data, outer, treeOrder.value, idleDevice.value, passes]);
  const columns = useMemo(() => tree && idleColumns(tree, per), [tree, per.divisor, per.words]);
  const aside = (
    <>
      <Choice
        label="Order of the tree"
        value={treeOrder.value}
        options={[
          { value: 'cause', label: 'By cause', help: 'Cause → module → operator → source line' },
          { value: 'source', label: 'By source', help: 'Inverted: source line → operator → module → cause' },
        ]}
        onChange={(order) => (treeOrder.value = order)}
      />
      {remote.data && (
        <Export
          table={remote.data}
          order={allRows(remote.data)}
          name="idle-tree"
          grid="idle-tree"
          columns={columns ?? []}
        />
      )}
    </>
  );
  return (
    <Section title="Who kept the GPU waiting" class="grow" aside={aside}>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!tree && !remote.problem && <Busy what="Adding up who was at work…" />}
      {tree && !tree.levels.includes('source') && (
        <p class="hint">
          No Python frames are in this recording: with <code>with_stack=True</code> the tree has modules and source
          lines too.
        </p>
      )}
      {tree && columns && <Rows tree={tree} columns={columns} per={per} passes={passes} />}
    </Section>
  );
}

interface RowsProps {
  tree: IdleTree;
  columns: GridColumn<IdleNode>[];
  per: Per;
  passes: ((text: string) => boolean) | null;
}

function Rows({ tree, columns, per, passes }: RowsProps): JSX.Element {
  const [sort, setSort] = useState<Bar>({ column: 'total', descending: true });
  const { open, turn, add } = useOpenRows(() => []);
  const chosen = idleKey.value === null ? null : keyId(idleKey.value);
  // A row that the address or a link asks for must be in sight.
  useEffect(() => add(above(idleKey.value)), [chosen]);
  const rows = useMemo(
    () => unfold(tree, { open, sort: SORTS[sort.column], descending: sort.descending, passes }),
    [tree, open, sort, passes],
  );
  return (
    <TreeTable
      label="Who kept the GPU waiting"
      name="idle-tree"
      enter="chooses"
      rows={rows}
      columns={columns}
      sort={sort}
      onSort={setSort}
      onTurn={turn}
      chosen={chosen}
      onChoose={(node) => (idleKey.value = node.id === chosen ? null : node.key)}
      footer={(one) => <Total tree={tree} per={per} matches={passes !== null} column={one.key} />}
      rowAttributes={(node) => ({
        'data-testid': 'tree-row',
        'data-key': node.id.length < 2000 ? node.id : undefined,
        'data-depth': node.depth,
        'data-total-ns': node.total,
        'data-count': node.count,
        'data-longest-ns': node.longest,
      })}
      empty="No idle time matches."
    />
  );
}

interface TotalProps {
  tree: IdleTree;
  per: Per;
  matches: boolean;
  column: string;
}

function Total({ tree, per, matches, column }: TotalProps): JSX.Element | null {
  switch (column) {
    case 'name':
      return <>{matches ? 'Idle time that matches' : 'All idle time'}</>;
    case 'total':
      return (
        <span title={exactTime(tree.total)} data-testid="tree-total">
          {duration(tree.total / per.divisor)}
        </span>
      );
    case 'share':
      return <>{percent(tree.total > 0 ? 100 : null)}</>;
    case 'count':
      return <>{count(tree.roots.reduce((sum, node) => sum + node.count, 0))}</>;
    default:
      return null;
  }
}

/** Ids of the rows above a key. */
function above(key: IdleKey | null): string[] {
  const entries = Object.entries(key ?? {});
  return entries.slice(0, -1).map((_, i) => keyId(Object.fromEntries(entries.slice(0, i + 1))));
}
