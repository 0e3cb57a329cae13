/** Encodes tiles as the plugin does, the slow and plain way. */
import { KINDS } from '../../src/model/wire';

export interface Bar {
  row: number;
  start: number;
  end: number;
  id: number;
  name: number;
  kind: string;
}

interface Merged extends Bar {
  count: number;
  busy: number;
  longest: number;
}

export function expandRows(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}

/** All bars as the server counts them: by row, then by time. */
export function inOrder(bars: Bar[]): Bar[] {
  return [...bars].sort((a, b) => a.row - b.row || a.start - b.start);
}

/** Short neighbours of one bucket become one bar, as wide as the bucket. */
function mergeRow(bars: Bar[], quantum: number): Merged[] {
  const merged: Merged[] = [];
  let bucket = -1;
  for (const bar of bars) {
    const length = bar.end - bar.start;
    const own = Math.floor(bar.start / quantum);
    const last = merged[merged.length - 1];
    if (last && length < quantum && own === bucket && last.longest < quantum) {
      last.end = Math.max(last.end, bar.end);
      last.count++;
      last.busy += length;
      if (length > last.longest) Object.assign(last, { longest: length, id: bar.id, name: bar.name, kind: bar.kind });
    } else merged.push({ ...bar, count: 1, busy: length, longest: length });
    bucket = length < quantum ? own : -1;
  }
  return merged.map((bar, i) => (bar.count > 1 ? snapped(bar, merged[i - 1], merged[i + 1], quantum) : bar));
}

function snapped(bar: Merged, before: Merged | undefined, after: Merged | undefined, quantum: number): Merged {
  const bucket = Math.floor(bar.start / quantum) * quantum;
  const low = before && before.count === 1 ? Math.max(bucket, before.end) : bucket;
  const start = Math.min(low, bar.start);
  return { ...bar, start, end: Math.max(start, Math.min(bucket + quantum, after?.start ?? Number.POSITIVE_INFINITY)) };
}

/** Points of a counter: start, least, most, and how many changes each stands for. */
export interface Step {
  row: number;
  start: number;
  low: number;
  high: number;
  changes: number;
}

interface Window {
  t0: number;
  t1: number;
}

/** A tile; `tick` is what a unit of time stands for, `steps` are the points of counters among the rows. */
export function encodeTile(
  bars: Bar[],
  rows: number[],
  window: Window,
  px: number,
  more: { tick?: number; steps?: Step[] } = {},
): ArrayBuffer {
  const { t0, t1 } = window;
  const quantum = (t1 - t0) / px;
  let tick = more.tick ?? 1;
  while ((t1 - t0) / tick > 2 ** 32 - 1) tick *= 2;
  const every = inOrder(bars);
  const seen = rows.map((row) => every.filter((bar) => bar.row === row && bar.end > t0 && bar.start < t1));
  const byRow = seen.map((own) => mergeRow(own, quantum));
  const steps = rows.map((row) => (more.steps ?? []).filter((step) => step.row === row));
  const columns = [...barColumns(byRow, window, tick), ...stepColumns(steps, t0, tick)];
  const planes = columns.map(planesOf);
  const [n, m] = [byRow.flat().length, steps.flat().length];
  const head = new ArrayBuffer(64 + rows.length * 16);
  const view = new DataView(head);
  [...'KTL2'].forEach((letter, i) => {
    view.setUint8(i, letter.charCodeAt(0));
  });
  [n, rows.length, 2].forEach((value, i) => {
    view.setUint32(4 + 4 * i, value, true);
  });
  [t0, t1, quantum, tick].forEach((value, i) => {
    view.setFloat64(16 + 8 * i, value, true);
  });
  view.setUint32(48, m, true);
  planes.forEach((one, i) => {
    view.setUint8(52 + i, one.length);
  });
  rows.forEach((row, i) => {
    const entry = seen[i].length > 0 ? every.indexOf(seen[i][0]) : 0;
    [row, byRow[i].length, entry, steps[i].length].forEach((value, place) => {
      view.setUint32(64 + 16 * i + 4 * place, value, true);
    });
  });
  const values = ['low', 'high'].map((key) => Float64Array.from(steps.flat(), (step) => step[key as 'low' | 'high']));
  return joined([new Uint8Array(head), ...planes.flat(), ...values.map((one) => new Uint8Array(one.buffer))]);
}

function barColumns(byRow: Merged[][], window: Window, tick: number): number[][] {
  const columns: number[][] = [[], [], [], [], [], [], [], []];
  let id = 0;
  for (const bars of byRow) {
    let last = 0;
    for (const bar of bars) {
      const start = Math.floor((Math.max(window.t0, bar.start) - window.t0) / tick);
      const end = Math.floor((Math.min(window.t1, bar.end) - window.t0) / tick);
      const step = bar.count > 1 ? 0 : bar.id - id;
      [start - last, end - start, step, ...restOf(bar, window)].forEach((value, column) => {
        columns[column].push(value);
      });
      id += step;
      last = end;
    }
  }
  return columns;
}

/** Name, count, kind, busy share and flags, as they are written. */
function restOf(bar: Merged, { t0, t1 }: Window): number[] {
  const kind = KINDS.indexOf(bar.kind as never);
  const share = Math.min(255, Math.round((255 * bar.busy) / Math.max(1, bar.end - bar.start)));
  if (bar.count > 1) return [bar.name, bar.count - 1, kind, share, 1];
  return [bar.name, 0, kind, 255, (bar.start < t0 ? 2 : 0) | (bar.end > t1 ? 4 : 0)];
}

function stepColumns(steps: Step[][], t0: number, tick: number): number[][] {
  const starts = steps.flatMap((row) => {
    const ticks = row.map((step) => Math.floor((step.start - t0) / tick));
    return ticks.map((at, i) => (i > 0 ? at - ticks[i - 1] : at));
  });
  return [starts, steps.flat().map((step) => step.changes)];
}

/** The lowest bytes of all numbers, then the next ones, up to the last that are not 0 throughout. */
function planesOf(column: number[]): Uint8Array[] {
  const words = Uint32Array.from(column, (value) => value >>> 0);
  const planes = [0, 8, 16, 24].map((shift) => Uint8Array.from(words, (word) => (word >>> shift) & 0xff));
  while (planes.length > 0 && planes[planes.length - 1].every((octet) => octet === 0)) planes.pop();
  return planes;
}

function joined(parts: Uint8Array[]): ArrayBuffer {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}
