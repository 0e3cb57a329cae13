/**
 * Scanline painter: every rectangle of a row is written once into one line of pixels, the line is then copied to the
 * row's height. Exact pixels, no canvas calls; a hundred thousand rectangles take a few milliseconds.
 */
import { blend, type Palette, SHADES } from '../lib/colours';
import type { Range } from '../model/state';
import { endOf, lastStartingBy, type Tile, type TileRow } from '../model/tile';
import { FLAG_CLIPPED_RIGHT, FLAG_MERGED, FLAG_UNFINISHED, KINDS } from '../model/wire';

export interface Look {
  palette: Palette;
  /** Shade of each name, by name id. */
  shades: Uint8Array;
  /** 1 for names that match the search; null when nothing is searched. */
  matched: Uint8Array | null;
}

/** Parts that a share is told in: as many as `blend` tells apart. */
const PARTS = 256;

let shadings: { of: Palette; table: Uint32Array } | null = null;

/** Every ink of a palette over the paper, bars before dimmed ones, at every share: a table, since each pixel asks for one. */
function shadingsOf(palette: Palette): Uint32Array {
  if (shadings?.of === palette) return shadings.table;
  const inks = [...palette.bars, ...palette.dimmed];
  const table = new Uint32Array(inks.length * (PARTS + 1));
  for (let i = 0; i < table.length; i++) {
    const ink = inks[Math.floor(i / (PARTS + 1))];
    table[i] = blend(palette.background, ink, (i % (PARTS + 1)) / PARTS);
  }
  shadings = { of: palette, table };
  return table;
}

export interface Slice extends TileRow {
  tile: Tile;
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
const IDLE_KINDS = Uint8Array.from(KINDS, (kind) => (kind.startsWith('idle') ? 1 : 0));
/** Bars at least this wide end with a softer pixel, which keeps neighbours apart. */
const SEPARATED = 4;

/** One line of pixels, and what is gathered of bars that share a pixel. */
export class Line {
  readonly colour: Uint32Array;
  /** 1 where a pixel shows merged bars. */
  readonly merged: Uint8Array;
  /** How much of a pixel is covered by bars narrower than it, and the longest and faintest of them. */
  readonly cover: Float32Array;
  readonly longest: Float32Array;
  readonly floor: Float32Array;
  /** Ink of the longest, counted from 1; 0 where there is none. */
  readonly sliver: Uint32Array;

