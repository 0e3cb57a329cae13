/** Where blocks lie on the map: time from left to right, bytes from bottom to top. All pure. */
import type { Blocks } from './memory';
import type { Range } from './state';

export interface BlockBox {
  row: number;
  t0: number;
  t1: number;
  /** Bytes from the bottom of the map. */
  low: number;
  high: number;
}

export interface BlockMap {
  boxes: BlockBox[];
  /** Bytes of the whole height. */
  height: number;
}

/** When each block is over within the window: one that lost its free ends where its address is used again. */
function lifetimes(blocks: Blocks, window: Range): { t0: number; t1: number }[] {
  const next = new Map<string, number>();
  const over: number[] = new Array(blocks.rows);
  // From the last allocation to the first: the one met before is the next at that address.
  for (let row = blocks.rows - 1; row >= 0; row--) {
    const to = blocks.to[row] ?? (blocks.state[row] === 'lost' ? next.get(blocks.address[row]) : undefined);
    over[row] = to ?? window.t1;
    next.set(blocks.address[row], blocks.from[row] ?? window.t0);
  }
  return over.map((to, row) => ({
    t0: Math.max(blocks.from[row] ?? window.t0, window.t0),
    t1: Math.min(to, window.t1),
  }));
}

/** Largest first, each as low as it fits without overlapping: the height is about what is needed at one time. */
export function packBySize(blocks: Blocks, window: Range): BlockMap {
  const life = lifetimes(blocks, window);
  const order = life.map((_, row) => row).sort((a, b) => blocks.bytes[b] - blocks.bytes[a] || a - b);
  const placed: BlockBox[] = [];
  let height = 0;
  for (const row of order) {
    const { t0, t1 } = life[row];
    let low = 0;
    // `placed` is sorted by where boxes begin: the first gap that is high enough is the lowest one.
    for (const box of placed) {
      if (box.t1 <= t0 || box.t0 >= t1 || box.high <= low) continue;
      if (box.low >= low + blocks.bytes[row]) break;
      low = box.high;
    }
    const box = { row, t0, t1, low, high: low + blocks.bytes[row] };
    placed.splice(insertion(placed, low), 0, box);
    height = Math.max(height, box.high);
  }
  return { boxes: placed, height };
}

function insertion(placed: BlockBox[], low: number): number {
  let first = 0;
  let last = placed.length;
  while (first < last) {
    const middle = (first + last) >> 1;
    if (placed[middle].low <= low) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** By address, with the space between that nothing shown ever used taken out. */
export function layByAddress(blocks: Blocks, window: Range): BlockMap {
  const life = lifetimes(blocks, window);
  const start = blocks.address.map(parseAddress);
  const order = start.map((_, row) => row).sort((a, b) => (start[a] < start[b] ? -1 : start[a] > start[b] ? 1 : a - b));
  const boxes: BlockBox[] = [];
  let shift = start[order[0]] ?? 0n;
  let used = shift;
  for (const row of order) {
    if (start[row] > used) {
      shift += start[row] - used;
      used = start[row];
    }
    const low = Number(start[row] - shift);
    boxes.push({ row, ...life[row], low, high: low + blocks.bytes[row] });
    const end = start[row] + BigInt(Math.round(blocks.bytes[row]));
    if (end > used) used = end;
  }
  return { boxes, height: boxes.reduce((most, box) => Math.max(most, box.high), 0) };
}

function parseAddress(text: string): bigint {
  return /^0x[0-9a-f]{1,16}$/.test(text) ? BigInt(text) : 0n;
}

/** The box at a time and a height, the topmost drawn; null where there is none. `slack` widens short boxes, ns. */
export function boxAt(map: BlockMap, time: number, height: number, slack: number): BlockBox | null {
  let best: BlockBox | null = null;
  for (const box of map.boxes) {
    const off = Math.max(box.t0 - time, time - box.t1, 0);
    if (height < box.low || height >= box.high || off > slack) continue;
    const bestOff = best === null ? Number.POSITIVE_INFINITY : Math.max(best.t0 - time, time - best.t1, 0);
    if (off < bestOff) best = box;
  }
  return best;
}
