/** Checks of the made-up trace, and the events behind them. */
import type { Cell, Fix, Health, Severity, Table } from '../../src/model/wire';
import { SEVERITIES } from '../../src/model/wire';
import { table, us } from './tables';
import type { MockEvent, MockTrace } from './trace';

type Row = [
  check: string,
  severity: Severity,
  count: number,
  share: number | null,
  detail: string,
  hint: string,
  events: number,
];

const FINE: [string, string][] = [
  ['file', 'The file is whole.'],
  ['documents', 'The file holds one trace.'],
  ['works without launch', 'Every device work has its launch.'],
  ['untimed events', 'Every event has a start and a length.'],
  ['late start', 'No device was silent for more than 1 ms after a launch had returned.'],
];

function broken(trace: MockTrace): boolean {
  return trace.lost !== null && !trace.lost.repaired;
}

function rows(trace: MockTrace): Row[] {
  const lost: Row = [
    'impossible durations',
    'error',
    1,
    84.2,
    '1 device work with an end long after everything else, although the stream went on: 84.2 % of all device time.',
    'Their ends were lost. Switch on the repair of durations: each ends where the next work of its stream begins.',
    1,
  ];
  const found: Row[] = [
    [
      'launches without work',
      'warning',
      12,
      1.03,
      '12 of 1,164 launches without device work in the file (step 10: 180 of 192 seen).',
      'Their work was lost, ran outside the window, or was captured into a graph. Idle time is an upper bound.',
      12,
    ],
    ['unfinished events', 'info', 1, 0.002, '1 range still open when the recording ended.', '', 1],
    ['stacks', 'info', 0, null, 'No Python stacks were recorded.', 'with_stack=True records them.', 0],
  ];
  const fine = FINE.map(([check, detail]): Row => [check, 'ok', 0, null, detail, '', 0]);
  return [...(broken(trace) ? [lost] : []), ...found, ...fine];
}

export function checks(trace: MockTrace): Table {
  return table(
    'health',
    ['check', 'severity', 'count', 'share_pct', 'detail', 'hint', 'events'],
    rows(trace) as Cell[][],
  );
}

export function healthOf(trace: MockTrace): Health {
  const counts = Object.fromEntries(SEVERITIES.map((one) => [one, 0])) as Record<Severity, number>;
  for (const row of rows(trace)) counts[row[1]]++;
  return { worst: rows(trace)[0][1], counts };
}

export function fixesOf(trace: MockTrace): Fix[] {
  return trace.lost ? [{ fix: 'durations', events: 1, applied: trace.lost.repaired }] : [];
}

export function eventsOf(trace: MockTrace, check: string): Table {
  const launches = trace.events.filter((event) => event.name === 'cudaLaunchKernel');
  const lost = broken(trace) && trace.lost ? [trace.events[trace.lost.id]] : [];
  const behind: Record<string, MockEvent[]> = {
    'impossible durations': lost,
    'launches without work': launches.filter((_, i) => i % 97 === 0),
    'unfinished events': launches.slice(-1),
  };
  const list = (behind[check] ?? []).map(({ id, name, kind, start, length, step }): Cell[] => {
    return [id, name, kind, us(start), us(length), step];
  });
  return table('health_events', ['id', 'name', 'kind', 'start_us', 'duration_us', 'step'], list);
}
