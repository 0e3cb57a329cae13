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

/** Short neighbours of one bucket become one bar. */
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
  return merged;
}

export function encodeTile(bars: Bar[], rows: number[], window: { t0: number; t1: number }, px: number): ArrayBuffer {
  const { t0, t1 } = window;
  const quantum = (t1 - t0) / px;
  let tick = 1;
  while ((t1 - t0) / tick > 2 ** 32 - 1) tick *= 2;
  const byRow = rows.map((row) =>
    mergeRow(
      bars.filter((bar) => bar.row === row && bar.end > t0 && bar.start < t1),
      quantum,
    ),
  );
  const all = byRow.flat();
  const n = all.length;
  const buffer = new ArrayBuffer(48 + rows.length * 8 + n * 24);
  const view = new DataView(buffer);
  [0x4b, 0x54, 0x4c, 0x31].forEach((byte, i) => {
    view.setUint8(i, byte);
  });
  [n, rows.length, 1].forEach((value, i) => {
    view.setUint32(4 + 4 * i, value, true);
  });
  [t0, t1, quantum, tick].forEach((value, i) => {
    view.setFloat64(16 + 8 * i, value, true);
  });
  rows.forEach((row, i) => {
    view.setUint32(48 + 8 * i, row, true);
    view.setUint32(52 + 8 * i, byRow[i].length, true);
  });
  const base = 48 + rows.length * 8;
  all.forEach((bar, i) => {
    const start = Math.max(t0, bar.start);
    const end = Math.min(t1, bar.end);
    const words = [(start - t0) / tick, (end - start) / tick, bar.id, bar.name, bar.count];
    words.forEach((value, column) => {
      view.setUint32(base + (column * n + i) * 4, Math.round(value), true);
    });
    const flags = (bar.count > 1 ? 1 : 0) | (bar.start < t0 ? 2 : 0) | (bar.end > t1 ? 4 : 0);
    const busy = Math.round((255 * bar.busy) / Math.max(1, bar.end - bar.start));
    const octets = [KINDS.indexOf(bar.kind as never), Math.min(255, busy), flags, 0];
    octets.forEach((value, column) => {
      view.setUint8(base + 20 * n + column * n + i, value);
    });
  });
  return buffer;
}
