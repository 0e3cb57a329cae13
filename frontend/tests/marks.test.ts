import { describe, expect, it } from 'vitest';
import type { SearchResult } from '../src/model/wire';
import { hitBoxes } from '../src/timeline/hits';
import { parseQuery, sieve } from '../src/timeline/search';
import { type Told, tellBar, tellCounter, tellMerged } from '../src/timeline/tell';

const plain = (text: string) => text.replaceAll('\u202f', '');
const bar: Told = {
  start: 5000,
  length: 200_000,
  kind: 'api_call',
  before: false,
  after: false,
  unfinished: false,
  rough: false,
};

describe('what a bar says', () => {
  it.each([
    [{}, '200.000µs at 5µs · api call'],
    [{ after: true }, 'at least 200.000µs: ends later · api call'],
    [{ before: true, after: true }, 'at least 200.000µs: begins earlier and ends later · api call'],
    [{ unfinished: true }, 'at least 200.000µs at 5µs, its end was not recorded · api call'],
    [{ rough: true, after: true }, 'about 200µs · api call'],
  ])('%j', (what, told) => {
    expect(plain(tellBar({ ...bar, ...what }))).toBe(told);
  });
});

describe('what a merged bar says', () => {
  const merged = { count: 312, share: 0.731, quantum: 40_000, pixels: 1 };
  it.each([
    [{}, '1 px = 40.0µs, 312 events, 73.1% covered; the longest is named'],
    [{ pixels: 2.5, count: 1312 }, '2.50 px = 40.0µs, 1312 events, 73.1% covered; the longest is named'],
  ])('%j', (what, told) => {
    expect(plain(tellMerged({ ...merged, ...what }))).toBe(told);
  });
});

describe('what a counter says', () => {
  it.each([
    [{ low: 12, high: 12, changes: 1 }, 'kernels', '12kernels'],
    [{ low: 3, high: 20, changes: 14 }, '', '3 to 20, 14 changes'],
    [{ low: 0, high: 2 ** 20, changes: 2 }, 'bytes', '0B to 1.00MiB, 2 changes'],
  ])('%j', (reading, unit, told) => {
    expect(plain(tellCounter(reading, unit))).toBe(told);
  });
});

describe('marks of hits', () => {
  const place = (span: { t0: number; t1: number; row: number }) =>
    span.row < 5 ? { x: span.t0, y: span.row * 17, width: span.t1 - span.t0, height: 16 } : null;

  it('lie in the rows of the hits, at least a few pixels wide', () => {
    const list = { start: [10, 40], length: [0, 20], row: [0, 1] };
    expect(hitBoxes(list, 100, place)).toEqual([
      { x: 10, y: 0, width: 3, height: 16 },
      { x: 40, y: 17, width: 20, height: 16 },
    ]);
  });

  it('leave out what is not in sight, and what the mark before covers', () => {
    const list = { start: [-50, 10, 11, 11, 200, 3], length: [10, 10, 2, 2, 5, 1], row: [0, 0, 0, 1, 0, 9] };
    expect(hitBoxes(list, 100, place).map((box) => [box.x, box.y])).toEqual([
      [10, 0],
      [11, 17],
    ]);
  });
});

describe('a long query', () => {
  const names = ['long xx', 'long xy', 'other'];
  const found: SearchResult = {
    total: 5000,
    names: [0, 1],
    hits: { id: [1, 2, 3], name: [0, 1, 0], start_ns: [1, 2, 3], duration_ns: [1, 1, 1], row: [0, 0, 0] },
  };

  it('keeps what the whole text finds of what its start has found', () => {
    const kept = sieve(found, names, parseQuery('"long xy"'));
    expect([kept.total, kept.names, kept.hits.id]).toEqual([1, [1], [2]]);
  });

  it('keeps the count of the server when all names fit', () => {
    expect(sieve(found, names, parseQuery('LONG x')).total).toBe(5000);
  });
});
