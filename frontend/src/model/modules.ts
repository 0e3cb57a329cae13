/** The tree of modules, from the table of it. */
import type { Bar } from './state';
import { column, nanoseconds, sum } from './tables';
import { type Tree, treeOf } from './tree';
import type { Cell, Table } from './wire';

export interface Modules {
  table: Table;
  tree: Tree;
  /** Row of the device work outside all modules. */
  outside: number | null;
  /** What a block's width stands for; what is outside all modules has no block. */
  weight: 'device_total_us' | 'host_total_us';
  values: number[];
}

export const OUTSIDE = 'outside all modules';

export function modulesOf(table: Table): Modules {
  const tree = treeOf(table);
  const ids = column(table, table.data.id ? 'id' : 'class');
  const outside = ids.indexOf(null);
  const device = nanoseconds(table, 'device_total_us');
  const some = device.some((value, row) => row !== outside && value !== null && value > 0);
  const weight = some ? 'device_total_us' : 'host_total_us';
  const values = nanoseconds(table, weight).map((value, row) => (row === outside ? 0 : (value ?? 0)));
  return { table, tree, outside: outside < 0 ? null : outside, weight, values };
}

/** All device work: own times of all rows, those outside all modules too. */
export function deviceWork(table: Table): number {
  return sum(nanoseconds(table, 'device_self_us'));
}

export function moduleName({ table, outside }: Modules, row: number): string {
  if (row === outside) return OUTSIDE;
  return String(column(table, table.data.name ? 'name' : 'class')[row] ?? OUTSIDE);
}

/** What a row is chosen by: its number in the tree, or its class. */
export function moduleKey(table: Table, row: number): number | string | null {
  const key: Cell = column(table, table.data.id ? 'id' : 'class')[row];
  return typeof key === 'boolean' ? null : key;
}

export function moduleRow(table: Table, key: number | string | null): number | null {
  const row = column(table, table.data.id ? 'id' : 'class').indexOf(key);
  return row < 0 ? null : row;
}

/** The levels of which each has one row are open, and the one below. */
export function firstOpen(tree: Tree): Set<number> {
  const open = new Set<number>();
  let rows = tree.roots;
  while (rows.length > 0) {
    for (const row of rows) open.add(row);
    if (rows.length > 1) break;
    rows = tree.children[rows[0]];
  }
  return open;
}

export function moduleSort(modules: Modules): Bar {
  return { column: modules.weight, descending: true };
}
