import { describe, expect, it } from 'vitest';
import { around, serves, spansOf } from '../src/timeline/critical';

describe('the critical path of what is shown', () => {
  it('is asked for with as much on both sides, within the recording', () => {
    expect(around({ t0: 100, t1: 200 }, 1000)).toEqual({ t0: 0, t1: 300 });
    expect(around({ t0: 800, t1: 1000 }, 1000)).toEqual({ t0: 600, t1: 1001 });
  });

  it('serves views inside that are not much narrower', () => {
    const asked = { t0: 0, t1: 300 };
    expect(serves(asked, { t0: 50, t1: 150 })).toBe(true);
    expect(serves(asked, { t0: 250, t1: 350 })).toBe(false);
    // A fifth of the window: its stretches would be drawn too coarse below.
    expect(serves(asked, { t0: 100, t1: 160 })).toBe(true);
    expect(serves(asked, { t0: 100, t1: 159 })).toBe(false);
    expect(serves(null, { t0: 0, t1: 1 })).toBe(false);
  });

  it('lies on the rows that the server names', () => {
    const path = { start_ns: [0, 10], end_ns: [10, 30], row: [4, null], kind: ['host work', 'compute'], stretches: 2 };
    expect(spansOf(path)).toEqual([
      { t0: 0, t1: 10, row: 4 },
      { t0: 10, t1: 30, row: null },
    ]);
  });
});
