/** Trees that come as tables: a row's `parent` is the `id` of the row above it. */
import { column } from './tables';
import type { Table } from './wire';

export interface Tree {
  /** Row of the parent; -1 for roots. */
  parent: number[];
  children: number[][];
  roots: number[];
  depth: number[];
}

export function treeOf(table: Table): Tree {
  const ids = column(table, 'id');
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  const parent = column(table, 'parent').map((id) => (id === null ? -1 : (rowOf.get(id) ?? -1)));
  const children: number[][] = parent.map(() => []);
  const roots: number[] = [];
  const depth: number[] = [];
  parent.forEach((above, row) => {
    // A parent comes before its children; anything else would be a circle.
    const sound = above >= 0 && above < row;
    if (!sound) parent[row] = -1;
    (sound ? children[above] : roots).push(row);
    depth[row] = sound ? depth[above] + 1 : 0;
  });
  return { parent, children, roots, depth };
}

/** Rows from the root down to the parent of a row. */
export function above(tree: Tree, row: number): number[] {
  const found: number[] = [];
  for (let at = tree.parent[row] ?? -1; at >= 0; at = tree.parent[at]) found.push(at);
  return found.reverse();
}

/** Sums of values over a row and all below it. */
export function subtreeSums(tree: Tree, values: number[]): number[] {
  const total = [...values];
  for (let row = total.length - 1; row >= 0; row--) if (tree.parent[row] >= 0) total[tree.parent[row]] += total[row];
  return total;
}

export type RowId = number | string;

/** A row of a tree that is in sight; `R` is what its cells are made of. */
export interface VisibleRow<R = number> {
  row: R;
  id: RowId;
  depth: number;
  open: boolean;
  unfolds: boolean;
  place: number;
  siblings: number;
}

interface UnfoldOptions {
  open: ReadonlySet<RowId>;
  /** Order of siblings. */
  sort: (rows: number[]) => number[];
  /** Only rows that pass, with what is above them. */
  passes: ((row: number) => boolean) | null;
}

/** The rows in sight. A search opens what leads to a row that passes. */
export function unfold(tree: Tree, { open, sort, passes }: UnfoldOptions): VisibleRow[] {
  const kept = passes ? keptRows(tree, passes) : null;
  const result: VisibleRow[] = [];
  const stack: { row: number; place: number; siblings: number }[] = [];
  const push = (rows: number[]) => {
    const shown = sort(kept ? rows.filter((row) => kept.has(row)) : rows);
    for (let i = shown.length - 1; i >= 0; i--) stack.push({ row: shown[i], place: i + 1, siblings: shown.length });
  };
  push(tree.roots);
  for (let next = stack.pop(); next; next = stack.pop()) {
    const below = kept ? tree.children[next.row].filter((row) => kept.has(row)) : tree.children[next.row];
    const isOpen = below.length > 0 && (kept !== null || open.has(next.row));
    result.push({ ...next, id: next.row, depth: tree.depth[next.row], open: isOpen, unfolds: below.length > 0 });
    if (isOpen) push(below);
  }
  return result;
}

function keptRows(tree: Tree, passes: (row: number) => boolean): Set<number> {
  const kept = new Set<number>();
  for (let row = tree.parent.length - 1; row >= 0; row--) {
    if (passes(row)) kept.add(row);
    if (kept.has(row) && tree.parent[row] >= 0) kept.add(tree.parent[row]);
  }
  return kept;
}

/** Where a row of an icicle lies: between two shares of the width, at a level from the top. */
export interface Block {
  row: number;
  level: number;
  from: number;
  to: number;
}

/** A canvas holds so many levels: browsers draw none of a higher one. */
export const MOST_LEVELS = 700;
const LEVELS_ABOVE = 20;

/** The levels that a picture can have, from a little above what is zoomed to; and how many there are more. */
export function withinReach(blocks: Block[], zoom: number | null): { blocks: Block[]; left: number } {
  const levels = blocks.reduce((most, block) => Math.max(most, block.level + 1), 0);
  if (levels <= MOST_LEVELS) return { blocks, left: 0 };
  const at = zoom === null ? 0 : (blocks.find((block) => block.row === zoom)?.level ?? 0);
  const first = Math.max(0, at - LEVELS_ABOVE);
  const kept = blocks.filter(({ level }) => first <= level && level < first + MOST_LEVELS);
  return { blocks: kept.map((block) => ({ ...block, level: block.level - first })), left: levels - MOST_LEVELS };
}

/**
 * Lays a tree out with the widest first. What is above a `zoom`ed row takes the whole width. Children that come to more
 * than their parent, as the recorder's rounding may have it, share its width. Rows of a higher `rank` come later, however
 * wide.
 */
export function layOut(
  tree: Tree,
  values: number[],
  zoom: number | null,
  rank: (row: number) => number = () => 0,
): Block[] {
  const path = zoom === null ? [] : above(tree, zoom);
  const blocks: Block[] = path.map((row, level) => ({ row, level, from: 0, to: 1 }));
  const spread = (rows: number[], whole: number, { level, from, to }: Omit<Block, 'row'>) => {
    const order = rows
      .filter((row) => values[row] > 0)
      .sort((a, b) => rank(a) - rank(b) || values[b] - values[a] || a - b);
    const sum = order.reduce((total, row) => total + values[row], 0);
    const each = (to - from) / Math.max(whole, sum, Number.MIN_VALUE);
    let at = from;
    for (const row of order) {
      const block = { row, level, from: at, to: at + values[row] * each };
      at = block.to;
      blocks.push(block);
      waiting.push(block);
    }
  };
  const waiting: Block[] = [];
  const whole = (rows: number[]) => rows.reduce((total, row) => total + values[row], 0);
  const roots = zoom === null ? tree.roots : [zoom];
  spread(roots, whole(roots), { level: path.length, from: 0, to: 1 });
  for (let next = waiting.pop(); next; next = waiting.pop())
    spread(tree.children[next.row], values[next.row], { ...next, level: next.level + 1 });
  return blocks;
}
