import { describe, expect, it } from 'vitest';
import { blend, palette, SHADES, word } from '../src/lib/colours';
import { FLAG_UNFINISHED } from '../src/model/wire';
import { addCover, copyHatched, copyLine, type Look, paintFolded, paintLine } from '../src/timeline/painter';
import { kindCode, tileOf } from './helpers';

const look: Look = { palette: palette('light'), shades: new Uint8Array(4), matched: null };
const paper = look.palette.background;
const bar = (kind: string) => look.palette.bars[kindCode(kind) * SHADES];
const soft = (kind: string) => blend(bar(kind), paper, 0.6);

function paint(tile: ReturnType<typeof tileOf>, width: number, view = { t0: 0, t1: 100 }, with_ = look) {
  const line = new Uint32Array(width);
  const tally = { rects: 0, events: 0, merged: 0, matched: 0 };
  const labels: [number, number, number][] = [];
  paintLine(line, { tile, offset: 0, count: tile.n }, view, with_, {
    tally,
    label: (i, x0, x1) => labels.push([i, x0, x1]),
  });
  return { line, tally, labels };
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
    tile.count[0] = 312;
    const { line, tally } = paint(tile, 3);
    expect(line[0]).toBe(blend(paper, bar('kernel'), 128 / 255));
    expect(tally).toMatchObject({ events: 312, merged: 312 });
  });

  it('shows only what the view holds, and what is not here yet as pending', () => {
    const tile = tileOf([[0, 100]], { t0: 0, t1: 100 });
    const { line } = paint(tile, 10, { t0: 50, t1: 150 });
    expect([...line.slice(0, 4)]).toEqual(new Array(4).fill(bar('kernel')));
    expect([...line.slice(5)]).toEqual(new Array(5).fill(look.palette.pending));
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

  it('paints a row without data as pending', () => {
    const line = new Uint32Array(4);
    paintLine(line, null, { t0: 0, t1: 1 }, look, {
      tally: { rects: 0, events: 0, merged: 0, matched: 0 },
      label: () => {},
    });
    expect([...line]).toEqual(new Array(4).fill(look.palette.pending));
  });
});

describe('rows of pixels', () => {
  it('are copied to their height, cut at the canvas', () => {
    const pixels = new Uint32Array(2 * 4);
    copyLine(pixels, new Uint32Array([7, 8]), 1, 3);
    expect([...pixels]).toEqual([0, 0, 7, 8, 7, 8, 0, 0]);
    copyLine(pixels, new Uint32Array([5, 6]), 3, 9);
    expect([...pixels.slice(6)]).toEqual([5, 6]);
    copyLine(pixels, new Uint32Array([1, 2]), -5, 0);
    expect(pixels[0]).toBe(0);
  });

  it('are striped where a GPU idles', () => {
    const idle = bar('idle');
    const pixels = new Uint32Array(8 * 2);
    copyHatched(pixels, new Uint32Array(8).fill(idle), { top: 0, bottom: 2 }, look);
    const base = blend(idle, paper, 0.75);
    expect([...pixels.slice(0, 8)]).toEqual([idle, idle, idle, idle, base, base, base, base]);
    expect([...pixels.slice(8)]).toEqual([idle, idle, idle, base, base, base, base, idle]);
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
    addCover(cover, colour, { tile, offset: 0, count: 2 }, { t0: 0, t1: 100 }, look);
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
