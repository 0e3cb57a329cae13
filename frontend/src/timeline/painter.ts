/**
 * Scanline painter: every rectangle of a row is written once into one line of pixels, the line is then copied to the
 * row's height. Exact pixels, no canvas calls; a hundred thousand rectangles take a few milliseconds.
 */
import { blend, type Palette, SHADES } from '../lib/colours';
import type { Range } from '../model/state';
import { lastStartingBy, type Tile } from '../model/tile';
import { FLAG_CLIPPED_RIGHT, FLAG_MERGED, FLAG_UNFINISHED, KINDS } from '../model/wire';

export interface Look {
  palette: Palette;
  /** Shade of each name, by name id. */
  shades: Uint8Array;
  /** 1 for names that match the search; null when nothing is searched. */
  matched: Uint8Array | null;
}

export interface Slice {
  tile: Tile;
  offset: number;
  count: number;
}

export interface Label {
  x0: number;
  x1: number;
  y: number;
  name: number;
  kind: number;
  dimmed: boolean;
}

export interface Tally {
  rects: number;
  events: number;
  merged: number;
  matched: number;
}

/** A lone sliver of an event stays visible; many merged ones may fade to what they truly cover. */
const FAINTEST = 0.35;
const FAINTEST_MERGED = 0.15;
const FAINTEST_IDLE = 0.02;
const KIND_IDLE = KINDS.indexOf('idle');
/** Bars at least this wide end with a softer pixel, which keeps neighbours apart. */
const SEPARATED = 4;

/** Bars that share one pixel: how much of it they cover, and the colour of the longest. */
interface Slivers {
  cover: Float32Array;
  longest: Float32Array;
  floor: Float32Array;
  colour: Uint32Array;
}

function makeSlivers(width: number): Slivers {
  const share = () => new Float32Array(width);
  return { cover: share(), longest: share(), floor: share(), colour: new Uint32Array(width) };
}

let slivers = makeSlivers(0);

function sliversFor(width: number): Slivers {
  if (slivers.cover.length < width) slivers = makeSlivers(width);
  return slivers;
}

function colourOf(tile: Tile, index: number, look: Look): number {
  const name = tile.name[index];
  const at = tile.kind[index] * SHADES + (look.shades[name] ?? 0);
  const dim = look.matched !== null && look.matched[name] !== 1;
  return (dim ? look.palette.dimmed : look.palette.bars)[at];
}

/** Paints the rectangles of a row that touch `view` into `line`; reports wide ones and counts to `out`. */
export function paintLine(
  line: Uint32Array,
  slice: Slice | null,
  view: Range,
  look: Look,
  out: { tally: Tally; label: (index: number, x0: number, x1: number) => void },
): void {
  const { palette } = look;
  line.fill(palette.pending);
  if (!slice) return;
  const { tile, offset, count } = slice;
  const scale = line.length / (view.t1 - view.t0);
  fillCovered(line, tile, view, palette.background);
  const narrow = sliversFor(line.length);
  let low = line.length;
  let high = -1;
  const end = offset + count;
  for (let i = Math.max(offset, lastStartingBy(tile, offset, count, view.t0)); i < end; i++) {
    const left = (tile.t0 + tile.start[i] * tile.tick - view.t0) * scale;
    if (left >= line.length) break;
    const width = tile.length[i] * tile.tick * scale;
    if (left + width < 0) continue;
    tallyUp(out.tally, tile, i, look);
    const x0 = Math.max(0, Math.floor(left));
    const x1 = Math.min(line.length, Math.floor(left + width));
    if (x1 > x0) {
      fillBar(line, x0, x1, { tile, index: i, look });
      out.label(i, x0, x1);
    } else {
      addSliver(narrow, x0, { tile, index: i, look }, width);
      low = Math.min(low, x0);
      high = Math.max(high, x0);
    }
  }
  flushSlivers(line, narrow, low, high, palette.background);
}

function fillCovered(line: Uint32Array, tile: Tile, view: Range, background: number): void {
  const scale = line.length / (view.t1 - view.t0);
  const from = Math.max(0, Math.floor((tile.t0 - view.t0) * scale));
  const to = Math.min(line.length, Math.ceil((tile.t1 - view.t0) * scale));
  if (to > from) line.fill(background, from, to);
}

interface Bar {
  tile: Tile;
  index: number;
  look: Look;
}

function tallyUp(tally: Tally, tile: Tile, index: number, look: Look): void {
  const events = tile.count[index];
  tally.rects++;
  tally.events += events;
  if (tile.flags[index] & FLAG_MERGED) tally.merged += events;
  if (look.matched?.[tile.name[index]] === 1) tally.matched++;
}

/** Merged bars stay visible, but for idle time: many gaps of no length are a busy device. */
function faintest(tile: Tile, index: number): number {
  return tile.kind[index] === KIND_IDLE ? FAINTEST_IDLE : FAINTEST_MERGED;
}

