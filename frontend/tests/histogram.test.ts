import { describe, expect, it } from 'vitest';
import {
  durationBins,
  histogram,
  linearEdges,
  logBins,
  logEdges,
  median,
  roundStep,
  spreadPercent,
} from '../src/lib/histogram';

describe('bins', () => {
  it('hold every value once', () => {
    const values = [1, 3, 900, 1500, 1999, 2000, 4_000_000, 0];
    for (const bins of [logBins(values), durationBins(values)]) {
      expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(values.length);
    }
  });

  it('are closed below and open above', () => {
    expect(histogram([10, 19, 20, 49], [10, 20, 50]).map((bin) => [bin.count, bin.total])).toEqual([
      [2, 29],
      [2, 69],
    ]);
  });

  it('have edges at 1, 2 and 5', () => {
    expect(logEdges(150, 9000)).toEqual([100, 200, 500, 1000, 2000, 5000, 10000]);
    const edges = linearEdges(12, 95, 8);
    expect(edges[0]).toBeLessThanOrEqual(12);
    expect(edges[edges.length - 1]).toBeGreaterThan(95);
    expect(new Set(edges.slice(1).map((edge, i) => edge - edges[i])).size).toBe(1);
  });

  it('of nothing are none', () => {
    expect(logBins([])).toEqual([]);
    expect(durationBins([])).toEqual([]);
  });
});

describe('statistics', () => {
  it('round steps up to 1, 2 or 5', () => {
    expect([0.3, 1, 1.1, 2, 4, 6, 99].map(roundStep)).toEqual([0.5, 1, 2, 2, 5, 10, 100]);
  });

  it('have a middle and a spread', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([])).toBeNull();
    expect(spreadPercent([90, 110])).toBe(10);
    expect(spreadPercent([5])).toBeNull();
  });
});
