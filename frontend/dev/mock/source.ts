import type { Source, Subject } from '../../src/model/source';
import type { Area, Info, Longest, Runs, Session } from '../../src/model/wire';
import { MockBackend } from './backend';
import { mockView } from './tables';
import { encodeTile, expandRows, inOrder } from './tile';

const RUNS: Runs = {
  state: 'ready',
  logdir: '/home/ada/logs',
  folders: 12,
  generation: 1,
  runs: ['resnet50', 'bert/base', 'bert/large'].map((name) => ({
    name,
    ranks: Array.from({ length: name === 'resnet50' ? 12 : 1 }, (_, rank) => ({
      rank,
      label: String(rank),
      worker: `node${rank >> 2}.4711`,
      spans: [1, 2].map((span) => ({
        span: String(span),
        trace: `${name}-${rank}-${span}`,
        file: `${name}/node${rank >> 2}.${rank}.pt.trace.json.gz`,
        bytes: 35_200_000,
      })),
    })),
  })),
  problems: [],
  error: null,
};

function session(state: Session['state'], info: Info | null, error: Session['error'] = null): Session {
  const loading = state === 'loading';
  return {
    state,
    stage: loading ? 'decode' : 'done',
    bytes_done: loading ? 21_400_000 : 35_200_000,
    bytes_total: 35_200_000,
    events: 40_188,
    elapsed_ms: 812,
    changed: false,
    error,
    info,
  };
}

const FAILED = {
  code: 'not-json',
  message: 'The file ends in the middle of an event.',
  hint: 'Was the program killed while it wrote? Record again, or repair the file.',
  where: 'resnet50/node0.0.pt.trace.json.gz, byte 21 400 112',
};

const late = <T>(value: T, ms = 30): Promise<T> => new Promise((resolve) => setTimeout(() => resolve(value), ms));

function area(backend: MockBackend, rows: string, t0: number, t1: number): Area {
  const list = backend.area(expandRows(rows), t0, t1);
  return {
    rows: list,
    total_ns: list.reduce((sum, row) => sum + row.total_ns, 0),
    events: list.reduce((sum, row) => sum + row.calls, 0),
  };
}

/** `state` names a state to get stuck in: scanning, empty, loading, failed; or a trace with a lost end: broken. */
export function mockSource(state: string | null): Source {
  const raw = new MockBackend(state === 'broken' ? 'broken' : 'sound');
  const repaired = state === 'broken' ? new MockBackend('repaired') : raw;
  const at = ({ fix }: Subject) => (fix === 'durations' ? repaired : raw);
  const runs: Record<string, Runs> = {
    scanning: { ...RUNS, state: 'scanning', runs: [] },
    empty: { ...RUNS, runs: [] },
  };
  const sessions: Record<string, Session> = {
    loading: session('loading', null),
    failed: session('failed', null, FAILED),
  };
  const host = { devices: [{ device: 0, busy: [1, 2] }], host: [4, 5, 7] };
  return {
    runs: () => late(runs[state ?? ''] ?? RUNS),
    session: () => late(sessions[state ?? ''] ?? session('ready', raw.info)),
    cancel: () => late(undefined),
    reload: () => late(undefined),
    info: (of) => late(at(of).info, 120),
    view: (of, view, parameters) => late(mockView(at(of).trace, view, parameters)),
    lanes: (of) => late({ end_ns: at(of).trace.end, rows: 9, lanes: at(of).trace.lanes }),
    names: (of) => late({ names: at(of).names }),
    tile: (of, { rows, t0, t1 }, px) => late(encodeTile(at(of).bars, expandRows(rows), { t0, t1 }, px)),
    longest: async (of, entry, count) => longest(at(of), entry, count),
    event: async (of, id) => at(of).event(id),
    neighbor: (of, id, by) => late({ event: at(of).neighbor(id, by) }),
    search: (of, text, exact) => late(at(of).search(text, exact)),
    area: (of, { rows, t0, t1 }) => late(area(at(of), rows, t0, t1)),
    path: () => late({ start_ns: [], end_ns: [], row: [], kind: [], stretches: 0 }),
    minimap: (of, px) =>
      late({
        px,
        end_ns: at(of).trace.end,
        devices: host.devices.map(({ device, busy }) => ({ device, busy: at(of).shares(busy, px) })),
        host: at(of).shares(host.host, px),
      }),
  };
}

function longest({ bars }: MockBackend, entry: number, count: number): Longest {
  const some = inOrder(bars).slice(entry, entry + count);
  const { id, name, kind, start, end, row } = some.reduce((best, bar) =>
    bar.end - bar.start > best.end - best.start ? bar : best,
  );
  return { id, name, kind, start_ns: start, duration_ns: end - start, row };
}
