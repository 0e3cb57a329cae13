import { describe, expect, it } from 'vitest';
import { blend, palette, SHADES, word } from '../src/lib/colours';
import type { Tile, TileRow } from '../src/model/tile';
import { FLAG_UNFINISHED } from '../src/model/wire';
import {
  addCover,
  copyHatched,
  copyLine,
  Line,
  type Look,
  paintFolded,
  paintLine,
  perforate,
  type Slice,
} from '../src/timeline/painter';
import { kindCode, tileOf } from './helpers';

const look: Look = { palette: palette('light'), shades: new Uint8Array(4), matched: null };
const paper = look.palette.background;
const bar = (kind: string) => look.palette.bars[kindCode(kind) * SHADES];
const soft = (kind: string) => blend(bar(kind), paper, 0.6);

const sliceOf = (tile: Tile): Slice => ({ tile, ...(tile.rows.get(0) as TileRow) });

function lineOf(width: number, colours: number[] = new Array(width).fill(paper)): Line {
  const line = new Line(width);
  line.colour.set(colours);
  return line;
}

function paint(tile: Tile, width: number, view = { t0: 0, t1: 100 }, with_ = look, part = view) {
  const line = lineOf(width);
  const tally = { rects: 0, events: 0, merged: 0, matched: 0 };
  const labels: [number, number, number][] = [];
  paintLine(line, sliceOf(tile), { view, ...part }, with_, {
    tally,
    labelled: 1,
    label: (i, x0, x1) => labels.push([i, x0, x1]),
  });
  return { line: line.colour, merged: line.merged, tally, labels };
}

describe('paintLine', () => {
  it('writes each bar on its pixels, with a soft last one between neighbours', () => {
    const { line, tally, labels } = paint(
      tileOf([
        [0, 50, 0, 'kernel'],
        [50, 90, 1, 'memcpy'],
      ]),
      10,
    );
    const kernel = bar('kernel');
    const copy = bar('memcpy');
    expect([...line]).toEqual([
      kernel,
      kernel,
      kernel,
      kernel,
      soft('kernel'),
      copy,
      copy,
      copy,
      soft('memcpy'),
      paper,
    ]);
    expect(tally).toEqual({ rects: 2, events: 2, merged: 0, matched: 0 });
    expect(labels).toEqual([
      [0, 0, 5],
      [1, 5, 9],
    ]);
  });

  it('shades a pixel by how much of it is covered, and never loses an event', () => {
    const { line } = paint(
      tileOf([
        [10, 18],
        [50, 50.4],
      ]),
      10,
    );
    expect(line[1]).toBe(blend(paper, bar('kernel'), 0.8));
    expect(line[5]).toBe(blend(paper, bar('kernel'), 0.35));
  });

  it('shades merged bars by their busy share', () => {
    const tile = tileOf([[0, 100]]);
    tile.flags[0] |= 1;
    tile.busy[0] = 128;
    tile.events[1] = 312;
    tile.merged[1] = 312;
    const { line, merged, tally } = paint(tile, 3);
    expect(line[0]).toBe(blend(paper, bar('kernel'), 128 / 255));
    expect(tally).toMatchObject({ events: 312, merged: 312 });
    expect([...merged]).toEqual([1, 1, 1]);
  });

  it('spreads merged bars over the pixels that they lie on, and shows those of no length', () => {
    const tile = tileOf([
      [5, 15],
      [15, 25],
      [60, 60],
    ]);
    tile.flags.fill(1);
    tile.busy.fill(255);
    const { line } = paint(tile, 10);
    const half = blend(paper, bar('kernel'), 0.5);
    expect([...line.slice(0, 4)]).toEqual([half, bar('kernel'), half, paper]);
    expect(line[6]).toBe(blend(paper, bar('kernel'), 0.15));
  });

  it('shows only what the view holds', () => {
    const { line } = paint(tileOf([[0, 100]], { t0: 0, t1: 100 }), 10, { t0: 50, t1: 150 });
    expect([...line.slice(0, 4)]).toEqual(new Array(4).fill(bar('kernel')));
    expect([...line.slice(5)]).toEqual(new Array(5).fill(paper));
  });

  it('keeps to its part of the view, and counts what is in it', () => {
    const tile = tileOf([
      [0, 20],
      [30, 70],
      [80, 100],
    ]);
    const { line, tally } = paint(tile, 10, undefined, look, { t0: 40, t1: 60 });
    const kernel = bar('kernel');
    expect([...line]).toEqual([paper, paper, paper, paper, kernel, kernel, paper, paper, paper, paper]);
    expect(tally.rects).toBe(1);
  });

  it('dims what the search does not match', () => {
    const matched = new Uint8Array([0, 1]);
    const { line, tally } = paint(
      tileOf([
        [0, 30, 0],
        [50, 80, 1],
      ]),
      10,
      undefined,
      { ...look, matched },
    );
    expect(line[0]).toBe(look.palette.dimmed[kindCode('kernel') * SHADES]);
    expect(line[5]).toBe(bar('kernel'));
    expect(tally.matched).toBe(1);
  });

  it('fades out what never finished', () => {
    const tile = tileOf([[0, 100]]);
    tile.flags[0] |= FLAG_UNFINISHED;
    const { line } = paint(tile, 10);
    expect(line[0]).toBe(bar('kernel'));
    expect(line[9]).toBe(blend(bar('kernel'), paper, 0.9));
  });

  it('leaves nothing behind from the row before', () => {
    paint(tileOf([[10, 14]]), 10);
    const { line } = paint(tileOf([[90, 94]]), 10);
    expect(line[1]).toBe(paper);
  });
});

