import { describe, expect, it } from 'vitest';
import { encodeTile } from '../dev/mock/tile';
import { decodeTile, endOf, lastStartingBy, rowRanges, startOf } from '../src/model/tile';
import { tileOf } from './helpers';

const bar = (row: number, start: number, end: number, id: number) => ({ row, start, end, id, name: 3, kind: 'memcpy' });

describe('decodeTile', () => {
  it('reads header, row table and columns', () => {
    const tile = decodeTile(
      encodeTile([bar(4, 10, 30, 7), bar(6, 0, 50, 8), bar(6, 60, 90, 9)], [4, 5, 6], { t0: 0, t1: 100 }, 100),
    );
    expect([tile.n, tile.t0, tile.t1, tile.quantum, tile.tick]).toEqual([3, 0, 100, 1, 1]);
    expect([...tile.rows]).toEqual([
      [4, { offset: 0, count: 1 }],
      [5, { offset: 1, count: 0 }],
      [6, { offset: 1, count: 2 }],
    ]);
    expect([...tile.id]).toEqual([7, 8, 9]);
    expect([...tile.name]).toEqual([3, 3, 3]);
    expect([...tile.kind]).toEqual([5, 5, 5]);
    expect([...tile.busy]).toEqual([255, 255, 255]);
    expect([startOf(tile, 2), endOf(tile, 2)]).toEqual([60, 90]);
  });

  it('keeps times exact to a tick when the window is longer than 32 bits of nanoseconds', () => {
    const tile = decodeTile(encodeTile([bar(0, 6e9, 9e9, 1)], [0], { t0: 0, t1: 1e10 }, 100));
    expect(tile.tick).toBe(4);
    expect(startOf(tile, 0)).toBe(6e9);
    expect(endOf(tile, 0)).toBe(9e9);
  });

  it('cuts at the window and flags it', () => {
    const tile = decodeTile(encodeTile([bar(0, 0, 100, 1)], [0], { t0: 20, t1: 60 }, 40));
    expect([startOf(tile, 0), endOf(tile, 0), tile.flags[0]]).toEqual([20, 60, 2 | 4]);
  });

  it('refuses what is no tile, or cut short', () => {
    expect(() => decodeTile(new ArrayBuffer(48))).toThrow('no timeline tile');
    const whole = encodeTile([bar(0, 0, 9, 1)], [0], { t0: 0, t1: 10 }, 10);
    expect(() => decodeTile(whole.slice(0, whole.byteLength - 1))).toThrow('bytes');
  });
});

describe('lastStartingBy', () => {
  const tile = tileOf([
    [10, 20],
    [30, 40],
    [50, 60],
  ]);
  it.each([
    [5, -1],
    [10, 0],
    [29, 0],
    [30, 1],
    [99, 2],
  ])('at %i finds %i', (time, index) => {
    expect(lastStartingBy(tile, 0, 3, time)).toBe(index);
  });
});

describe('rowRanges', () => {
  it('joins neighbours', () => {
    expect(rowRanges([7, 1, 2, 3, 3, 9, 10])).toBe('1-3,7,9-10');
    expect(rowRanges([])).toBe('');
  });
});
