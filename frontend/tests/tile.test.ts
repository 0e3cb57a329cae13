import { describe, expect, it } from 'vitest';
import { encodeTile } from '../dev/mock/tile';
import { decodeTile, endOf, entryOf, lastStartingBy, NO_ID, rowRanges, startOf } from '../src/model/tile';
import { tileOf } from './helpers';

const none = { offset: 0, count: 0 };
const bar = (row: number, start: number, end: number, id: number) => ({ row, start, end, id, name: 3, kind: 'memcpy' });

describe('decodeTile', () => {
  it('reads header, row table and columns', () => {
    const tile = decodeTile(
      encodeTile([bar(4, 10, 30, 7), bar(6, 0, 50, 8), bar(6, 60, 90, 9)], [4, 5, 6], { t0: 0, t1: 100 }, 100),
    );
    expect([tile.n, tile.t0, tile.t1, tile.quantum, tile.tick]).toEqual([3, 0, 100, 1, 1]);
    expect([...tile.rows]).toEqual([
      [4, { offset: 0, count: 1, entry: 0, points: none }],
      [5, { offset: 1, count: 0, entry: 0, points: none }],
      [6, { offset: 1, count: 2, entry: 1, points: none }],
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

  it('tells merged bars by their bucket, and which events they stand for', () => {
    const bars = [bar(0, 1, 2, 5), bar(1, 10, 30, 6), bar(1, 41, 43, 7), bar(1, 45, 46, 9), bar(1, 70, 90, 8)];
    const tile = decodeTile(encodeTile(bars, [1], { t0: 0, t1: 100 }, 10));
    expect([0, 1, 2].map((i) => [startOf(tile, i), endOf(tile, i), tile.count[i]])).toEqual([
      [10, 30, 1],
      [40, 50, 2],
      [70, 90, 1],
    ]);
    expect([...tile.id]).toEqual([6, NO_ID, 8]);
    expect([0, 1, 2].map((i) => entryOf(tile, 1, i))).toEqual([1, 2, 4]);
    expect(tile.busy[1]).toBe(Math.round(255 * 0.3));
  });

  it('reads times and ids beyond 16 bits, and ids that go back', () => {
    const bars = [bar(0, 100_000, 300_000, 4_000_000_000), bar(0, 900_000, 901_000, 70_000)];
    const tile = decodeTile(encodeTile(bars, [0], { t0: 0, t1: 1e6 }, 1000));
    expect([...tile.start]).toEqual([100_000, 900_000]);
    expect([...tile.length]).toEqual([200_000, 1000]);
    expect([...tile.id]).toEqual([4_000_000_000, 70_000]);
  });

  it('reads points of counters', () => {
    const steps = [
      { row: 1, start: 0, low: 2, high: 2, changes: 0 },
      { row: 1, start: 300, low: 1, high: 9.5, changes: 4 },
      { row: 2, start: 70, low: -1, high: -1, changes: 1 },
    ];
    const tile = decodeTile(encodeTile([bar(0, 10, 30, 7)], [0, 1, 2], { t0: 0, t1: 1000 }, 100, { steps }));
    expect(tile.rows.get(1)?.points).toEqual({ offset: 0, count: 2 });
    expect(tile.rows.get(2)?.points).toEqual({ offset: 2, count: 1 });
    expect([...tile.points.start]).toEqual([0, 300, 70]);
    expect([...tile.points.low]).toEqual([2, 1, -1]);
    expect([...tile.points.high]).toEqual([2, 9.5, -1]);
    expect([...tile.points.changes]).toEqual([0, 4, 1]);
  });

  it('refuses what is no tile, or cut short', () => {
    expect(() => decodeTile(new ArrayBuffer(64))).toThrow('no timeline tile');
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
