/** Groups of kernels: which columns are keys, what a row is called, and which calls belong to it. */
import type { Parameters } from './source';
import { column } from './tables';
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

const FIGURES = ['calls', 'total_us', 'mean_us', 'min_us', 'max_us', 'share_pct'];

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

/** Parameters of `kernel_calls` that pick the group: an empty value asks for calls without one. */
export function callParameters(key: KernelKey): Parameters {
  // A text that is empty itself cannot be asked for.
  const asked = Object.entries(key).filter(([, value]) => value !== '');
  return Object.fromEntries(asked.map(([name, value]) => [name, value ?? '']));
}

export function titleOf(key: KernelKey): string {
  if (typeof key.name === 'string') return key.name;
  if (key.op !== undefined) return String(key.op ?? 'unattributed');
  if (key.stream !== undefined) return `GPU ${key.device ?? '—'}, stream ${key.stream ?? '—'}`;
  if (key.step !== undefined) return key.step === null ? 'Outside all steps' : `Step ${key.step}`;
  return String(key.category ?? Object.values(key)[0] ?? '—');
}
