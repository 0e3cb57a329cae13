import { endOf, entryOf, lastStartingBy, NO_ID, startOf, type Tile } from '../model/tile';
import { FLAG_CLIPPED_LEFT, FLAG_CLIPPED_RIGHT, FLAG_MERGED, FLAG_UNFINISHED, KINDS } from '../model/wire';
import type { Span, Timeline } from './controller';
import { type Reading, readingAt } from './counter';
import { type Strip, stripAt } from './layout';

export interface Hit {
  row: number;
  tile: Tile;
  index: number;
  /** `NO_ID` for merged bars: `entry` and `count` tell the server which they are. */
  id: number;
  entry: number;
  name: string;
  kind: string;
  idle: boolean;
  merged: boolean;
  count: number;
  /** Goes on before or after the tile: its ends are cuts. */
  before: boolean;
  after: boolean;
  unfinished: boolean;
  /** What a counter shows here; there is no bar then. */
  counter: Reading | null;
}

/** Slivers are picked from this many pixels away. */
const REACH = 3;

/** The bar under a point of the canvas, or the nearest within reach on the row; or what a counter shows there. */
export function hitAt(timeline: Timeline, x: number, y: number, reach = REACH): Hit | null {
  const strip = stripAt(timeline.layout.peek(), y + timeline.scrollTop.peek());
  if (strip?.kind !== 'row') return null;
  const row = strip.rows[0];
  const time = timeline.timeAt(x);
  const slice = timeline.tiles.sliceAt(row, time, timeline.view.peek(), timeline.size.peek().width);
  if (slice && strip.lane.kind === 'counter') return counterHit(strip, slice.tile, readingAt(slice, time));
  if (!slice || slice.count === 0) return null;
  const { tile, offset, count } = slice;
  const at = lastStartingBy(tile, offset, count, time);
  let best = -1;
  let closest = reach + 0.001;
  for (let i = Math.max(offset, at); i <= Math.min(offset + count - 1, at + 1); i++) {
    const distance = distanceTo(timeline, tile, i, x);
    if (distance < closest) {
      closest = distance;
      best = i;
    }
  }
  return best < 0 ? null : hitOf(timeline, tile, best, row);
}

/** Where a bar of a tile lies; `cut` while its true ends are not known. */
export function spanOf(tile: Tile, index: number, row: number): Span {
  const cut = (tile.flags[index] & (FLAG_CLIPPED_LEFT | FLAG_CLIPPED_RIGHT | FLAG_MERGED)) !== 0 || tile.tick > 1;
  return { t0: startOf(tile, index), t1: endOf(tile, index), row, cut };
}

export function isSame(one: Hit | null, other: Hit | null): boolean {
  if (!one || !other) return one === other;
  if (one.counter || other.counter) return false;
  return one.row === other.row && one.entry === other.entry && one.count === other.count;
}

function distanceTo(timeline: Timeline, tile: Tile, index: number, x: number): number {
  const left = timeline.xOf(startOf(tile, index));
  const right = timeline.xOf(startOf(tile, index) + tile.length[index] * tile.tick);
  return Math.max(0, left - x, x - right);
}

export function hitOf(timeline: Timeline, tile: Tile, index: number, row: number): Hit {
  const kind = KINDS[tile.kind[index]] ?? 'other';
  const flags = tile.flags[index];
  return {
    row,
    tile,
    index,
    id: tile.id[index],
    entry: entryOf(tile, row, index),
    name: timeline.names[tile.name[index]] ?? '',
    kind,
    idle: kind.startsWith('idle'),
    merged: (flags & FLAG_MERGED) !== 0,
    count: tile.count[index],
    before: (flags & FLAG_CLIPPED_LEFT) !== 0,
    after: (flags & FLAG_CLIPPED_RIGHT) !== 0,
    unfinished: (flags & FLAG_UNFINISHED) !== 0,
    counter: null,
  };
}

function counterHit({ lane, rows }: Strip, tile: Tile, counter: Reading | null): Hit | null {
  if (!counter) return null;
  const bar = { index: -1, id: NO_ID, entry: 0, count: 0, kind: 'counter', name: lane.title };
  const no = { idle: false, merged: false, before: false, after: false, unfinished: false };
  return { row: rows[0], tile, ...bar, ...no, counter };
}