function fillBar(line: Uint32Array, x0: number, x1: number, bar: Bar): void {
  const { tile, index, look } = bar;
  const flags = tile.flags[index];
  const { background } = look.palette;
  let colour = colourOf(tile, index, look);
  if (flags & FLAG_MERGED) colour = blend(background, colour, Math.max(faintest(tile, index), tile.busy[index] / 255));
  line.fill(colour, x0, x1);
  if (flags & FLAG_UNFINISHED) {
    for (let x = x0; x < x1; x++) line[x] = blend(colour, background, (x - x0) / (x1 - x0));
  } else if (x1 - x0 >= SEPARATED && !(flags & FLAG_CLIPPED_RIGHT)) {
    line[x1 - 1] = blend(colour, background, 0.6);
  }
}

function addSliver(narrow: Slivers, x: number, bar: Bar, width: number): void {
  const { tile, index, look } = bar;
  const covered = (width * tile.busy[index]) / 255;
  const merged = (tile.flags[index] & FLAG_MERGED) !== 0;
  narrow.cover[x] += covered;
  narrow.floor[x] = Math.max(narrow.floor[x], merged ? faintest(tile, index) : FAINTEST);
  if (narrow.colour[x] === 0 || covered > narrow.longest[x]) {
    narrow.longest[x] = covered;
    narrow.colour[x] = colourOf(tile, index, look);
  }
}

/** Slivers fill only what no bar has taken, as strong as they cover the pixel. */
function flushSlivers(line: Uint32Array, narrow: Slivers, low: number, high: number, background: number): void {
  for (let x = low; x <= high; x++) {
    if (narrow.colour[x] !== 0 && line[x] === background) {
      line[x] = blend(background, narrow.colour[x], Math.max(narrow.floor[x], Math.min(1, narrow.cover[x])));
    }
    narrow.cover[x] = 0;
    narrow.longest[x] = 0;
    narrow.floor[x] = 0;
    narrow.colour[x] = 0;
  }
}

export function copyLine(pixels: Uint32Array, line: Uint32Array, top: number, bottom: number): void {
  const width = line.length;
  const first = Math.max(0, top);
  const last = Math.min(pixels.length / width, bottom);
  if (last <= first) return;
  pixels.set(line, first * width);
  for (let y = first + 1; y < last; y++) pixels.copyWithin(y * width, first * width, (first + 1) * width);
}

const STRIPE = 8;

/** Diagonal stripes: idle time must read as waiting, not as work. */
export function copyHatched(
  pixels: Uint32Array,
  line: Uint32Array,
  rows: { top: number; bottom: number },
  look: Look,
): void {
  const width = line.length;
  const { background, pending } = look.palette;
  const last = Math.min(pixels.length / width, rows.bottom);
  for (let y = Math.max(0, rows.top); y < last; y++) {
    const at = y * width;
    for (let x = 0; x < width; x++) {
      const colour = line[x];
      const bare = colour === background || colour === pending;
      pixels[at + x] = bare || ((x + y) & (STRIPE - 1)) < STRIPE / 2 ? colour : blend(colour, background, 0.75);
    }
  }
}

/** Adds what the rows of a folded lane cover of each pixel; `colour` keeps the fullest. */
export function addCover(cover: Float32Array, colour: Uint32Array, slice: Slice, view: Range, look: Look): void {
  const { tile, offset, count } = slice;
  const scale = cover.length / (view.t1 - view.t0);
  const end = offset + count;
  for (let i = Math.max(offset, lastStartingBy(tile, offset, count, view.t0)); i < end; i++) {
    const left = (tile.t0 + tile.start[i] * tile.tick - view.t0) * scale;
    if (left >= cover.length) break;
    const right = Math.min(cover.length, left + tile.length[i] * tile.tick * scale);
    const ink = colourOf(tile, i, look);
    const busy = tile.busy[i] / 255;
    for (let x = Math.max(0, Math.floor(left)); x < right; x++) {
      const part = Math.min(right, x + 1) - Math.max(left, x);
      cover[x] += part * busy;
      if (part * busy >= 0.5 || colour[x] === 0) colour[x] = ink;
    }
  }
}

/** A folded lane: the height of the bar is the share of the pixel's time that was covered. */
export function paintFolded(
  pixels: Uint32Array,
  rows: { top: number; bottom: number; height: number },
  cover: Float32Array,
  colour: Uint32Array,
  background: number,
): void {
  const width = cover.length;
  const last = Math.min(pixels.length / width, rows.bottom);
  for (let y = Math.max(0, rows.top); y < last; y++) {
    const share = (rows.bottom - y) / rows.height;
    for (let x = 0; x < width; x++) pixels[y * width + x] = cover[x] >= share ? colour[x] : background;
  }
}
