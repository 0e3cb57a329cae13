/** Memory of one device: its figures, its curve, and its blocks, from the backend's tables. */
import type { Parameters } from './source';
import type { Filter, MemoryBy, Range } from './state';
import { column, nanoseconds, numbers, texts } from './tables';
import type { Cell, Table } from './wire';

/** Categories in the order in which they are stacked, from below; the last four are told by PyTorch's exports alone. */
export const CATEGORIES = [
  'parameter',
  'optimizer_state',
  'input',
  'gradient',
  'activation',
  'temporary',
  'autograd_detail',
  'unknown',
] as const;

/** `op` is what the command line calls an operator; its caller tells more where most memory is asked for by `aten::empty`. */
export const KEY_WORDS: Record<MemoryBy, { title: string; none: string }> = {
  caller: { title: 'Calling operator', none: 'from before, or not known' },
  op: { title: 'Operator', none: 'from before, or not known' },
  module: { title: 'Module', none: 'outside modules, or from before' },
  source: { title: 'Source line', none: 'from before, or not known' },
  annotation: { title: 'Annotation', none: 'outside annotations, or from before' },
  phase: { title: 'Phase', none: 'from before, or not known' },
  category: { title: 'Category', none: 'unknown' },
};

/** `optimizer_state` → `optimizer state`. */
export function categoryLabel(category: string): string {
  return category.replaceAll('_', ' ');
}

/** `data` → `Data loading`. */
export function phaseLabel(phase: string): string {
  return phase === 'data' ? 'Data loading' : phase.replace(/^./, (letter) => letter.toUpperCase());
}

export interface DeviceMemory {
  device: string;
  peak: number;
  /** When the peak was first reached, ns. */
  peakAt: number;
  peakReserved: number | null;
  unused: number | null;
  capacity: number | null;
  share: number | null;
  growth: number | null;
  end: number;
  allocations: number;
  frees: number;
  /** Frees of what was never allocated, as far as was recorded. */
  unmatchedFrees: number;
  /** Totals that do not follow from the one before. */
  jumps: number;
  openBlocks: number | null;
  openBytes: number | null;
  steps: number;
  /** Whether totals were recorded; else bytes are added up from 0. */
  recorded: boolean;
}

export function readDevices(table: Table): DeviceMemory[] {
  const of = (name: string) => numbers(table, name);
  const peakAt = nanoseconds(table, 'peak_us');
  const peak = of('peak_allocated_bytes');
  const reserved = of('peak_reserved_bytes');
  const unused = of('unused_reserved_bytes');
  const capacity = of('capacity_bytes');
  const share = of('peak_pct');
  const growth = of('growth_bytes_per_step');
  const end = of('end_allocated_bytes');
  const allocations = of('allocations');
  const frees = of('frees');
  const unmatched = of('unmatched_frees');
  const jumps = of('jumps');
  const openBlocks = of('open_blocks');
  const openBytes = of('open_bytes');
  const steps = of('steps');
  const recorded = column(table, 'recorded_totals');
  return texts(table, 'device').map((device, row) => ({
    device,
    peak: peak[row] ?? 0,
    peakAt: peakAt[row] ?? 0,
    peakReserved: reserved[row],
    unused: unused[row],
    capacity: capacity[row],
    share: share[row],
    growth: growth[row],
    end: end[row] ?? 0,
    allocations: allocations[row] ?? 0,
    frees: frees[row] ?? 0,
    unmatchedFrees: unmatched[row] ?? 0,
    jumps: jumps[row] ?? 0,
    openBlocks: openBlocks[row],
    openBytes: openBytes[row],
    steps: steps[row] ?? 0,
    recorded: recorded[row] !== false,
  }));
}

const HOST = /^cpu\b/;

/** The device that is asked for; else the one of the accelerators that was fullest, and the host only where there is no other. */
export function chosenDevice(devices: DeviceMemory[], wanted: string | null): DeviceMemory | undefined {
  const asked = devices.find((one) => one.device === wanted);
  const others = devices.filter((one) => !HOST.test(one.device));
  const fullest = others.reduce<DeviceMemory | undefined>((a, one) => (a && a.peak >= one.peak ? a : one), undefined);
  return asked ?? fullest ?? devices[0];
}

