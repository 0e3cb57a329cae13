import { describe, expect, it } from 'vitest';
import type { Lane } from '../src/model/wire';
import { COUNTER, foldsOver, HEAD, makeLayout, ROW, stripAt, stripsIn } from '../src/timeline/layout';
import { clampView, fitView, panView, ticks, zoomView } from '../src/timeline/view';

const lane = (id: number, parent: number | null, kind: Lane['kind'], first_row: number, rows: number): Lane => ({
  lane: id,
  parent,
  kind,
  title: `lane ${id}`,
  detail: '',
  device: null,
  first_row,
  rows,
  events: 1,
  busy_ns: 1,
  unit: '',
  low: null,
  high: null,
});

const lanes = [
  lane(0, null, 'gpu', 0, 0),
  lane(1, 0, 'idle', 0, 1),
  lane(2, 0, 'stream', 1, 1),
  lane(3, null, 'process', 2, 0),
  lane(4, 3, 'thread', 2, 3),
];

describe('layout', () => {
  it('puts every row on the canvas once, in order', () => {
    const layout = makeLayout(lanes, new Set());
    expect([...layout.ofRow.keys()]).toEqual([0, 1, 2, 3, 4]);
    expect(layout.strips.map((strip) => strip.kind)).toEqual(['head', 'row', 'row', 'head', 'row', 'row', 'row']);
    const tops = layout.strips.map((strip) => strip.y);
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    expect(layout.height).toBeGreaterThan(2 * HEAD + 5 * ROW);
  });

  it('gives a counter a higher row of its own', () => {
    const layout = makeLayout([lanes[0], lane(1, 0, 'counter', 0, 1), lane(2, 0, 'stream', 1, 1)], new Set());
    expect(layout.ofRow.get(0)?.height).toBe(COUNTER);
    expect(layout.ofRow.get(1)?.height).toBe(ROW);
    expect(layout.boxes[1].foldable).toBe(false);
  });

  it('folds a group to its streams, and a thread to its outermost row', () => {
    const layout = makeLayout(lanes, new Set([0, 4]));
    expect(layout.strips.map((strip) => [strip.kind, strip.rows])).toEqual([
      ['fold', [1]],
      ['head', []],
      ['fold', [2]],
    ]);
    expect(foldsOver(0, lanes, new Set([0, 4]))).toEqual([0]);
    expect(foldsOver(3, lanes, new Set([0, 4]))).toEqual([4]);
  });

  it('finds strips by height', () => {
    const layout = makeLayout(lanes, new Set());
    for (const strip of layout.strips) {
      expect(stripAt(layout, strip.y)).toBe(strip);
      expect(stripAt(layout, strip.y + strip.height - 0.5)).toBe(strip);
    }
    expect(stripAt(layout, layout.height + 5)).toBeNull();
    expect(stripsIn(layout, 0, layout.height)).toHaveLength(layout.strips.length);
  });
});

describe('view', () => {
  const end = 1000_000;
  it('stays inside the recording', () => {
    expect(clampView({ t0: -50, t1: 950 }, end)).toEqual({ t0: 0, t1: 1000 });
    expect(clampView({ t0: 0, t1: 5e6 }, end)).toEqual({ t0: 0, t1: end });
    expect(panView({ t0: 0, t1: 1000 }, -500, end)).toEqual({ t0: 0, t1: 1000 });
  });

  it('zooms around the mouse', () => {
    const view = zoomView({ t0: 1000, t1: 2000 }, 0.5, 1250, end);
    expect(view).toEqual({ t0: 1125, t1: 1625 });
    expect((1250 - view.t0) / (view.t1 - view.t0)).toBe(0.25);
  });

  it('fits with room', () => {
    expect(fitView({ t0: 1000, t1: 2000 }, 0.5, end)).toEqual({ t0: 500, t1: 2500 });
  });

  it('has ticks at 1, 2 or 5, far enough apart', () => {
    const { step, at } = ticks({ t0: 130, t1: 1130 }, 1000);
    expect(step).toBe(200);
    expect(at).toEqual([200, 400, 600, 800, 1000]);
  });
});
