import { describe, expect, it } from 'vitest';
import { type Bar, encodeTile, expandRows } from '../dev/mock/tile';
import type { Source } from '../src/model/source';
import { TileStore } from '../src/timeline/tiles';

const END = 1_000_000;
const of = { trace: 'a', fix: null };

interface Asked {
  rows: number[];
  t0: number;
  t1: number;
  px: number;
}

/** A store over rows of 100 bars each, and what it has asked for. */
function storeOf(rows = 20) {
  const asked: Asked[] = [];
  const bars: Bar[] = [];
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < 100; i++)
      bars.push({ row, start: i * 10_000, end: i * 10_000 + 5000, id: row * 100 + i, name: 0, kind: 'op' });
  const tile: Source['tile'] = async (_, window, px) => {
    const wanted = { rows: expandRows(window.rows), t0: window.t0, t1: window.t1, px };
    asked.push(wanted);
    return encodeTile(bars, wanted.rows, window, px);
  };
  const store = new TileStore({ tile } as Source, of, END, {
    arrived: () => {},
    failed: (error) => {
      throw error;
    },
  });
  return { store, asked };
}

const settle = () => new Promise((done) => setTimeout(done, 90));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('the store of tiles', () => {
  it('asks for the rows in sight first, three windows wide, and for those around them once they are there', async () => {
    const { store, asked } = storeOf();
    const wanted = { rows: range(0, 5), view: { t0: 400_000, t1: 500_000 }, width: 100 };
    store.want(wanted, range(0, 12));
    await settle();
    expect(asked).toEqual([{ rows: range(0, 5), t0: 300_000, t1: 600_000, px: 300 }]);
    store.want(wanted, range(0, 12));
    await settle();
    expect(asked[1].rows).toEqual(range(5, 12));
    store.want(wanted, range(0, 12));
    await settle();
    expect(asked.length).toBe(2);
  });

  it('asks for nothing while the view stays within what was read', async () => {
    const { store, asked } = storeOf();
    store.want({ rows: [0, 1], view: { t0: 400_000, t1: 500_000 }, width: 100 }, [0, 1]);
    await settle();
    store.want({ rows: [0, 1], view: { t0: 350_000, t1: 450_000 }, width: 100 }, [0, 1]);
    await settle();
    expect(asked.length).toBe(1);
    store.want({ rows: [1, 2], view: { t0: 350_000, t1: 450_000 }, width: 100 }, [1, 2]);
    await settle();
    expect(asked[1].rows).toEqual([2]);
  });

  it('keeps what is coarse in sight until what is fine has come, and beside it', async () => {
    const { store } = storeOf();
    const whole = { t0: 0, t1: END };
    store.want({ rows: [0], view: whole, width: 10 }, [0]);
    await settle();
    const close = { t0: 400_000, t1: 500_000 };
    expect(store.pieces(0, close, 100).map(({ slice, t0, t1 }) => [slice?.tile.t0, t0, t1])).toEqual([
      [0, 400_000, 500_000],
    ]);
    store.want({ rows: [0], view: close, width: 10 }, [0]);
    await settle();
    const moved = { t0: 550_000, t1: 650_000 };
    expect(store.pieces(0, moved, 10).map(({ slice, t0, t1 }) => [slice?.tile.t0, t0, t1])).toEqual([
      [300_000, 550_000, 600_000],
      [0, 600_000, 650_000],
    ]);
    expect(store.sliceAt(0, 640_000, moved, 10)?.tile.t0).toBe(0);
    expect(store.pieces(7, moved, 10)).toEqual([{ slice: null, ...moved }]);
  });
});