/** A step line: what holds from each time on. */
export interface Curve {
  /** ns */
  time: number[];
  allocated: number[];
  /** Null where there is no caching allocator, or it was not recorded. */
  reserved: (number | null)[] | null;
  /** Bytes by category, from below; empty without categories. */
  parts: { category: string; bytes: number[] }[];
}

const TOTALS = ['allocated_bytes', 'reserved_bytes'];

export function readCurve(table: Table): Curve {
  const known = (name: string) => numbers(table, name).map((value) => value ?? 0);
  const reserved = numbers(table, 'reserved_bytes');
  const names = Object.keys(table.data).filter((name) => name.endsWith('_bytes') && !TOTALS.includes(name));
  const parts = names.map((name) => ({ category: name.slice(0, -'_bytes'.length), bytes: known(name) }));
  return {
    time: nanoseconds(table, 'time_us').map((value) => value ?? 0),
    allocated: known('allocated_bytes'),
    reserved: reserved.some((value) => value !== null) ? reserved : null,
    parts: parts
      .filter(({ bytes }) => bytes.some((value) => value !== 0))
      .sort((a, b) => categoryOrder(a.category) - categoryOrder(b.category)),
  };
}

function categoryOrder(category: string): number {
  const at = (CATEGORIES as readonly string[]).indexOf(category);
  return at < 0 ? CATEGORIES.length : at;
}

/** Stretches of time in one phase of training each, in time order, ns. */
export interface Phases {
  name: string[];
  start: number[];
  end: number[];
}

export function readPhases(table: Table): Phases {
  const times = (name: string) => nanoseconds(table, name).map((value) => value ?? 0);
  return { name: texts(table, 'phase'), start: times('start_us'), end: times('end_us') };
}

/** Position of the stretch that holds a time; -1 where none does. */
export function phaseAt(phases: Phases, time: number): number {
  const at = entryAt({ time: phases.start }, time);
  return at >= 0 && time < phases.end[at] ? at : -1;
}

