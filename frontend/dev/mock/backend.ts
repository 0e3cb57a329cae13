/** Answers about the made-up trace, the slow and plain way. */
import { SourceError } from '../../src/model/source';
import type { AreaRow, EventDetail, Info, Ref, SearchResult } from '../../src/model/wire';
import { fixesOf, healthOf } from './health';
import { isWork } from './tables';
import type { Bar } from './tile';
import { type MockEvent, type MockTrace, makeTrace, type Variant } from './trace';

function makeInfo(trace: MockTrace): Info {
  const page = { available: true, reason: '' };
  return {
    origin_ns: '1700000000000000000',
    end_ns: trace.end,
    file: 'resnet50/node0.0.pt.trace.json.gz',
    bytes: 35_200_000,
    events: trace.events.length,
    synthetic: 'Made by frontend/dev/mock: no hardware was measured.',
    kinds: { op: 41_100, kernel: 1152, api_call: 1164, annotation: 6, memcpy: 6 },
    accounting: [
      { what: 'timed events', reason: 'shown and counted', events: trace.events.length, kept: true },
      { what: 'flow arrows', reason: 'read as links', events: 1152, kept: true },
      { what: 'untimed', reason: 'no usable time', events: 3, kept: false },
    ],
    devices: [
      { device: 0, name: 'NVIDIA A100-SXM4-80GB', memory_bytes: 85_000_000_000, sm_count: 108, capability: '8.0' },
    ],
    steps: trace.steps,
    recording: [
      { key: 'Host', value: 'node0' },
      { key: 'CUDA runtime', value: '12040' },
      { key: 'World size', value: '12' },
    ],
    switches: { shapes: true, memory: false, stacks: false, modules: false, flops: false },
    pages: {
      overview: page,
      timeline: page,
      idle: page,
      kernels: page,
      operators: page,
      modules: page,
      flame: page,
      memory: { available: false, reason: 'No memory events recorded: profile_memory=True.' },
    },
    notes: ['Step 10 is incomplete and left out of means.'],
    health: healthOf(trace),
    fixes: fixesOf(trace),
  };
}

export class MockBackend {
  readonly trace: MockTrace;
  readonly info: Info;
  readonly names: string[];
  readonly bars: Bar[];
  private readonly nameIds: Map<string, number>;

  constructor(variant: Variant) {
    this.trace = makeTrace(variant);
    this.info = makeInfo(this.trace);
    this.names = [...new Set(this.trace.events.map((event) => event.name))];
    this.nameIds = new Map(this.names.map((name, id) => [name, id]));
    this.bars = this.makeBars();
  }

  private makeBars(): Bar[] {
    const events = [...this.trace.events].sort((a, b) => a.start - b.start);
    const bars = events.map(
      (event): Bar => ({
        row: event.row,
        start: event.start,
        end: event.start + event.length,
        id: event.id,
        name: this.nameIds.get(event.name) ?? 0,
        kind: event.kind,
      }),
    );
    const idle = this.trace.gaps.map(
      (gap, i): Bar => ({
        row: 0,
        start: gap.start,
        end: gap.end,
        id: i,
        name: gap.next ? (this.nameIds.get(gap.next.name) ?? 0) : 0,
        kind: 'idle',
      }),
    );
    return [...idle, ...bars];
  }

  ref = (event: MockEvent): Ref => ({
    id: event.id,
    name: event.name,
    kind: event.kind,
    start_ns: event.start,
    duration_ns: event.length,
    row: event.row,
  });

  event(id: number): EventDetail {
    const { events } = this.trace;
    const event = events[id];
    if (!event)
      throw new SourceError({ code: 'unknown-event', message: `There is no event ${id}.`, hint: '', where: '' });
    const at = (other: number | null) => (other === null ? null : this.ref(events[other]));
    const parents = events.filter(
      (one) =>
        one.row < event.row &&
        one.row >= 3 &&
        event.row >= 3 &&
        one.start <= event.start &&
        one.start + one.length >= event.start + event.length,
    );
    const works = events.filter((one) => one.launch === id || (event.kind === 'op' && one.op === id && isWork(one)));
    const same = events.filter((one) => one.name === event.name).map((one) => one.length);
    const total_ns = same.reduce((a, b) => a + b, 0);
    return {
      ...this.ref(event),
      category: event.kind === 'api_call' ? 'cuda_runtime' : event.kind,
      thread: isWork(event) ? '' : 'Main thread',
      device: isWork(event) ? 0 : null,
      stream: isWork(event) ? 7 : null,
      correlation: event.launch,
      step: event.step,
      args: { 'External id': id, grid: [128, 1, 1], block: [256, 1, 1], 'Input Dims': [[32, 64, 56, 56]] },
      parents: parents.sort((a, b) => a.row - b.row).map(this.ref),
      op: at(event.op),
      launch: at(event.launch),
      works: works.slice(0, 200).map(this.ref),
      works_total: works.length,
      forward: null,
      backward: [],
      same_name: {
        calls: same.length,
        total_ns,
        mean_ns: total_ns / same.length,
        min_ns: Math.min(...same),
        max_ns: Math.max(...same),
      },
      unfinished: false,
    };
  }

  area(rows: number[], t0: number, t1: number): AreaRow[] {
    const groups = new Map<string, AreaRow>();
    for (const event of this.trace.events) {
      const cut = Math.min(t1, event.start + event.length) - Math.max(t0, event.start);
      if (cut <= 0 || !rows.includes(event.row)) continue;
      const row = groups.get(event.name) ?? {
        name: event.name,
        kind: event.kind,
        calls: 0,
        total_ns: 0,
        mean_ns: 0,
        min_ns: cut,
        max_ns: cut,
      };
      row.calls++;
      row.total_ns += cut;
      row.mean_ns = row.total_ns / row.calls;
      row.min_ns = Math.min(row.min_ns, cut);
      row.max_ns = Math.max(row.max_ns, cut);
      groups.set(event.name, row);
    }
    return [...groups.values()];
  }

  shares(rows: number[], px: number): number[] {
    const busy = new Array<number>(px).fill(0);
    const each = this.trace.end / px;
    for (const event of this.trace.events) {
      if (!rows.includes(event.row)) continue;
      for (let i = Math.floor(event.start / each); i * each < event.start + event.length && i < px; i++) {
        busy[i] = Math.min(
          1,
          busy[i] + (Math.min(event.start + event.length, (i + 1) * each) - Math.max(event.start, i * each)) / each,
        );
      }
    }
    return busy;
  }

  neighbor(id: number, by: 1 | -1): Ref | null {
    const { events } = this.trace;
    const row = events.filter((event) => event.row === events[id].row).sort((a, b) => a.start - b.start);
    const next = row[row.findIndex((event) => event.id === id) + by];
    return next ? this.ref(next) : null;
  }

  search(text: string, exact: boolean): SearchResult {
    const matches = (name: string) => (exact ? name === text : name.toLowerCase().includes(text.toLowerCase()));
    const hits = this.trace.events.filter((event) => matches(event.name)).sort((a, b) => a.start - b.start);
    const column = (read: (event: MockEvent) => number) => hits.slice(0, 2000).map(read);
    return {
      total: hits.length,
      names: this.names.flatMap((name, id) => (matches(name) ? [id] : [])),
      hits: {
        id: column((event) => event.id),
        name: column((event) => this.names.indexOf(event.name)),
        start_ns: column((event) => event.start),
        duration_ns: column((event) => event.length),
        row: column((event) => event.row),
      },
    };
  }
}
