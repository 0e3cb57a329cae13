import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactTime, percent, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { keyColumns, keyOf, likeOf } from '../../model/kernels';
import { defaultSort, isOwned, MISSING_KEYS, OPERATOR_LABELS, rowOf, sumsOf } from '../../model/operators';
import { useTable } from '../../model/remote';
import {
  filter,
  filterWords,
  OPERATOR_GROUPINGS,
  operatorBy,
  operatorQuery,
  operatorSort,
  selection,
  selectionParameters,
} from '../../model/state';
import { allRows, column, sortRows, sum } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import { Grid, type GridColumn } from '../parts/grid';
import { TableNotes } from '../parts/notes';
import { WithinChoice } from '../parts/within';
import { operatorColumns } from './columns';

export function OperatorsPage(): JSX.Element {
  const remote = useTable('operators', { by: operatorBy.value, ...selectionParameters(filter.value) });
  return (
    <div class="page fixed" data-testid="page-operators">
      <h1 class="offscreen">Operators</h1>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!remote.data && !remote.problem && <Busy what="Grouping operators…" />}
      {remote.data && <Body table={remote.data} />}
    </div>
  );
}

function Body({ table }: { table: Table }): JSX.Element {
  const order = useMemo(() => found(table, operatorQuery.value), [table, operatorQuery.value]);
  const asked = operatorSort.value;
  const sort = asked && table.data[asked.column] ? asked : defaultSort(table);
  const sorted = useMemo(
    () => sortRows(order, column(table, sort.column), sort.descending),
    [order, table, sort.column, sort.descending],
  );
  const columns = useMemo(() => operatorColumns(table, order), [table, order]);
  const what = selection.value;
  const current = what?.kind === 'operator' && what.by === operatorBy.value ? rowOf(table, what.key, what.like) : null;
  const open = (row: number) => {
    const key = keyOf(table, row);
    selection.value = { kind: 'operator', by: operatorBy.value, key, like: likeOf(table, row) };
  };
  return (
    <>
      <Headline table={table} />
      <TableNotes notes={table.notes} />
      <Section title="Operators" class="grow" aside={<Tools table={table} order={sorted} />}>
        <Grid
          label={`Operators by ${OPERATOR_LABELS[operatorBy.value].toLowerCase()}`}
          columns={columns}
          order={sorted}
          sort={sort}
          onSort={(next) => (operatorSort.value = next)}
          onOpen={open}
          current={current}
          rowAttributes={(row) => ({ 'data-testid': 'operator-row', 'data-owned': String(isOwned(table, row)) })}
          footer={(one) => <Total table={table} order={order} column={one} />}
          empty={
            table.rows === 0
              ? `No operator${filter.value ? ` ${filterWords(filter.value)}` : ''}.`
              : 'No operator matches the filter.'
          }
        />
      </Section>
    </>
  );
}

/** Rows whose key has the words; device work of no operator is found by what it is called. */
function found(table: Table, query: string): number[] {
  const passes = wordFilter(query);
  const keys = keyColumns(table).map((name) => column(table, name));
  const text = (row: number) => keys.map((values) => values[row] ?? '').join('\n');
  return allRows(table).filter((row) => passes(isOwned(table, row) ? text(row) : MISSING_KEYS.name));
}

function Headline({ table }: { table: Table }): JSX.Element {
  const { calls, host, device, unowned } = sumsOf(table);
  return (
    <div class="headline">
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
      <WithinChoice />
    </div>
  );
}

function Tools({ table, order }: { table: Table; order: number[] }): JSX.Element {
  return (
    <>
      <span class="muted">
        {order.length < table.rows ? `${count(order.length)} of ${count(table.rows)} rows` : plural(table.rows, 'row')}
      </span>
      <label class="inline">
        Group by{' '}
        <select
          data-testid="group-by"
          value={operatorBy.value}
          onChange={(event) => (operatorBy.value = event.currentTarget.value)}
        >
          {OPERATOR_GROUPINGS.map((token) => (
            <option key={token} value={token}>
              {OPERATOR_LABELS[token]}
            </option>
          ))}
        </select>
      </label>
      <Export table={table} order={order} name={`operators-by-${operatorBy.value.replace(',', '-')}`} />
    </>
  );
}

/** Sums over the rows shown; with no filter these are the headline's. Total times contain each other: no sum of them. */
function Total(props: { table: Table; order: number[]; column: GridColumn }): JSX.Element | null {
  const { table, order, column: one } = props;
  const sums = sumsOf(table, order);
  const time = (value: number) => <span title={exactTime(value)}>{duration(value)}</span>;
  const share = (name: string) => percent(sum(order.map((row) => Number(column(table, name)[row]))));
  switch (one.key) {
    case keyColumns(table)[0]:
      return <>{order.length < table.rows ? 'Total of the rows shown' : 'Total'}</>;
    case 'calls':
      return <>{count(sums.calls)}</>;
    case 'host_self_us':
      return time(sums.host);
    case 'device_self_us':
      return time(sums.device);
    case 'host_self_pct':
    case 'device_self_pct':
      return <>{share(one.key)}</>;
    default:
      return null;
  }
}
