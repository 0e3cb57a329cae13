/** Groups of kernels: which columns are keys, what a row is called, and which calls belong to it. */
import type { Parameters } from './source';
import { allRows, column, takeRows } from './tables';
import type { Cell, Kind, Table } from './wire';

export const GROUP_LABELS: Record<string, string> = {
  name: 'Kernel',
  op: 'Operator',
  'name,op': 'Kernel and operator',
  module: 'Module',
  'name,module': 'Kernel and module',
  source: 'Source line',
  'name,source': 'Kernel and source line',
  config: 'Launch configuration',
  stream: 'Stream',
  step: 'Step',
  category: 'Category',
  family: 'Family',
};
export const GROUPINGS = Object.keys(GROUP_LABELS);

/** Communication has its own colour. */
export function kernelKind(category: unknown): Kind {
  return category === 'communication' ? 'communication' : 'kernel';
}

/** The first columns that are figures: the keys of a grouping come before. */
const FIRST_FIGURES = ['owned', 'calls'];
/** A longer text does not fit into an address on the way to the server. */
const LONGEST = 2000;

/** What a row of a grouping is: the backend's key columns, which stand before all others. */
export function keyColumns(table: Table): string[] {
  const names = table.columns.map((one) => one.name);
  const end = names.findIndex((name) => FIRST_FIGURES.includes(name));
  return end < 0 ? names : names.slice(0, end);
}

export type KernelKey = Record<string, string | number | null>;

export function keyOf(table: Table, row: number): KernelKey {
  return Object.fromEntries(keyColumns(table).map((name) => [name, plain(column(table, name)[row])]));
}

function plain(cell: Cell): string | number | null {
  return typeof cell === 'boolean' ? String(cell) : cell;
}

/** Whether the rows of a grouping have a kernel's name. */
export function isNamed(by: string): boolean {
  return by === 'config' || by.split(',').includes('name');
}

/** The longest call of a row: it stands for the row's name. */
export function likeOf(table: Table, row: number): number | null {
  const id = column(table, 'longest_id')[row];
  return typeof id === 'number' ? id : null;
}

/**
 * Parameters of `kernel_calls` that pick the group: an empty value asks for calls without one. A name is asked for by a
 * call that has it.
 */
export function callParameters(key: KernelKey, by: string, like: number | null): Parameters {
  const alike = isNamed(by) && like !== null;
  // A text that is empty itself cannot be asked for.
  const asked = Object.entries(key).filter(([name, value]) => {
    if (name === 'name' && alike) return false;
    return value !== '' && !(typeof value === 'string' && value.length > LONGEST);
  });
  return { ...Object.fromEntries(asked.map(([name, value]) => [name, value ?? ''])), ...(alike ? { like } : {}) };
}

/** Of the calls, those that fit the parts of the key too long to be asked for. */
export function fittingCalls(key: KernelKey, calls: Table): Table {
  const long = ['op', 'module'].filter((name) => String(key[name] ?? '').length > LONGEST);
  if (long.length === 0) return calls;
  return takeRows(
    calls,
    allRows(calls).filter((row) => long.every((name) => calls.data[name]?.[row] === key[name])),
  );
}

export function titleOf(key: KernelKey): string {
  if (typeof key.name === 'string') return key.name;
  if (key.op !== undefined) return String(key.op ?? 'unattributed');
  if (key.module !== undefined) return String(key.module ?? 'outside all modules');
  if (key.source !== undefined) return String(key.source ?? 'no source line known');
  if (key.stream !== undefined) return `GPU ${key.device ?? '—'}, stream ${key.stream ?? '—'}`;
  if (key.step !== undefined) return key.step === null ? 'Outside all steps' : `Step ${key.step}`;
  return String(key.category ?? Object.values(key)[0] ?? '—');
}
