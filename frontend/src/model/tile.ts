/** A decoded tile: columns of bars, rows as slices of them, and points of counters. Layout in docs/wire.md. */
export interface Tile {
  t0: number;
  t1: number;
  /** Nanoseconds per merge bucket. */
  quantum: number;
  /** Nanoseconds per unit of `start` and `length`: times are exact where it is 1. */
  tick: number;
  n: number;
  /** Bytes that it takes here. */
  bytes: number;
  rows: Map<number, TileRow>;
  start: Uint32Array;
  length: Uint32Array;
  /** `NO_ID` for merged bars: see `entryOf`. */
  id: Uint32Array;
  name: Uint32Array;
  count: Uint32Array;
  kind: Uint8Array;
  busy: Uint8Array;
  flags: Uint8Array;
  /** Events, and merged events, before each bar, and in all: so that a frame need not count them. */
  events: Uint32Array;
  merged: Uint32Array;
  points: Points;
}

export interface TileRow {
  offset: number;
  count: number;
  /** Number of the first event, as the server counts along its rows; those of the next bars follow on it. */
  entry: number;
  /** Points of a counter, where the row is one. */
  points: { offset: number; count: number };
}

/** Each holds until the next of its row: least and most value, and how many changes it stands for. */
export interface Points {
  start: Uint32Array;
  low: Float64Array;
  high: Float64Array;
  changes: Uint32Array;
}

export const NO_ID = 0xffffffff;
const MAGIC = 0x324c544b; // "KTL2", little endian
const HEADER = 64;
const ROW_BYTES = 16;
const WIDTHS = 52;
const BAR_COLUMNS = 8;
const MERGED = 1;

/** Reads columns that come byte by byte, the lowest bytes of all bars first. */
class Planes {
  constructor(
    private readonly octets: Uint8Array,
    private at: number,
  ) {}

  get position(): number {
    return this.at;
  }

  words(n: number, width: number): Uint32Array {
    const column = new Uint32Array(n);
    for (let place = 0; place < width; place++) {
      const plane = this.octets.subarray(this.at, this.at + n);
      const shift = 8 * place;
      for (let i = 0; i < n; i++) column[i] |= plane[i] << shift;
      this.at += n;
    }
    return column;
  }

  bytes(n: number, width: number): Uint8Array {
    if (width === 0) return new Uint8Array(n);
    this.at += n;
    return this.octets.subarray(this.at - n, this.at);
  }
}

interface Head {
  n: number;
  r: number;
  points: number;
  widths: Uint8Array;
}

function readHead(buffer: ArrayBuffer): Head {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER || view.getUint32(0, true) !== MAGIC) throw new Error('This is no timeline tile.');
  const version = view.getUint32(12, true);
  if (version !== 2) throw new Error(`Tile kinds of version ${version} are not known to this page: reload it.`);
  const n = view.getUint32(4, true);
  const r = view.getUint32(8, true);
  const points = view.getUint32(48, true);
  const widths = new Uint8Array(buffer, WIDTHS, BAR_COLUMNS + 2);
  const sum = (some: Uint8Array) => some.reduce((total, width) => total + width, 0);
  const bars = n * sum(widths.subarray(0, BAR_COLUMNS));
  const steps = points * (sum(widths.subarray(BAR_COLUMNS)) + 16);
  const expected = HEADER + r * ROW_BYTES + bars + steps;
  if (buffer.byteLength !== expected) {
    throw new Error(`A tile of ${buffer.byteLength} bytes came where ${expected} were announced.`);
  }
  return { n, r, points, widths };
}

export function decodeTile(buffer: ArrayBuffer): Tile {
  const { n, r, points, widths } = readHead(buffer);
  const view = new DataView(buffer);
  const rows = readRows(view, r);
  const planes = new Planes(new Uint8Array(buffer), HEADER + r * ROW_BYTES);
  const [start, length, id, name, count] = [0, 1, 2, 3, 4].map((column) => planes.words(n, widths[column]));
  const [kind, busy, flags] = [5, 6, 7].map((column) => planes.bytes(n, widths[column]));
  for (let i = 0; i < n; i++) count[i]++;
  addUp(rows, start, length);
  addUpIds(id, flags);
  return {
    t0: view.getFloat64(16, true),
    t1: view.getFloat64(24, true),
    quantum: view.getFloat64(32, true),
    tick: view.getFloat64(40, true),
    n,
    bytes: n * 31 + points * 24 + r * 64,
    rows,
    start,
    length,
    id,
    name,
    count,
    kind,
    busy,
    flags,
    ...sums(count, flags),
    points: readPoints(buffer, planes, points, rows, widths.subarray(BAR_COLUMNS)),
  };
}