/** Position of what holds at a time; -1 before the first. */
export function entryAt(curve: Pick<Curve, 'time'>, time: number): number {
  let low = 0;
  let high = curve.time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.time[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Position of the highest point, the first of equals; -1 without points. */
export function highest(values: number[]): number {
  return values.reduce((best, value, i) => (best < 0 || value > values[best] ? i : best), -1);
}

/** Microseconds with three decimals, as views take times. */
export function inMicroseconds(ns: number): string {
  return (ns / 1e3).toFixed(3);
}

export function rangeParameters(range: Range | null): Parameters {
  return range ? { start_us: inMicroseconds(range.t0), end_us: inMicroseconds(range.t1) } : {};
}

/** Blocks live at an instant; the level then holds all events of that very time. */
export function liveParameters(at: number): Parameters {
  return { start_us: inMicroseconds(at), end_us: inMicroseconds(at + 1) };
}

/** A longer text does not fit into an address on the way to the server. */
const LONGEST = 2000;

/** The parameter that picks the blocks of a row; an empty one asks for those without a value. Null where none can. */
export function keyParameters(by: MemoryBy, value: string | null): Parameters | null {
  // What reads as � here may be another character in the trace.
  if (value !== null && (value === '' || value.length > LONGEST || value.includes('\ufffd'))) return null;
  return { [by]: value ?? '' };
}

/** What the curve and the map show: the zoom, else what all pages are narrowed to, else everything. */
export function shownRange(zoom: Range | null, narrowed: Filter | null, end: number): Range {
  const asked = zoom ?? narrowed;
  if (!asked) return { t0: 0, t1: Math.max(end, 1) };
  return { t0: asked.t0, t1: Math.max(asked.t1, asked.t0 + 1) };
}

/** What tells a block from all others. */
export interface BlockKey {
  device: string;
  address: string;
  /** Start, ns; null of one from before the recording. */
  from: number | null;
  bytes: number;
}

/** Asks for one block, and as few others as can be. */
export function blockParameters({ device, from, bytes }: BlockKey): Parameters {
  const size = { device, min_bytes: bytes };
  if (from === null) return { ...size, state: 'before recording' };
  // A block that is freed in the very moment it is allocated lives no longer than that.
  const start = from > 0 ? { start_us: inMicroseconds(from - 1) } : {};
  return { ...size, ...start, end_us: inMicroseconds(from + 1) };
}

export interface Blocks {
  rows: number;
  table: Table;
  address: string[];
  bytes: number[];
  /** ns; null from before the recording. */
  from: (number | null)[];
  /** ns; null where it is not known. */
  to: (number | null)[];
  state: string[];
}

export function readBlocks(table: Table): Blocks {
  return {
    rows: table.rows,
    table,
    address: texts(table, 'address'),
    bytes: numbers(table, 'bytes').map((value) => value ?? 0),
    from: nanoseconds(table, 'from_us'),
    to: nanoseconds(table, 'to_us'),
    state: texts(table, 'state'),
  };
}

export interface Changed {
  /** Who allocated: the blocks that came, and those that went; null where that is not known. */
  owner: string | null;
  allocated: number;
  freed: number;
}

/** Blocks that may have been freed in a range of time, and as few others as can be. */
export function freedParameters(device: string, change: Range, freed: number, frees: number): Parameters {
  const start = change.t0 > 0 ? { start_us: inMicroseconds(change.t0 - 1) } : {};
  const mean = Math.floor(freed / Math.max(1, frees));
  return { device, state: 'freed', ...start, end_us: inMicroseconds(change.t1), min_bytes: mean, largest: 2000 };
}

/** What came and went in a range of time, by who had allocated it: a free is told by the block, not by what ran then. */
export function changesOf(sums: Table, blocks: Table | null, change: Range): Changed[] {
  const found = new Map<string | null, Changed>();
  const add = (owner: Cell, allocated: number, freed: number) => {
    const name = owner === null ? null : String(owner);
    const before = found.get(name) ?? { owner: name, allocated: 0, freed: 0 };
    found.set(name, { owner: name, allocated: before.allocated + allocated, freed: before.freed + freed });
  };
  const allocated = numbers(sums, 'allocated_bytes');
  column(sums, 'caller').forEach((owner, row) => {
    add(owner, allocated[row] ?? 0, 0);
  });
  let rest = numbers(sums, 'freed_bytes').reduce<number>((a, value) => a + (value ?? 0), 0);
  const ends = blocks ? nanoseconds(blocks, 'to_us') : [];
  const bytes = blocks ? numbers(blocks, 'bytes') : [];
  const owners = blocks ? column(blocks, 'caller') : [];
  ends.forEach((end, row) => {
    if (end === null || end < change.t0 || end >= change.t1) return;
    add(owners[row], 0, bytes[row] ?? 0);
    rest -= bytes[row] ?? 0;
  });
  if (rest > 0) add(null, 0, rest);
  const size = (one: Changed) => Math.max(one.allocated, one.freed);
  return [...found.values()].filter((one) => size(one) > 0).sort((a, b) => size(b) - size(a));
}

export function blockKey(blocks: Blocks, row: number): BlockKey {
  return {
    device: texts(blocks.table, 'device')[row],
    address: blocks.address[row],
    from: blocks.from[row],
    bytes: blocks.bytes[row],
  };
}

export function findBlock(blocks: Blocks, key: BlockKey): number {
  return blocks.address.findIndex(
    (address, row) => address === key.address && blocks.from[row] === key.from && blocks.bytes[row] === key.bytes,
  );
}

/** Groups of blocks, most bytes first: what the colours of the map stand for. */
export function groupsOf(blocks: Blocks, by: string): { value: Cell; bytes: number }[] {
  const found = new Map<Cell, number>();
  column(blocks.table, by).forEach((value, row) => {
    found.set(value, (found.get(value) ?? 0) + blocks.bytes[row]);
  });
  return [...found].map(([value, bytes]) => ({ value, bytes })).sort((a, b) => b.bytes - a.bytes);
}
