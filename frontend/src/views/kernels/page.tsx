import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactTime, percent, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { GROUP_LABELS, keyColumns, keyOf, likeOf } from '../../model/kernels';
import { useTable } from '../../model/remote';
import {
  filter,
  filterWords,
  GROUPINGS,
  kernelBy,
  kernelQuery,
  kernelSort,
  selection,
  selectionParameters,
} from '../../model/state';
import { allRows, column, filterRows, nanoseconds, numbers, sortRows, sum } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import { Grid, type GridColumn } from '../parts/grid';
import { WithinChoice } from '../parts/within';
import { kernelColumns } from './columns';
import { Counters } from './counters';

export function KernelsPage(): JSX.Element {
  const remote = useTable('kernels', { by: kernelBy.value, ...selectionParameters(filter.value) });
  return (
    <div class="page fixed" data-testid="page-kernels">
      <h1 class="offscreen">Kernels</h1>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!remote.data && !remote.problem && <Busy what="Grouping kernels…" />}
      {remote.data && <Body table={remote.data} />}
    </div>
  );
}

function Body({ table }: { table: Table }): JSX.Element {
  const order = useMemo(
    () => filterRows(table, allRows(table), keyColumns(table), wordFilter(kernelQuery.value)),
    [table, kernelQuery.value],
  );
  const sort = table.data[kernelSort.value.column] ? kernelSort.value : { column: 'total_us', descending: true };
  const sorted = useMemo(() => sortRows(order, column(table, sort.column), sort.descending), [order, table, sort]);
  const columns = useMemo(() => kernelColumns(table, order), [table, order]);
  const open = (row: number) => {
    const key = keyOf(table, row);
    selection.value = { kind: 'kernel', by: kernelBy.value, key, like: likeOf(table, row) };
  };
  const current = currentRow(table, order);
  return (
    <>
      <div class="headline">
        <Headline table={table} />
        <WithinChoice />
      </div>
      {table.notes.map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
      <Section title="Kernels" class="grow" aside={<Tools table={table} order={sorted} />}>
        <Grid
          label={`Kernels by ${GROUP_LABELS[kernelBy.value]}`}
          columns={columns}
          order={sorted}
          sort={sort}
          onSort={(next) => (kernelSort.value = next)}
          onOpen={open}
          current={current}
          rowAttributes={() => ({ 'data-testid': 'kernel-row' })}
          footer={(one) => <Total table={table} order={order} column={one} />}
          empty={
            table.rows === 0
              ? `No kernel${filter.value ? ` ${filterWords(filter.value)}` : ''}.`
              : 'No kernel matches the filter.'
          }
        />
      </Section>
      <Counters />
    </>
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
          value={kernelBy.value}
          onChange={(event) => (kernelBy.value = event.currentTarget.value)}
        >
          {GROUPINGS.map((token) => (
            <option key={token} value={token}>
              {GROUP_LABELS[token]}
            </option>
          ))}
        </select>
      </label>
      <Export table={table} order={order} name={`kernels-by-${kernelBy.value.replace(',', '-')}`} />
    </>
  );
}

/** Sums over the rows shown; with no filter these are the headline's. */
function Total({
  table,
  order,
  column: one,
}: {
  table: Table;
  order: number[];
  column: GridColumn;
}): JSX.Element | null {
  const first = one.key === keyColumns(table)[0];
  if (first) return <>{order.length < table.rows ? 'Total of the rows shown' : 'Total'}</>;
  const pick = (values: (number | null)[]) => sum(order.map((row) => values[row]));
  if (one.key === 'calls') return <>{count(pick(numbers(table, 'calls')))}</>;
  if (one.key === 'total_us') {
    const total = pick(nanoseconds(table, 'total_us'));
    return <span title={exactTime(total)}>{duration(total)}</span>;
  }
  if (one.key === 'share_pct') return <>{percent(pick(numbers(table, 'share_pct')))}</>;
  return null;
}
