/** The views over the made-up trace. */
import type { Parameters } from '../../src/model/source';
import type { Cell, Column, Table } from '../../src/model/wire';
import { checks, eventsOf } from './health';
import type { MockEvent, MockTrace } from './trace';

export const us = (ns: number) => Number((ns / 1e3).toFixed(3));

export function table(view: string, names: string[], rows: Cell[][]): Table {
  const columns = names.map((name, i): Column => {
    const sample = rows.find((row) => row[i] !== null)?.[i];
    const type =
      typeof sample === 'boolean'
        ? 'boolean'
        : typeof sample === 'string'
          ? 'text'
          : name.endsWith('_us') || name.endsWith('_pct')
            ? 'number'
            : 'integer';
    return { name, unit: name.endsWith('_us') ? 'us' : null, type, description: `Definition of ${name}.` };
  });
  const data = Object.fromEntries(names.map((name, i) => [name, rows.map((row) => row[i])]));
  const trace = {
    path: 'resnet50/host.1234.pt.trace.json',
    run: 'resnet50',
    rank: 0,
    span: '1',
    origin_ns: '1700000000000000000',
  };
  return { view, trace, columns, data, rows: rows.length, notes: [] };
}

export function isWork(event: MockEvent): boolean {
  return ['kernel', 'memcpy', 'memset', 'communication'].includes(event.kind);
}

const length = (events: MockEvent[]) => events.reduce((sum, event) => sum + event.length, 0);

function steps(trace: MockTrace): Table {
  const names =
    'step,start_us,host_us,period_us,tail_us,incomplete,compute_us,communication_us,memcpy_us,memset_us,api_us,data_loader_us,op_us,python_us,unrecorded_us';
  const rows = trace.steps.map((step): Cell[] => {
    const own = trace.events.filter((event) => event.step === step.step);
    const of = (kind: string) => length(own.filter((event) => event.kind === kind));
    const period = step.end_ns - step.start_ns;
    const parts = [
      of('kernel'),
      of('communication') * 0.15,
      of('memcpy'),
      0,
      of('api_call') * 0.04,
      of('data_loader') * 0.95,
    ];
    const rest = period - parts.reduce((a, b) => a + b, 0);
    const figures = [...parts, rest * 0.5, rest * 0.2, rest * 0.3].map(us);
    return [step.step, us(step.start_ns), us(period), us(period), 0, step.incomplete, ...figures];
  });
  return table('steps', names.split(','), rows);
}

function devices(trace: MockTrace): Table {
  const names =
    'device,window_us,busy_us,idle_us,utilization_pct,compute_us,exposed_communication_us,exposed_copy_us,summed_us,span_us,communication_us,concurrency,gaps';
  const window = trace.steps[trace.steps.length - 1].end_ns - trace.steps[0].start_ns;
  const idle = trace.gaps.reduce((sum, gap) => sum + gap.end - gap.start, 0);
  const of = (kind: string) => length(trace.events.filter((event) => event.kind === kind));
  const busy = window - idle;
  const figures = [
    us(window),
    us(busy),
    us(idle),
    (100 * busy) / window,
    us(of('kernel')),
    us(busy - of('kernel') - of('memcpy')),
    us(of('memcpy')),
    us(busy * 1.14),
    us(window),
    us(of('communication')),
    1.14,
    trace.gaps.length,
  ];
  return table('devices', names.split(','), [[0, ...figures]]);
}

function launchOf(trace: MockTrace, event: MockEvent | null): MockEvent | null {
  return event?.launch == null ? null : trace.events[event.launch];
}

function delayOf(trace: MockTrace, event: MockEvent | null): number | null {
  const launch = launchOf(trace, event);
  return event && launch ? us(event.start - launch.start) : null;
}

function gaps(trace: MockTrace, step: Step, from: number, to: number): Table {
  const names =
    'device,start_us,duration_us,ended_by,next_name,launch_name,launch_delay_us,previous_name,step,next_id,launch_id,previous_id,gap';
  const rows = trace.gaps.map((gap, i): Cell[] => {
    const { next, previous } = gap;
    const around = [next?.name, launchOf(trace, next)?.name, delayOf(trace, next), previous?.name, next?.step];
    const ids = [next?.id, launchOf(trace, next)?.id, previous?.id];
    const kind = next?.kind === 'communication' ? 'kernel' : (next?.kind ?? 'window end');
    const known = [...around, ...ids].map((value) => value ?? null);
    return [0, us(gap.start), us(gap.end - gap.start), kind, ...known, i];
  });
  return table(
    'gaps',
    names.split(','),
    rows.filter((row) => Number(row[1]) >= from && Number(row[1]) < to && (step === null || row[8] === step)),
  );
}

type Step = number | null;

const KEYS: Record<string, string[]> = {
  name: ['name'],
  op: ['op'],
  'name,op': ['name', 'op'],
  config: ['name', 'grid', 'block', 'registers', 'shared_memory'],
  stream: ['device', 'stream'],
  step: ['step'],
  category: ['category'],
};

