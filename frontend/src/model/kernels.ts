/** Groups of kernels: which columns are keys, what a row is called, and which calls belong to it. */
import type { Parameters } from './source';
import { allRows, column, takeRows } from './tables';
import type { Cell, Table } from './wire';

export const GROUP_LABELS: Record<string, string> = {
  name: 'Kernel',
  op: 'Operator',
  'name,op': 'Kernel and operator',
  config: 'Launch configuration',
  stream: 'Stream',
  step: 'Step',
  category: 'Category',
};

const FIGURES = ['calls', 'total_us', 'mean_us', 'min_us', 'max_us', 'share_pct', 'longest_id'];
/** A longer text does not fit into an address on the way to the server. */
const LONGEST = 2000;

export function keyColumns(table: Table): string[] {
  return table.columns.map((one) => one.name).filter((name) => !FIGURES.includes(name));
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
  const { op } = key;
  if (typeof op !== 'string' || op.length <= LONGEST) return calls;
  return takeRows(
    calls,
    allRows(calls).filter((row) => calls.data.op?.[row] === op),
  );
}

export function titleOf(key: KernelKey): string {
  if (typeof key.name === 'string') return key.name;
  if (key.op !== undefined) return String(key.op ?? 'unattributed');
  if (key.stream !== undefined) return `GPU ${key.device ?? '—'}, stream ${key.stream ?? '—'}`;
  if (key.step !== undefined) return key.step === null ? 'Outside all steps' : `Step ${key.step}`;
  return String(key.category ?? Object.values(key)[0] ?? '—');
}