describe('rows of pixels', () => {
  it('are copied to their height, cut at the canvas', () => {
    const pixels = new Uint32Array(2 * 4);
    copyLine(pixels, lineOf(2, [7, 8]), 1, 3);
    expect([...pixels]).toEqual([0, 0, 7, 8, 7, 8, 0, 0]);
    copyLine(pixels, lineOf(2, [5, 6]), 3, 9);
    expect([...pixels.slice(6)]).toEqual([5, 6]);
    copyLine(pixels, lineOf(2, [1, 2]), -5, 0);
    expect(pixels[0]).toBe(0);
  });

  it('are striped where a GPU idles', () => {
    const idle = bar('idle');
    const pixels = new Uint32Array(8 * 2);
    copyHatched(pixels, lineOf(8, new Array(8).fill(idle)), { top: 0, bottom: 2 }, look);
    const base = blend(idle, paper, 0.75);
    expect([...pixels.slice(0, 8)]).toEqual([idle, idle, idle, idle, base, base, base, base]);
    expect([...pixels.slice(8)]).toEqual([idle, idle, idle, base, base, base, base, idle]);
  });

  it('are perforated below where bars are merged', () => {
    const line = lineOf(6, new Array(6).fill(7));
    line.merged.set([1, 1, 1, 1, 0, 1]);
    const pixels = new Uint32Array(6 * 3).fill(7);
    perforate(pixels, line, 3, 0);
    expect([...pixels]).toEqual([7, 7, 7, 7, 7, 7, 0, 0, 7, 7, 7, 0, 0, 0, 7, 7, 7, 0]);
  });

  it('of a folded lane are as high as the lane is busy', () => {
    const cover = new Float32Array(2);
    const colour = new Uint32Array(2);
    const tile = tileOf(
      [
        [0, 50],
        [50, 75],
      ],
      { t0: 0, t1: 100 },
      1000,
    );
    addCover(cover, colour, sliceOf(tile), { view: { t0: 0, t1: 100 }, t0: 0, t1: 100 }, look);
    expect([...cover]).toEqual([1, 0.5]);
    const pixels = new Uint32Array(2 * 4);
    paintFolded(pixels, { top: 0, bottom: 4, height: 4 }, cover, colour, paper);
    const ink = bar('kernel');
    expect([...pixels]).toEqual([ink, paper, ink, paper, ink, ink, ink, ink]);
  });
});

it('keeps colours in the order of canvas memory', () => {
  expect(word('#0b66c3').toString(16)).toBe('ffc3660b');
});
