import type { ComponentChildren, JSX } from 'preact';
import { count, duration, exactTime, percent, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { keyColumns, keyOf, likeOf } from '../../model/kernels';
import {
  defaultSort,
  isOwned,
  OPERATOR_GROUPINGS,
  OPERATOR_LABELS,
  rowOf,
  sumsOf,
  UNOWNED,
} from '../../model/operators';
import { filter, filterWords, operatorBy, operatorQuery, operatorSort, selection } from '../../model/state';
import { allRows, column, numbers, sum } from '../../model/tables';
import type { Table } from '../../model/wire';
import { TablePage } from '../parts/table_page';
import { operatorColumns } from './columns';

export function OperatorsPage(): JSX.Element {
  return (
    <TablePage
      view="operators"
      title="Operators"
      noun="operator"
      busy="Grouping operators…"
      by={operatorBy}
      groupings={OPERATOR_GROUPINGS}
      labels={OPERATOR_LABELS}
      query={operatorQuery}
      sort={operatorSort}
      firstSort={defaultSort}
      find={found}
      columns={operatorColumns}
      headline={Headline}
      totals={totals}
      current={currentRow}
      open={(table, row) => {
        selection.value = { kind: 'operator', by: operatorBy.value, key: keyOf(table, row), like: likeOf(table, row) };
      }}
      rowAttributes={(table, row) => ({ 'data-testid': 'operator-row', 'data-owned': String(isOwned(table, row)) })}
    />
  );
}

/** Rows whose key has the words; device work of no operator is found by what it is called. */
function found(table: Table, query: string): number[] {
  const passes = wordFilter(query);
  const keys = keyColumns(table).map((name) => column(table, name));
  const text = (row: number) => keys.map((values) => values[row] ?? '').join('\n');
  return allRows(table).filter((row) => passes(isOwned(table, row) ? text(row) : UNOWNED));
}

function currentRow(table: Table): number | null {
  const what = selection.value;
  return what?.kind === 'operator' && what.by === operatorBy.value ? rowOf(table, what.key, what.like) : null;
}

function Headline({ table }: { table: Table }): JSX.Element {
  const { calls, host, device, unowned } = sumsOf(table);
  return (
    <p class="verdict">
      <b>{plural(calls, 'operator call')}</b> {filter.value ? filterWords(filter.value) : 'in the recording'}:{' '}
      <b title={exactTime(host)}>{duration(host)}</b> on the host
      {device > 0 && (
        <>
          , <b title={exactTime(device)}>{duration(device)}</b> of device work
        </>
      )}
      {unowned > 0 && (
        <>
          , of which <b title={exactTime(unowned)}>{percent((100 * unowned) / device)}</b> belongs to no operator
        </>
      )}
      .
    </p>
  );
}

/** With no filter these are the headline's. Total times contain each other: no sum of them. */
function totals(table: Table, order: number[]): Record<string, ComponentChildren> {
  const sums = sumsOf(table, order);
  const time = (value: number) => <span title={exactTime(value)}>{duration(value)}</span>;
  const share = (name: string) => {
    const values = numbers(table, name);
    return percent(sum(order.map((row) => values[row])));
  };
  return {
    calls: count(sums.calls),
    host_self_us: time(sums.host),
    device_self_us: time(sums.device),
    host_self_pct: share('host_self_pct'),
    device_self_pct: share('device_self_pct'),
  };
}
