/** The critical path, summed by kind or by event. */
import { nanoseconds, numbers, texts } from './tables';
import type { Table } from './wire';

export interface PathRow {
  kind: string;
  side: string;
  /** Event; `''` where the rows are kinds, or nothing was recorded. */
  name: string;
  count: number;
  total: number;
  longest: number;
  longestId: number | null;
  share: number | null;
  /** The most that a step could gain if all this took no time, ns. */
  gain: number;
}

export function readPath(table: Table): PathRow[] {
  const kind = texts(table, 'kind');
  const side = texts(table, 'side');
  const name = texts(table, 'name');
  const count = numbers(table, 'count');
  const total = nanoseconds(table, 'total_us');
  const longest = nanoseconds(table, 'longest_us');
  const id = numbers(table, 'longest_id');
  const share = numbers(table, 'share_pct');
  const gain = nanoseconds(table, 'gain_us');
  return kind.map((_, row) => ({
    kind: kind[row],
    side: side[row],
    name: name[row],
    count: count[row] ?? 0,
    total: total[row] ?? 0,
    longest: longest[row] ?? 0,
    longestId: id[row],
    share: share[row],
    gain: gain[row] ?? 0,
  }));
}

/** Length of the path of a step, in the mean: gains are totals by periods, and add up to it. */
export function periodOf(rows: PathRow[]): number {
  return rows.reduce((sum, row) => sum + row.gain, 0);
}
