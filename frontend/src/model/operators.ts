/** Groups of operators: what a row is called, and what stands out in a table of them. */
import { type KernelKey, keyColumns, keyOf } from './kernels';
import type { Parameters } from './source';
import type { Bar } from './state';
import { allRows, column, nanoseconds, sum } from './tables';
import type { Cell, Table } from './wire';

export const OPERATOR_LABELS: Record<string, string> = {
  name: 'Operator',
  shapes: 'Operator and input shapes',
  dtype: 'Operator and data types',
  stack: 'Operator and stack',
  source: 'Source line',
  'name,source': 'Operator and source line',
  module: 'Module',
  'name,module': 'Operator and module',
  thread: 'Thread',
  'name,thread': 'Operator and thread',
  phase: 'Phase',
  'name,phase': 'Operator and phase',
};

export const OPERATOR_GROUPINGS = Object.keys(OPERATOR_LABELS);

/** What the one row is called that stands for no operator. */
export const UNOWNED = 'unattributed device work';

/** What stands for a missing part of a key, and for a text that is empty itself. */
export const MISSING_KEYS: Record<string, string> = {
  name: '(no name)',
  module: 'outside all modules',
  shapes: 'no shapes recorded',
  dtype: 'no types recorded',
  stack: 'no stack recorded',
  source: 'no source line recorded',
};

/** Whether a row stands for operators; the one that does not is device work that none owns. */
export function isOwned(table: Table, row: number): boolean {
  return column(table, 'owned')[row] !== false;
}

export function operatorTitle(key: KernelKey, owned: boolean): string {
  if (!owned) return UNOWNED;
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

/** Asks a table about the ops of one row of another: by an op of it, and what makes ops alike there. */
export function alikeParameters(by: string, like: number): Parameters {
  return { op_like: like, alike: by };
}

/** Rows that ran, or launched work, themselves. */
export function ownRows(table: Table): number[] {
  const calls = column(table, 'calls');
  const device = column(table, 'device_self_us');
  return allRows(table).filter((row) => Number(calls[row]) > 0 || Number(device[row]) > 0);
}

/** How a drawer asks for one of the operators in a row: a row of its own, told apart by the key of the outer one as well. */
export function innerBy(by: string): string {
  return by.split(',').includes('name') || by === 'shapes' || by === 'dtype' || by === 'stack' ? by : `name,${by}`;
}

/** A kernel of a row of the operators, as the drawer of kernels lists its calls. */
export function kernelKey(name: string | number | null, by: string, like: number): { by: string; key: KernelKey } {
  return { by: 'name', key: { name, op_like: like, alike: by } };
}

export interface MatrixShare {
  /** Of the kernel time of which names tell, %; null where none does. */
  pct: number | null;
  /** How much that is of the own device work, %; null where copies are in it, so that it cannot be said. */
  of: number | null;
  /** Kernels of which names do not tell, ns. */
  unknown: number;
}

/** How much of an operator's kernels uses the matrix units, and of how much of them that is known. */
export function matrixShare(table: Table, row: number): MatrixShare {
  const number = (name: string) => {
    const value = column(table, name)[row];
    return typeof value === 'number' ? value : null;
  };
  const pct = number('tensor_cores_pct');
  const unknown = number('tensor_cores_unknown_us') ?? 0;
  const own = number('device_self_us') ?? 0;
  const told = own > 0 ? (100 * (own - unknown)) / own : 0;
  const of = unknown === 0 ? 100 : number('copied_gb_per_s') === null ? told : null;
  return { pct, of: pct === null ? 0 : of, unknown: Math.round(unknown * 1e3) };
}

/** Why nothing is known of an operator's operations, or of some of its calls; null where all are known. */
export function whyNoFlops(table: Table, row: number, shapes: boolean): string | null {
  const value = (name: string) => column(table, name)[row];
  const [flops, calls, known] = ['flops', 'calls', 'flops_calls'].map(value);
  if (typeof flops === 'number') {
    return Number(known) < Number(calls)
      ? 'The other calls have shapes or arguments that the formula needs and the file lacks, or that do not fit it.'
      : null;
  }
  if (!shapes) return 'No shapes were recorded (record_shapes=True).';
  return value('tensor_cores_eligible') === true
    ? 'There is no formula for this operator, or the file lacks shapes or arguments that it needs, such as the stride.'
    : 'There is no formula for this operator, or the file lacks its shapes.';
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

export interface Merged {
  table: Table;
  /** Row of the table before that most of each new row is. */
  main: number[];
}

/**
 * Some rows of a table, those of one name as one: figures that add up are added up, the others are of the row that is the
 * largest in the first of them. Where rows differ in `place`, it says in how many.
 */
export function mergeRows(table: Table, rows: number[], by: string, place: string, sums: string[]): Merged {
  const groups = new Map<unknown, number[]>();
  const keys = column(table, by);
  for (const row of rows) {
    const group = groups.get(keys[row]);
    if (group) group.push(row);
    else groups.set(keys[row], [row]);
  }
  const size = column(table, sums[0]);
  const largest = (some: number[]) => some.reduce((a, row) => (Number(size[row]) > Number(size[a]) ? row : a));
  const some = [...groups.values()];
  const main = some.map(largest);
  const data = Object.entries(table.data).map(([name, values]): [string, Cell[]] => {
    if (sums.includes(name)) return [name, some.map((group) => sum(group.map((row) => Number(values[row] ?? 0))))];
    if (name === place)
      return [
        name,
        some.map((group, i) =>
          placeOf(
            group.map((row) => values[row]),
            values[main[i]],
          ),
        ),
      ];
    return [name, main.map((row) => values[row])];
  });
  return { table: { ...table, data: Object.fromEntries(data), rows: some.length }, main };
}

function placeOf(places: Cell[], first: Cell): Cell {
  const count = new Set(places).size;
  return count > 1 ? `${count} places` : first;
}
