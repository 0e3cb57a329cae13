import type { ComponentChildren, JSX } from 'preact';
import { count, duration, exactTime, percent, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { GROUP_LABELS, GROUPINGS, keyColumns, keyOf, likeOf } from '../../model/kernels';
import { filter, filterWords, kernelBy, kernelQuery, kernelSort, selection } from '../../model/state';
import { allRows, filterRows, nanoseconds, numbers, sum } from '../../model/tables';
import type { Table } from '../../model/wire';
import { TablePage } from '../parts/table_page';
import { kernelColumns } from './columns';
import { Counters } from './counters';

export function KernelsPage(): JSX.Element {
  return (
    <TablePage
      view="kernels"
      title="Kernels"
      noun="kernel"
      busy="Grouping kernels…"
      by={kernelBy}
      groupings={GROUPINGS}
      labels={GROUP_LABELS}
      query={kernelQuery}
      sort={kernelSort}
      firstSort={() => ({ column: 'total_us', descending: true })}
      find={(table, query) => filterRows(table, allRows(table), keyColumns(table), wordFilter(query))}
      columns={kernelColumns}
      headline={Headline}
      totals={totals}
      current={currentRow}
      open={(table, row) => {
        selection.value = { kind: 'kernel', by: kernelBy.value, key: keyOf(table, row), like: likeOf(table, row) };
      }}
      rowAttributes={() => ({ 'data-testid': 'kernel-row' })}
    >
      <Counters />
    </TablePage>
  );
}

/** The row whose calls the drawer lists: by its key, or by its longest call. */
function currentRow(table: Table, order: number[]): number | null {
  const what = selection.value;
  if (what?.kind !== 'kernel') return null;
  const shown = JSON.stringify(what.key);
  const same = order.find((row) => JSON.stringify(keyOf(table, row)) === shown);
  const alike = (row: number) => what.like !== null && what.by === kernelBy.value && likeOf(table, row) === what.like;
  return same ?? order.find(alike) ?? null;
}

function Headline({ table }: { table: Table }): JSX.Element {
  const total = sum(nanoseconds(table, 'total_us'));
  const calls = sum(numbers(table, 'calls'));
  const noun = GROUP_LABELS[kernelBy.value].toLowerCase();
  return (
    <p class="verdict">
      <b>{plural(calls, 'kernel call')}</b> {calls === 1 ? 'takes' : 'take'}{' '}
      <b title={exactTime(total)}>{duration(total)}</b>
      {filter.value ? ` ${filterWords(filter.value)}` : ' in the recording'}, in {plural(table.rows, 'row')} by {noun}.
    </p>
  );
}

/** With no filter these are the headline's. */
function totals(table: Table, order: number[]): Record<string, ComponentChildren> {
  const pick = (values: (number | null)[]) => sum(order.map((row) => values[row]));
  const total = pick(nanoseconds(table, 'total_us'));
  return {
    calls: count(pick(numbers(table, 'calls'))),
    total_us: <span title={exactTime(total)}>{duration(total)}</span>,
    share_pct: percent(pick(numbers(table, 'share_pct'))),
  };
}