  constructor(readonly width: number) {
    this.colour = new Uint32Array(width);
    this.merged = new Uint8Array(width);
    this.cover = new Float32Array(width);
    this.longest = new Float32Array(width);
    this.floor = new Float32Array(width);
    this.sliver = new Uint32Array(width);
  }
}

/** What is told of the bars painted: counts, and those wide enough for a name. */
export interface Told {
  tally: Tally;
  /** Width from which on a bar is told, in pixels. */
  labelled: number;
  label: (index: number, x0: number, x1: number) => void;
}

/** A window of time, and the part of it that a slice is to be painted in. */
export interface Part {
  view: Range;
  t0: number;
  t1: number;
}

/** Paints the bars of a row into their part of a line. Pixels without bars are left as they are. */
export function paintLine(line: Line, slice: Slice, part: Part, look: Look, out: Told): void {
  const { tile, offset, count } = slice;
  const { start, length, flags } = tile;
  const scale = line.width / (part.view.t1 - part.view.t0);
  const from = Math.max(0, Math.round((part.t0 - part.view.t0) * scale));
  const to = Math.min(line.width, Math.round((part.t1 - part.view.t0) * scale));
  const base = (tile.t0 - part.view.t0) * scale;
  const unit = tile.tick * scale;
  const end = offset + count;
  const first = Math.max(offset, lastStartingBy(tile, offset, count, part.t0));
  let i = first;
  for (; i < end; i++) {
    const left = base + start[i] * unit;
    if (left >= to) break;
    const width = length[i] * unit;
    if (left + width < from) continue;
    if (flags[i] & FLAG_MERGED) {
      addMerged(line, Math.max(from, left), Math.min(to, left + width), tile, i, look);
      continue;
    }
    const x0 = Math.max(from, Math.floor(left));
    const x1 = Math.min(to, Math.floor(left + width));
    if (x1 > x0) {
      fillBar(line, x0, x1, tile, i, look);
      if (x1 - x0 >= out.labelled) out.label(i, x0, x1);
    } else if (x0 < to) addSliver(line, x0, width, tile, i, look);
  }
  flushSlivers(line, from, to, look.palette);
  tallyUp(out.tally, tile, { from: first, to: i }, { t0: part.t0, matched: look.matched });
}

/** Place of a bar's ink among those of the palette. */
function inkOf(tile: Tile, index: number, look: Look): number {
  const name = tile.name[index];
  const dim = look.matched !== null && look.matched[name] !== 1;
  return tile.kind[index] * SHADES + look.shades[name] + (dim ? look.palette.bars.length : 0);
}

function colourOf(ink: number, { bars, dimmed }: Palette): number {
  return ink < bars.length ? bars[ink] : dimmed[ink - bars.length];
}

/** Plain arguments, here and in the next: a hundred thousand bars a frame leave no time for objects. */
function addSliver(line: Line, x: number, width: number, tile: Tile, index: number, look: Look): void {
  const { longest, floor, sliver } = line;
  line.cover[x] += width;
  floor[x] = FAINTEST;
  if (sliver[x] !== 0 && width <= longest[x]) return;
  longest[x] = width;
  sliver[x] = inkOf(tile, index, look) + 1;
}

/** A merged bar covers a share of each pixel that it lies on: buckets are no pixels once the view has moved. */
function addMerged(line: Line, left: number, right: number, tile: Tile, index: number, look: Look): void {
  const { cover, longest, floor, sliver, merged } = line;
  const least = faintest(tile.kind[index]);
  const share = tile.busy[index] / 255;
  const ink = inkOf(tile, index, look) + 1;
  // Even without any length it shows, on the pixel that it begins on.
  const last = Math.max(right, Math.floor(left) + 0.001);
  for (let x = Math.floor(left); x < last; x++) {
    const covered = Math.max(0, Math.min(right, x + 1) - Math.max(left, x)) * share;
    merged[x] = 1;
    cover[x] += covered;
    if (least > floor[x]) floor[x] = least;
    if (sliver[x] !== 0 && covered <= longest[x]) continue;
    longest[x] = covered;
    sliver[x] = ink;
  }
}

function tallyUp(
  tally: Tally,
  tile: Tile,
  bars: { from: number; to: number },
  { t0, matched }: { t0: number; matched: Uint8Array | null },
): void {
  const { events, merged, name } = tile;
  // Of those that start before the part, only the last may reach into it.
  const first = bars.from < bars.to && endOf(tile, bars.from) < t0 ? bars.from + 1 : bars.from;
  tally.events += events[Math.max(first, bars.to)] - events[first];
  tally.merged += merged[Math.max(first, bars.to)] - merged[first];
  if (matched !== null) for (let i = first; i < bars.to; i++) tally.matched += matched[name[i]];
  tally.rects += Math.max(0, bars.to - first);
}

/** Merged bars stay visible, but for idle time: many gaps of no length are a busy device. */
function faintest(kind: number): number {
  return IDLE_KINDS[kind] === 1 ? FAINTEST_IDLE : FAINTEST_MERGED;
}

function fillBar(line: Line, x0: number, x1: number, tile: Tile, index: number, look: Look): void {
  const { background } = look.palette;
  const flags = tile.flags[index];
  const pixels = line.colour;
  const colour = colourOf(inkOf(tile, index, look), look.palette);
  // A loop for the many narrow ones: a call of 'fill' takes longer.
  if (x1 - x0 < SEPARATED) for (let x = x0; x < x1; x++) pixels[x] = colour;
  else pixels.fill(colour, x0, x1);
  if (flags & FLAG_UNFINISHED) {
    for (let x = x0; x < x1; x++) pixels[x] = blend(colour, background, (x - x0) / (x1 - x0));
  } else if (x1 - x0 >= SEPARATED && !(flags & FLAG_CLIPPED_RIGHT)) {
    pixels[x1 - 1] = blend(colour, background, 0.6);
  }
}

/** Slivers fill only what no bar has taken, as strong as they cover the pixel. */
function flushSlivers(line: Line, from: number, to: number, palette: Palette): void {
  const table = shadingsOf(palette);
  const { background } = palette;
  const { colour, cover, longest, floor, sliver } = line;
  for (let x = from; x < to; x++) {
    if (sliver[x] === 0) continue;
    if (colour[x] === background) {
      const share = Math.max(floor[x], Math.min(1, cover[x]));
      colour[x] = table[(sliver[x] - 1) * (PARTS + 1) + Math.round(share * PARTS)];
    }
    cover[x] = 0;
    longest[x] = 0;
    floor[x] = 0;
    sliver[x] = 0;
  }
}

const EDGE = 2;
/** Two pixels of four are left out. */
const PERIOD = 4;

/** Where bars are merged, the lower edge of the row is perforated: nobody shall read single events there. */
export function perforate(pixels: Uint32Array, line: Line, bottom: number, background: number): void {
  const { width, merged } = line;
  for (let y = Math.max(0, bottom - EDGE); y < Math.min(pixels.length / width, bottom); y++) {
    for (let x = 0; x < width; x += PERIOD) {
      if (merged[x] === 1) pixels[y * width + x] = background;
      if (merged[x + 1] === 1) pixels[y * width + x + 1] = background;
    }
  }
}

export function copyLine(pixels: Uint32Array, line: Line, top: number, bottom: number): void {
  const { width } = line;
  const first = Math.max(0, top);
  const last = Math.min(pixels.length / width, bottom);
  if (last <= first) return;
  pixels.set(line.colour, first * width);
  for (let y = first + 1; y < last; y++) pixels.copyWithin(y * width, first * width, (first + 1) * width);
}

const STRIPE = 8;

/** Diagonal stripes: idle time must read as waiting, not as work. */
export function copyHatched(pixels: Uint32Array, line: Line, rows: { top: number; bottom: number }, look: Look): void {
  const { width } = line;
  const { background, pending } = look.palette;
  const last = Math.min(pixels.length / width, rows.bottom);
  for (let y = Math.max(0, rows.top); y < last; y++) {
    const at = y * width;
    for (let x = 0; x < width; x++) {
      const colour = line.colour[x];
      const bare = colour === background || colour === pending;
      pixels[at + x] = bare || ((x + y) & (STRIPE - 1)) < STRIPE / 2 ? colour : blend(colour, background, 0.75);
    }
  }
}

/** Adds what the rows of a folded lane cover of each pixel; `colour` keeps the fullest. */
export function addCover(cover: Float32Array, colour: Uint32Array, slice: Slice, part: Part, look: Look): void {
  const { tile, offset, count } = slice;
  const { view } = part;
  const scale = cover.length / (view.t1 - view.t0);
  const first = Math.max(0, (part.t0 - view.t0) * scale);
  const last = Math.min(cover.length, (part.t1 - view.t0) * scale);
  const end = offset + count;
  for (let i = Math.max(offset, lastStartingBy(tile, offset, count, part.t0)); i < end; i++) {
    const begin = (tile.t0 + tile.start[i] * tile.tick - view.t0) * scale;
    if (begin >= last) break;
    const left = Math.max(first, begin);
    const right = Math.min(last, begin + tile.length[i] * tile.tick * scale);
    const ink = colourOf(inkOf(tile, i, look), look.palette);
    const busy = tile.busy[i] / 255;
    for (let x = Math.floor(left); x < right; x++) {
      const share = Math.min(right, x + 1) - Math.max(left, x);
      cover[x] += share * busy;
      if (share * busy >= 0.5 || colour[x] === 0) colour[x] = ink;
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
