import { endOf, lastStartingBy, startOf, type Tile } from '../model/tile';
import { FLAG_CLIPPED_LEFT, FLAG_CLIPPED_RIGHT, FLAG_MERGED, FLAG_UNFINISHED, KINDS } from '../model/wire';
import type { Span, Timeline } from './controller';
import { stripAt } from './layout';

export interface Hit {
  row: number;
  tile: Tile;
  index: number;
  id: number;
  name: string;
  kind: string;
  idle: boolean;
  merged: boolean;
  count: number;
  /** Goes on before or after the tile: its ends are cuts. */
  before: boolean;
  after: boolean;
  unfinished: boolean;
}

/** Slivers are picked from this many pixels away. */
const REACH = 3;

/** The rectangle under a point of the canvas, or the nearest within reach on the row. */
export function hitAt(timeline: Timeline, x: number, y: number, reach = REACH): Hit | null {
  const strip = stripAt(timeline.layout.peek(), y + timeline.scrollTop.peek());
  if (strip?.kind !== 'row') return null;
  const row = strip.rows[0];
  const slice = timeline.tiles.slice(row, timeline.view.peek());
  if (!slice || slice.count === 0) return null;
  const { tile, offset, count } = slice;
  const at = lastStartingBy(tile, offset, count, timeline.timeAt(x));
  let best = -1;
  let closest = reach + 0.001;
  for (let i = Math.max(offset, at); i <= Math.min(offset + count - 1, at + 1); i++) {
    const distance = distanceTo(timeline, tile, i, x);
    if (distance < closest) {
      closest = distance;
      best = i;
    }
  }
  return best < 0 ? null : describe(timeline, { tile, index: best, row });
}

/** Where a bar of a tile lies; `cut` while its true ends are not known. */
export function spanOf(tile: Tile, index: number, row: number): Span {
  const cut = (tile.flags[index] & (FLAG_CLIPPED_LEFT | FLAG_CLIPPED_RIGHT)) !== 0;
  return { t0: startOf(tile, index), t1: endOf(tile, index), row, cut };
}

function distanceTo(timeline: Timeline, tile: Tile, index: number, x: number): number {
  const left = timeline.xOf(startOf(tile, index));
  const right = timeline.xOf(startOf(tile, index) + tile.length[index] * tile.tick);
  return Math.max(0, left - x, x - right);
}

function describe(timeline: Timeline, { tile, index, row }: { tile: Tile; index: number; row: number }): Hit {
  const kind = KINDS[tile.kind[index]] ?? 'other';
  const flags = tile.flags[index];
  return {
    row,
    tile,
    index,
    id: tile.id[index],
    name: timeline.names[tile.name[index]] ?? '',
    kind,
    idle: kind === 'idle',
    merged: (flags & FLAG_MERGED) !== 0,
    count: tile.count[index],
    before: (flags & FLAG_CLIPPED_LEFT) !== 0,
    after: (flags & FLAG_CLIPPED_RIGHT) !== 0,
    unfinished: (flags & FLAG_UNFINISHED) !== 0,
  };
}
