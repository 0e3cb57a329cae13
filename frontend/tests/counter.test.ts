import { describe, expect, it } from 'vitest';
import { encodeTile, type Step } from '../dev/mock/tile';
import { blend, palette, SHADES } from '../src/lib/colours';
import { decodeTile, type TileRow } from '../src/model/tile';
import { addExtremes, boundsOf, makeExtremes, paintCounter, readingAt } from '../src/timeline/counter';
import { linesOf } from '../src/timeline/path';
import { kindCode } from './helpers';

const step = (start: number, low: number, high = low, changes = 1): Step => ({ row: 0, start, low, high, changes });

function sliceOf(steps: Step[], window = { t0: 0, t1: 100 }) {
  const tile = decodeTile(encodeTile([], [0], window, 10, { steps }));
  return { tile, ...(tile.rows.get(0) as TileRow) };
}

describe('a counter', () => {
  const view = { t0: 0, t1: 100 };

  it('holds each value until the next, and keeps least and most where they share a pixel', () => {
    const values = makeExtremes(10);
    const slice = sliceOf([step(20, 5), step(40, 1, 9, 7), step(50, 3, 3, 0), step(75, 8)]);
    addExtremes(values, slice, { view, ...view });
    const none = Number.NaN;
    expect([...values.low]).toEqual([none, none, 5, 5, 1, 3, 3, 3, 8, 8]);
    expect([...values.high]).toEqual([none, none, 5, 5, 9, 3, 3, 8, 8, 8]);
  });

  it('keeps to its part of the view', () => {
    const values = makeExtremes(10);
    addExtremes(values, sliceOf([step(0, 5)]), { view, t0: 30, t1: 50 });
    expect([...values.low].map((value) => (Number.isNaN(value) ? '' : value))).toEqual([
      '',
      '',
      '',
      5,
      5,
      '',
      '',
      '',
      '',
      '',
    ]);
  });

  it('says what it shows at a time; nothing before the first value and where none is known', () => {
    const slice = sliceOf([step(20, 5), step(40, 1, 9, 7), step(50, Number.NaN)]);
    expect(readingAt(slice, 10)).toBeNull();
    expect(readingAt(slice, 39)).toEqual({ low: 5, high: 5, changes: 1 });
    expect(readingAt(slice, 45)).toEqual({ low: 1, high: 9, changes: 7 });
    expect(readingAt(slice, 60)).toBeNull();
  });

  it('is as high as its value, with a band from the least to the most', () => {
    const colours = palette('light');
    const ink = colours.bars[kindCode('counter') * SHADES];
    const band = blend(colours.background, ink, 0.45);
    const pixels = new Uint32Array(3 * 4);
    const values = { low: Float64Array.of(4, 1, Number.NaN), high: Float64Array.of(4, 3, Number.NaN) };
    paintCounter(pixels, { top: 0, bottom: 4 }, values, { low: 0, high: 4 }, colours);
    expect([...pixels]).toEqual([ink, 0, 0, ink, band, 0, ink, band, 0, ink, ink, 0]);
  });

  it.each([
    [0, 8, { low: 0, high: 8 }],
    [3, 8, { low: 0, high: 8 }],
    [-2, -1, { low: -2, high: 0 }],
    [0, 0, { low: 0, high: 1 }],
    [null, null, { low: 0, high: 1 }],
  ])('from %j to %j is drawn between %j', (low, high, bounds) => {
    expect(boundsOf({ low, high })).toEqual(bounds);
  });
});

describe('a path', () => {
  it('goes along each box and over to the next that is drawn', () => {
    const box = (x: number, y: number, width: number) => ({ x, y, width, height: 10 });
    expect(linesOf([box(0, 0, 5), null, box(8, 20, 4)])).toEqual([
      { x0: 0, y0: 5, x1: 5, y1: 5 },
      { x0: 5, y0: 5, x1: 8, y1: 25 },
      { x0: 8, y0: 25, x1: 12, y1: 25 },
    ]);
    expect(linesOf([null])).toEqual([]);
  });
});