function keyCell(trace: MockTrace, event: MockEvent, key: string): Cell {
  const cells: Record<string, Cell> = {
    name: event.name,
    op: event.op === null ? null : trace.events[event.op].name,
    grid: '128, 1, 1',
    block: '256, 1, 1',
    registers: 32,
    shared_memory: 0,
    device: 0,
    stream: event.row === 1 ? 7 : 20,
    step: event.step,
    category: event.kind === 'communication' ? 'communication' : 'compute',
  };
  return cells[key];
}

function kernelsOf(trace: MockTrace, from: number, to: number): MockEvent[] {
  return trace.events.filter(
    (event) =>
      (event.kind === 'kernel' || event.kind === 'communication') && us(event.start) >= from && us(event.start) < to,
  );
}

function kernels(trace: MockTrace, by: string, step: Step, from: number, to: number): Table {
  const keys = KEYS[by];
  const groups = new Map<string, { key: Cell[]; lengths: number[]; longest: MockEvent }>();
  const list = kernelsOf(trace, from, to).filter((event) => step === null || event.step === step);
  for (const event of list) {
    const key = keys.map((name) => keyCell(trace, event, name));
    const group = groups.get(JSON.stringify(key)) ?? { key, lengths: [], longest: event };
    group.lengths.push(event.length);
    if (event.length > group.longest.length) group.longest = event;
    groups.set(JSON.stringify(key), group);
  }
  const whole = length(list);
  const rows = [...groups.values()].map(({ key, lengths, longest }): Cell[] => {
    const total = lengths.reduce((a, b) => a + b, 0);
    return [
      ...key,
      lengths.length,
      us(total),
      us(total / lengths.length),
      us(Math.min(...lengths)),
      us(Math.max(...lengths)),
      (100 * total) / whole,
      longest.id,
    ];
  });
  return table(
    'kernels',
    [...keys, 'calls', 'total_us', 'mean_us', 'min_us', 'max_us', 'share_pct', 'longest_id'],
    rows,
  );
}

function kernelCalls(trace: MockTrace, parameters: Parameters, from: number, to: number): Table {
  const names = 'id,name,op,device,stream,step,start_us,duration_us,launch_delay_us';
  const asked = ['name', 'op', 'category', 'stream', 'step', 'grid', 'registers'].filter(
    (key) => parameters[key] !== undefined && parameters[key] !== null,
  );
  const like = typeof parameters.like === 'number' ? trace.events[parameters.like].name : null;
  const list = kernelsOf(trace, from, to).filter(
    (event) =>
      (like === null || event.name === like) &&
      asked.every((key) => String(keyCell(trace, event, key) ?? '') === String(parameters[key])),
  );
  const rows = list.map((event): Cell[] => {
    const delay = event.launch === null ? null : us(event.start - trace.events[event.launch].start);
    return [
      event.id,
      event.name,
      keyCell(trace, event, 'op'),
      0,
      keyCell(trace, event, 'stream'),
      event.step,
      us(event.start),
      us(event.length),
      delay,
    ];
  });
  return table('kernel_calls', names.split(','), rows);
}

function overview(trace: MockTrace): Table {
  const rows: Cell[][] = [
    ['step_time_us', us(trace.steps[1].end_ns - trace.steps[1].start_ns), 'us', 'Mean period of the complete steps.'],
    [
      'step_time_median_us',
      us(trace.steps[1].end_ns - trace.steps[1].start_ns),
      'us',
      'Median period of the complete steps.',
    ],
    ['steps', 6, 'count', 'Steps in the recording, complete or not.'],
    ['gpu_utilization_pct', 57.123, 'pct', 'Busy share of the window.'],
    [
      'gpu_idle_us',
      us(trace.gaps.reduce((sum, gap) => sum + gap.end - gap.start, 0)),
      'us',
      'Time of the window in which no stream works.',
    ],
    ['kernels', trace.events.filter((event) => event.kind === 'kernel').length, 'count', 'Kernels recorded.'],
    ['sm_efficiency_pct', null, 'pct', 'Share of the multiprocessors that hold a block.'],
  ];
  return table('overview', ['metric', 'value', 'unit', 'definition'], rows);
}

export function mockView(trace: MockTrace, view: string, parameters: Parameters): Table {
  const step = parameters.step === undefined || parameters.step === null ? null : Number(parameters.step);
  const from = Number(parameters.start_us ?? -1);
  const to = Number(parameters.end_us ?? Number.POSITIVE_INFINITY);
  switch (view) {
    case 'health':
      return checks(trace);
    case 'health_events':
      return eventsOf(trace, String(parameters.check));
    case 'overview':
      return overview(trace);
    case 'steps':
      return steps(trace);
    case 'devices':
      return devices(trace);
    case 'gaps':
      return gaps(trace, step, from, to);
    case 'kernels':
      return kernels(trace, String(parameters.by ?? 'name'), step, from, to);
    case 'kernel_calls':
      return kernelCalls(trace, parameters, from, to);
    default:
      // Views of causes and advice are not made up: their pages say that there is nothing.
      return table(view, [], []);
  }
}
