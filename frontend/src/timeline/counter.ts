/** Counter lanes: a value over time as a filled step, with a lighter band from the least to the most where changes share a pixel. */
import { blend, type Palette, SHADES } from '../lib/colours';
import { lastBy } from '../model/tile';
import { KINDS, type Lane } from '../model/wire';
import type { Part, Slice } from './painter';

const INK = KINDS.indexOf('counter') * SHADES;
const BAND = 0.45;

/** Least and most value of each pixel; NaN where none is known. */
export interface Extremes {
  low: Float64Array;
  high: Float64Array;
}

export function makeExtremes(width: number): Extremes {
  return { low: new Float64Array(width).fill(Number.NaN), high: new Float64Array(width).fill(Number.NaN) };
}

/** Adds what a slice knows of its part of the view. */
export function addExtremes(into: Extremes, { tile, points }: Slice, { view, t0, t1 }: Part): void {
  const width = into.low.length;
  const scale = width / (view.t1 - view.t0);
  const { start, low, high } = tile.points;
  const first = Math.max(points.offset, lastBy(start, points.offset, points.count, (t0 - tile.t0) / tile.tick));
  const end = points.offset + points.count;
  for (let i = first; i < end; i++) {
    const begin = tile.t0 + start[i] * tile.tick;
    if (begin >= t1) break;
    const stop = i + 1 < end ? tile.t0 + start[i + 1] * tile.tick : tile.t1;
    if (Number.isNaN(low[i])) continue;
    const left = Math.max(0, Math.floor((Math.max(begin, t0) - view.t0) * scale));
    const right = Math.min(width, Math.max(left + 1, Math.ceil((Math.min(stop, t1) - view.t0) * scale)));
    for (let x = left; x < right; x++) {
      if (!(into.low[x] <= low[i])) into.low[x] = low[i];
      if (!(into.high[x] >= high[i])) into.high[x] = high[i];
    }
  }
}

/** What the height of the lane stands for: from 0, or the least value below it, to the most. */
export function boundsOf(lane: Pick<Lane, 'low' | 'high'>): { low: number; high: number } {
  const low = Math.min(0, lane.low ?? 0);
  const high = Math.max(0, lane.high ?? 0);
  return high > low ? { low, high } : { low, high: low + 1 };
}

export function paintCounter(
  pixels: Uint32Array,
  rows: { top: number; bottom: number },
  values: Extremes,
  bounds: { low: number; high: number },
  palette: Palette,
): void {
  const width = values.low.length;
  const ink = palette.bars[INK];
  const band = blend(palette.background, ink, BAND);
  const height = rows.bottom - rows.top;
  const last = Math.min(pixels.length / width, rows.bottom);
  for (let y = Math.max(0, rows.top); y < last; y++) {
    // The least height that shows at all is a pixel: a value above 0 is never nothing.
    const level = bounds.low + ((rows.bottom - y - 1) / height) * (bounds.high - bounds.low);
    for (let x = 0; x < width; x++) {
      if (values.low[x] > level) pixels[y * width + x] = ink;
      else if (values.high[x] > level) pixels[y * width + x] = band;
    }
  }
}

export interface Reading {
  low: number;
  high: number;
  /** Changes in the stretch that was looked at. */
  changes: number;
}

/** What a counter shows at a time, or within a bucket of it. */
export function readingAt({ tile, points }: Slice, time: number): Reading | null {
  const at = lastBy(tile.points.start, points.offset, points.count, (time - tile.t0) / tile.tick);
  if (at < points.offset || Number.isNaN(tile.points.low[at])) return null;
  return { low: tile.points.low[at], high: tile.points.high[at], changes: tile.points.changes[at] };
}
