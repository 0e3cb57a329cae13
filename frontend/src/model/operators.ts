/** Groups of operators: what a row is called, and what stands out in a table of them. */
import { type KernelKey, keyColumns, keyOf } from './kernels';
import type { Bar } from './state';
import { allRows, column, nanoseconds, sum } from './tables';
import type { Table } from './wire';

export const OPERATOR_LABELS: Record<string, string> = {
  name: 'Operator',
  shapes: 'Operator and input shapes',
  dtype: 'Operator and data types',
  stack: 'Operator and stack',
  module: 'Module',
  'name,module': 'Operator and module',
  thread: 'Thread',
  'name,thread': 'Operator and thread',
  phase: 'Phase',
  'name,phase': 'Operator and phase',
};

/** What stands for a missing part of a key. */
export const MISSING_KEYS: Record<string, string> = {
  name: 'unattributed device work',
  module: 'outside all modules',
  shapes: 'no shapes recorded',
  dtype: 'no types recorded',
  stack: 'no stack recorded',
};

/** Whether a row stands for operators; the one that does not is device work that none owns. */
export function isOwned(table: Table, row: number): boolean {
  return column(table, 'owned')[row] !== false;
}

export function operatorTitle(key: KernelKey, owned: boolean): string {
  if (!owned) return MISSING_KEYS.name;
  const [name, value] = Object.entries(key)[0] ?? ['name', null];
  return value === null || value === '' ? (MISSING_KEYS[name] ?? '—') : String(value);
}

/** Device work comes first where there is some. */
export function defaultSort(table: Table): Bar {
  const works = column(table, 'device_self_us').some((value) => Number(value) > 0);
  return { column: works ? 'device_self_us' : 'host_self_us', descending: true };
}

export interface Sums {
  calls: number;
  host: number;
  device: number;
  /** Device work that no operator owns. */
  unowned: number;
}

/** Sums over rows, ns. Own times add up to all there is; totals do not. */
export function sumsOf(table: Table, rows: number[] = allRows(table)): Sums {
  const add = (values: (number | null)[], some = rows) => sum(some.map((row) => values[row]));
  const device = nanoseconds(table, 'device_self_us');
  return {
    calls: add(column(table, 'calls').map(Number)),
    host: add(nanoseconds(table, 'host_self_us')),
    device: add(device),
    unowned: add(
      device,
      rows.filter((row) => !isOwned(table, row)),
    ),
  };
}

/** The row of a key; of a key that an address cut short, the one with its longest call. */
export function rowOf(table: Table, key: KernelKey, like: number | null): number | null {
  const shown = JSON.stringify(key);
  const rows = allRows(table);
  const same = rows.find((row) => JSON.stringify(keyOf(table, row)) === shown);
  if (same !== undefined) return same;
  const alike = like !== null && Object.keys(key).length < keyColumns(table).length;
  return (alike ? rows.find((row) => column(table, 'longest_id')[row] === like) : undefined) ?? null;
}

/** Rows of another table about the same thing. */
export function rowsWith(table: Table, name: string, value: unknown): number[] {
  const values = column(table, name);
  return allRows(table).filter((row) => values[row] === value);
}

/** Rows whose path is at or below one. */
export function rowsBelow(table: Table, name: string, path: string): number[] {
  const values = column(table, name);
  return allRows(table).filter((row) => values[row] === path || String(values[row] ?? '').startsWith(`${path}/`));
}

/** The table with the paths of a column as seen from one of them. */
export function relative(table: Table, name: string, path: string): Table {
  const seen = column(table, name).map((value) =>
    typeof value === 'string' && value.startsWith(`${path}/`) ? value.slice(path.length + 1) : null,
  );
  return { ...table, data: { ...table.data, [name]: seen } };
}
