export interface Bin {
  low: number;
  high: number;
  count: number;
  total: number;
}

/** Edges at 1, 2 and 5 times the powers of ten, from below `low` to above `high`. */
export function logEdges(low: number, high: number): number[] {
  const edges: number[] = [];
  const first = Math.floor(Math.log10(Math.max(low, 1)));
  const last = Math.ceil(Math.log10(Math.max(high, 1))) + 1;
  for (let power = first; power <= last; power++) {
    for (const step of [1, 2, 5]) edges.push(step * 10 ** power);
  }
  let from = 0;
  while (from + 1 < edges.length && edges[from + 1] <= low) from++;
  let to = edges.length - 1;
  while (to - 1 > from && edges[to - 1] > high) to--;
  return edges.slice(from, to + 1);
}

/** Evenly spaced edges that cover `[low, high]` with round steps. */
export function linearEdges(low: number, high: number, wanted = 24): number[] {
  const step = roundStep(Math.max(high - low, 1) / wanted);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.floor(high / step) + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** The smallest of 1, 2, 5 times a power of ten that is not below `size`. */
export function roundStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  const lead = size / power;
  if (lead <= 1.0000001) return power;
  if (lead <= 2.0000001) return 2 * power;
  return lead <= 5.0000001 ? 5 * power : 10 * power;
}

/** Counts and sums of `values` between the edges; each bin holds `[low, high)`. */
export function histogram(values: number[], edges: number[]): Bin[] {
  const bins = edges.slice(0, -1).map((low, i) => ({ low, high: edges[i + 1], count: 0, total: 0 }));
  for (const value of values) {
    const bin = bins[binOf(edges, value)];
    if (bin) {
      bin.count++;
      bin.total += value;
    }
  }
  return bins;
}

function binOf(edges: number[], value: number): number {
  let low = 0;
  let high = edges.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Lengths in ns as bins; zeros belong to the first. A spread of more than 30 times asks for a log scale. */
export function durationBins(values: number[]): Bin[] {
  if (values.length === 0) return [];
  const positive = values.map((value) => Math.max(1, value));
  const low = positive.reduce((a, b) => Math.min(a, b));
  const high = positive.reduce((a, b) => Math.max(a, b));
  return histogram(positive, high / low > 30 ? logEdges(low, high) : linearEdges(low, high));
}

export function logBins(values: number[]): Bin[] {
  if (values.length === 0) return [];
  const positive = values.map((value) => Math.max(1, value));
  const low = positive.reduce((a, b) => Math.min(a, b));
  const high = positive.reduce((a, b) => Math.max(a, b));
  return histogram(positive, logEdges(low, high));
}

export function median(values: number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Standard deviation as a share of the mean, in percent. */
export function spreadPercent(values: number[]): number | null {
  if (values.length < 2) return null;
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  if (mean === 0) return null;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return (100 * Math.sqrt(variance)) / mean;
}