function readRows(view: DataView, r: number): Map<number, TileRow> {
  const rows = new Map<number, TileRow>();
  let offset = 0;
  let point = 0;
  for (let i = 0; i < r; i++) {
    const at = HEADER + i * ROW_BYTES;
    const [row, count, entry, points] = [0, 4, 8, 12].map((place) => view.getUint32(at + place, true));
    rows.set(row, { offset, count, entry, points: { offset: point, count: points } });
    offset += count;
    point += points;
  }
  return rows;
}

/** Starts come as the time since the bar before has ended; in 32 bits, as they were written. */
function addUp(rows: Map<number, TileRow>, start: Uint32Array, length: Uint32Array): void {
  for (const { offset, count } of rows.values()) {
    let end = 0;
    for (let i = offset; i < offset + count; i++) {
      start[i] = (start[i] + end) >>> 0;
      end = (start[i] + length[i]) >>> 0;
    }
  }
}

function addUpIds(id: Uint32Array, flags: Uint8Array): void {
  let last = 0;
  for (let i = 0; i < id.length; i++) {
    if (flags[i] & MERGED) id[i] = NO_ID;
    else {
      last = (last + id[i]) >>> 0;
      id[i] = last;
    }
  }
}

function sums(count: Uint32Array, flags: Uint8Array): Pick<Tile, 'events' | 'merged'> {
  const events = new Uint32Array(count.length + 1);
  const merged = new Uint32Array(count.length + 1);
  for (let i = 0; i < count.length; i++) {
    events[i + 1] = events[i] + count[i];
    merged[i + 1] = merged[i] + (flags[i] & MERGED ? count[i] : 0);
  }
  return { events, merged };
}

function readPoints(
  buffer: ArrayBuffer,
  planes: Planes,
  n: number,
  rows: Map<number, TileRow>,
  widths: Uint8Array,
): Points {
  const start = planes.words(n, widths[0]);
  const changes = planes.words(n, widths[1]);
  const at = planes.position;
  for (const { points } of rows.values()) {
    for (let i = points.offset + 1; i < points.offset + points.count; i++) start[i] = (start[i] + start[i - 1]) >>> 0;
  }
  // Copied, since values of eight bytes must begin at a multiple of eight.
  const values = (from: number) => new Float64Array(buffer.slice(from, from + 8 * n));
  return { start, changes, low: values(at), high: values(at + 8 * n) };
}

export function startOf(tile: Tile, index: number): number {
  return tile.t0 + tile.start[index] * tile.tick;
}

export function endOf(tile: Tile, index: number): number {
  return tile.t0 + (tile.start[index] + tile.length[index]) * tile.tick;
}

/** Number of the first event of a bar, as the server counts along its rows. */
export function entryOf(tile: Tile, row: number, index: number): number {
  const found = tile.rows.get(row);
  if (!found) return 0;
  return found.entry + tile.events[index] - tile.events[found.offset];
}

/** Index of the last bar of the slice that starts at or before `time`; `offset - 1` when none does. */
export function lastStartingBy(tile: Tile, offset: number, count: number, time: number): number {
  return lastBy(tile.start, offset, count, (time - tile.t0) / tile.tick);
}

export function lastBy(starts: Uint32Array, offset: number, count: number, ticks: number): number {
  let low = offset;
  let high = offset + count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle] <= ticks) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** `[1, 2, 3, 7]` → `1-3,7`: short addresses for proxies that cap them. */
export function rowRanges(rows: number[]): string {
  const sorted = [...new Set(rows)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
    parts.push(i === j ? `${sorted[i]}` : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return parts.join(',');
}
