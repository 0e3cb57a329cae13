/** A decoded tile: columns of rectangles, rows as slices of them. Layout in docs/wire.md. */
export interface Tile {
  t0: number;
  t1: number;
  /** Nanoseconds per merge bucket. */
  quantum: number;
  /** Nanoseconds per unit of `start` and `length`. */
  tick: number;
  n: number;
  bytes: number;
  rows: Map<number, { offset: number; count: number }>;
  start: Uint32Array;
  length: Uint32Array;
  id: Uint32Array;
  name: Uint32Array;
  count: Uint32Array;
  kind: Uint8Array;
  busy: Uint8Array;
  flags: Uint8Array;
}

const MAGIC = 0x314c544b; // "KTL1", little endian
const HEADER = 48;

export function decodeTile(buffer: ArrayBuffer): Tile {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER || view.getUint32(0, true) !== MAGIC) throw new Error('This is no timeline tile.');
  const n = view.getUint32(4, true);
  const rowCount = view.getUint32(8, true);
  const version = view.getUint32(12, true);
  if (version !== 1) throw new Error(`Tile kinds of version ${version} are not known to this page: reload it.`);
  const expected = HEADER + rowCount * 8 + n * 24;
  if (buffer.byteLength !== expected) {
    throw new Error(`A tile of ${buffer.byteLength} bytes came where ${expected} were announced.`);
  }
  const rows = new Map<number, { offset: number; count: number }>();
  let offset = 0;
  for (let i = 0; i < rowCount; i++) {
    const count = view.getUint32(HEADER + i * 8 + 4, true);
    rows.set(view.getUint32(HEADER + i * 8, true), { offset, count });
    offset += count;
  }
  const words = (column: number) => new Uint32Array(buffer, HEADER + rowCount * 8 + column * n * 4, n);
  const octets = (column: number) => new Uint8Array(buffer, HEADER + rowCount * 8 + n * 20 + column * n, n);
  return {
    t0: view.getFloat64(16, true),
    t1: view.getFloat64(24, true),
    quantum: view.getFloat64(32, true),
    tick: view.getFloat64(40, true),
    n,
    bytes: buffer.byteLength,
    rows,
    start: words(0),
    length: words(1),
    id: words(2),
    name: words(3),
    count: words(4),
    kind: octets(0),
    busy: octets(1),
    flags: octets(2),
  };
}

export function startOf(tile: Tile, index: number): number {
  return tile.t0 + tile.start[index] * tile.tick;
}

export function endOf(tile: Tile, index: number): number {
  return tile.t0 + (tile.start[index] + tile.length[index]) * tile.tick;
}

/** Index of the last rectangle of the slice that starts at or before `time`; `offset - 1` when none does. */
export function lastStartingBy(tile: Tile, offset: number, count: number, time: number): number {
  const ticks = (time - tile.t0) / tile.tick;
  let low = offset;
  let high = offset + count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tile.start[middle] <= ticks) low = middle + 1;
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
