import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, exactTime, MISSING, percent, quantity, significant } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { useTable } from '../../model/remote';
import { filter, filterParameters, gapQuery, LAUNCH_GROUPINGS, launchBy } from '../../model/state';
import { allRows, describe, filterRows, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { Field } from '../parts/fields';
import { GroupBy } from '../parts/group_by';
import { Help } from '../parts/help';
import { ScrollBox } from '../parts/scroll';
import { ViewGrid } from '../parts/view_grid';
import { Remarks } from './remarks';

const LABELS: Record<string, string> = {
  op: 'Operator',
  name: 'Call',
  module: 'Module',
  source: 'Source line',
  annotation: 'Annotation',
  step: 'Step',
  thread: 'Thread',
};

const FIGURES: Field[] = [
  { key: 'calls', title: 'Launches', as: 'count' },
  { key: 'works', title: 'Works', as: 'count' },
  { key: 'host_us', title: 'In the calls', as: 'time', width: '124px' },
  { key: 'device_us', title: 'On device', as: 'time', width: '112px' },
  { key: 'short_kernels', title: 'Short kernels', as: 'count', width: '104px' },
  { key: 'median_delay_us', title: 'Median delay', as: 'time', width: '124px' },
  { key: 'max_delay_us', title: 'Max delay', as: 'time', width: '108px' },
  { key: 'negative_delays', title: 'Negative', as: 'count' },
  { key: 'without_work', title: 'No work', as: 'count' },
];

/** Launching: figures per device, and what the launches have in common. */
export function Launches(): JSX.Element {
  const by = launchBy.value;
  const summary = useTable('launch_summary', {});
  const grouped = useTable('launches', { by, ...filterParameters(filter.value) });
  const problem = summary.problem ?? grouped.problem;
  if (problem) return <ProblemBox problem={problem} />;
  return (
    <>
      {summary.data ? <Summary table={summary.data} /> : <Busy what="Counting launches…" />}
      <Remarks notes={[...(summary.data?.notes ?? []), ...(grouped.data?.notes ?? [])]} />
      {grouped.data?.data[by] ? <Grouped table={grouped.data} by={by} /> : <Busy what="Grouping launches…" />}
    </>
  );
}

const CARDS: { key: string; title: string; show: (table: Table, row: number) => { text: string; exact: string } }[] = [
  { key: 'median_delay_us', title: 'Median delay', show: time('median_delay_us') },
  { key: 'launch_bound_pct', title: 'Launch-bound', show: share('launch_bound_pct') },
  { key: 'short_kernels_pct', title: 'Short kernels', show: share('short_kernels_pct') },
  { key: 'mean_queue_depth', title: 'Queue depth, mean', show: plain('mean_queue_depth') },
  { key: 'max_queue_depth', title: 'Queue depth, max', show: plain('max_queue_depth') },
  { key: 'launches', title: 'Launches', show: plain('launches') },
  { key: 'graph_launches', title: 'Graph launches', show: plain('graph_launches') },
  { key: 'negative_delays', title: 'Negative delays', show: plain('negative_delays') },
];

function time(key: string) {
  return (table: Table, row: number) => {
    const value = nanoseconds(table, key)[row];
    return { text: quantity(value, 'ns'), exact: exactTime(value) };
  };
}

function share(key: string) {
  return (table: Table, row: number) => {
    const value = numbers(table, key)[row];
    return { text: percent(value), exact: value === null ? 'not recorded' : `${value} %` };
  };
}

function plain(key: string) {
  return (table: Table, row: number) => {
    const value = numbers(table, key)[row];
    if (value === null) return { text: MISSING, exact: 'not recorded' };
    return { text: Number.isInteger(value) ? count(value) : significant(value), exact: String(value) };
  };
}

function Summary({ table }: { table: Table }): JSX.Element | null {
  const devices = numbers(table, 'device');
  if (devices.length === 0) return null;
  if (devices.length === 1) return <SummaryCards table={table} />;
  return (
    <Section title="Per device">
      <ScrollBox>
        <table class="plain" data-testid="launch-summary">
          <thead>
            <tr>
              <th scope="col">Device</th>
              {CARDS.map((card) => (
                <th scope="col" class="number" key={card.key}>
                  <Help text={describe(table, card.key)}>{card.title}</Help>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {devices.map((device, row) => (
              <tr key={device}>
                <td>GPU {device}</td>
                {CARDS.map((card) => {
                  const { text, exact } = card.show(table, row);
                  return (
                    <td class="number" title={exact} key={card.key}>
                      {text}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Section>
  );
}

function SummaryCards({ table }: { table: Table }): JSX.Element {
  return (
    <dl class="cards" data-testid="launch-summary">
      {CARDS.map((card) => {
        const { text, exact } = card.show(table, 0);
        return (
          <div class="card" key={card.key} data-key={card.key}>
            <dt>
              <Help text={describe(table, card.key)}>{card.title}</Help>
            </dt>
            <dd title={exact}>{text}</dd>
          </div>
        );
      })}
    </dl>
  );
}

function keyField(by: string): Field {
  const none = { op: 'outside operators', module: 'outside modules', step: 'outside steps' }[by];
  const as = by === 'source' ? 'source' : by === 'step' ? 'count' : 'name';
  return { key: by, title: LABELS[by] ?? by, as, width: by === 'step' ? '96px' : 'auto', none };
}

function Grouped({ table, by }: { table: Table; by: string }): JSX.Element {
  const fields = useMemo(() => [keyField(by), ...FIGURES], [by]);
  const order = useMemo(
    () => filterRows(table, allRows(table), [by], wordFilter(gapQuery.value)),
    [table, by, gapQuery.value],
  );
  const aside = (
    <>
      <GroupBy
        testId="launches-by"
        value={by}
        tokens={LAUNCH_GROUPINGS}
        labels={LABELS}
        onChange={(token) => (launchBy.value = token)}
      />
      <Export table={table} order={order} name={`launches-by-${by}`} grid="launches" columns={fields} />
    </>
  );
  return (
    <Section title="Launches" class="grow" aside={aside}>
      <ViewGrid
        label={`Launches by ${LABELS[by]}`}
        name="launches"
        table={table}
        fields={fields}
        order={order}
        sort={{ column: 'host_us', descending: true }}
        testId="launch-row"
        empty={
          table.rows === 0
            ? 'No launches were recorded: profile with ProfilerActivity.CUDA and CPU together.'
            : 'No launch matches.'
        }
      />
    </Section>
  );
}
