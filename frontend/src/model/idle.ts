/** The tree of idle time: cause → module → op → source line, or the other way round. */
import { causeOrder, causeTerm } from '../lib/causes';
import { sourceLabel, tame } from '../lib/names';
import type { Parameters } from './source';
import { type Filter, filterParameters, type IdleKey, type TreeOrder } from './state';
import { column, nanoseconds, numbers, texts } from './tables';
import type { RowId, VisibleRow } from './tree';
import type { Cell, Table } from './wire';

export type Level = keyof IdleKey;

const LEVELS: Record<TreeOrder, Level[]> = {
  cause: ['cause', 'module', 'op', 'source'],
  source: ['source', 'op', 'module', 'cause'],
};

export const LEVEL_WORDS: Record<Level, { title: string; none: string }> = {
  cause: { title: 'cause', none: 'no cause' },
  module: { title: 'module', none: 'outside modules' },
  op: { title: 'operator', none: 'outside operators' },
  source: { title: 'source', none: 'no source line' },
};

export interface IdleNode {
  /** What all its segments agree in, outermost first. */
  key: IdleKey;
  id: string;
  level: Level;
  value: string | null;
  depth: number;
  total: number;
  count: number;
  longest: number;
  longestGap: number | null;
  longestStart: number | null;
  /** ns by cause. */
  causes: Map<string, number>;
  children: IdleNode[];
}

export interface IdleTree {
  levels: Level[];
  roots: IdleNode[];
  total: number;
}

export const keyId = (key: IdleKey): string => JSON.stringify(key);

/** Levels that tell anything: one at which no row has a value is left out. */
export function levelsOf(table: Table, order: TreeOrder): Level[] {
  return LEVELS[order].filter((level) => level === 'cause' || column(table, level).some((value) => value !== null));
}

interface Asked {
  order: TreeOrder;
  device: number | null;
  /** Which leaves count, by all that they agree in; null for all. */
  passes: ((text: string) => boolean) | null;
}

/** Builds the tree of the leaves that `idle_tree` lists. */
export function buildTree(table: Table, { order, device, passes }: Asked): IdleTree {
  const levels = levelsOf(table, order);
  const values = levels.map((level) => column(table, level));
  const devices = numbers(table, 'device');
  const figures = leafFigures(table);
  const tree: IdleTree = { levels, roots: [], total: 0 };
  const known = new Map<string, IdleNode>();
  for (let row = 0; row < table.rows; row++) {
    if (device !== null && devices[row] !== device) continue;
    const path = values.map((cells) => textOrNull(cells[row]));
    if (passes && !passes(path.map((value, depth) => searchText(levels[depth], value)).join('\n'))) continue;
    tree.total += figures.total[row] ?? 0;
    for (const node of addPath(tree, known, path)) addLeaf(node, figures, row);
  }
  return tree;
}

function searchText(level: Level, value: string | null): string {
  return `${nodeLabel({ level, value })}\n${value ?? ''}`;
}

/** The nodes from the root to a leaf, new ones where there are none yet. */
function addPath(tree: IdleTree, known: Map<string, IdleNode>, path: (string | null)[]): IdleNode[] {
  let siblings = tree.roots;
  let key: IdleKey = {};
  return path.map((value, depth) => {
    const level = tree.levels[depth];
    key = { ...key, [level]: value };
    const id = keyId(key);
    let node = known.get(id);
    if (!node) {
      node = emptyNode({ key, id, level, value, depth });
      known.set(id, node);
      siblings.push(node);
    }
    siblings = node.children;
    return node;
  });
}

function leafFigures(table: Table): Figures {
  return {
    cause: texts(table, 'cause'),
    total: nanoseconds(table, 'total_us'),
    count: numbers(table, 'count'),
    longest: nanoseconds(table, 'longest_us'),
    gap: numbers(table, 'longest_gap'),
    start: nanoseconds(table, 'longest_start_us'),
  };
}

function textOrNull(cell: Cell): string | null {
  return cell === null ? null : String(cell);
}

function emptyNode(place: Pick<IdleNode, 'key' | 'id' | 'level' | 'value' | 'depth'>): IdleNode {
  const figures = { total: 0, count: 0, longest: -1, longestGap: null, longestStart: null };
  return { ...place, ...figures, causes: new Map(), children: [] };
}

interface Figures {
  cause: string[];
  total: (number | null)[];
  count: (number | null)[];
  longest: (number | null)[];
  gap: (number | null)[];
  start: (number | null)[];
}

function addLeaf(node: IdleNode, figures: Figures, row: number): void {
  const time = figures.total[row] ?? 0;
  node.total += time;
  node.causes.set(figures.cause[row], (node.causes.get(figures.cause[row]) ?? 0) + time);
  addStretches(node, figures, row);
}

function addStretches(node: IdleNode, figures: Figures, row: number): void {
  node.count += figures.count[row] ?? 0;
  const longest = figures.longest[row] ?? 0;
  if (longest <= node.longest) return;
  node.longest = longest;
  node.longestGap = figures.gap[row];
  node.longestStart = figures.start[row];
}

/**
 * Takes count and longest of the outermost level from `idle` by that level: leaves are cut where op or source change,
 * so that a stretch of one cause is many leaves.
 */
export function withStretches(tree: IdleTree, summed: Table | null, device: number | null): IdleTree {
  const level = tree.levels[0];
  if (!summed || summed.data[level] === undefined) return tree;
  const own = new Map(tree.roots.map((node) => [node.value, { ...node, count: 0, longest: -1 }]));
  const figures = leafFigures(summed);
  const devices = numbers(summed, 'device');
  column(summed, level).forEach((cell, row) => {
    const node = own.get(textOrNull(cell));
    if (!node || (device !== null && devices[row] !== device)) return;
    addStretches(node, figures, row);
  });
  return { ...tree, roots: [...own.values()] };
}

export function nodeLabel(node: { level: Level; value: string | null }): string {
  if (node.value === null) return LEVEL_WORDS[node.level].none;
  return valueLabel(node.level, node.value);
}

export function valueLabel(level: Level, value: string): string {
  if (level === 'cause') return causeTerm(value).title;
  if (level === 'module') return value.replace(/^nn\.Module: (?=.)/, '');
  if (level === 'source') return sourceLabel(value) ?? tame(value);
  return tame(value) || '(no name)';
}

export type TreeSort = (a: IdleNode, b: IdleNode) => number;

export const SORTS: Record<string, TreeSort> = {
  total: (a, b) => a.total - b.total,
  count: (a, b) => a.count - b.count,
  longest: (a, b) => a.longest - b.longest,
  name: (a, b) => nodeLabel(a).localeCompare(nodeLabel(b)),
};

interface Unfolding {
  open: ReadonlySet<RowId>;
  sort: TreeSort;
  descending: boolean;
  /** What was searched for: rows that do not match by themselves are open, so that those that do can be seen. */
  passes: ((text: string) => boolean) | null;
}

/** Rows in sight, in order. */
export function unfold(tree: IdleTree, how: Unfolding): VisibleRow<IdleNode>[] {
  const rows: VisibleRow<IdleNode>[] = [];
  const sign = how.descending ? -1 : 1;
  const visit = (nodes: IdleNode[], above: string) => {
    const sorted = [...nodes].sort((a, b) => sign * how.sort(a, b) || b.total - a.total);
    sorted.forEach((node, i) => {
      const text = how.passes ? `${above}\n${searchText(node.level, node.value)}` : '';
      const around = how.passes !== null && !how.passes(text);
      const unfolds = node.children.length > 0;
      const open = unfolds && (around || how.open.has(node.id));
      const { id, depth } = node;
      rows.push({ row: node, id, depth, open, unfolds, place: i + 1, siblings: sorted.length });
      if (open) visit(node.children, text);
    });
  };
  visit(tree.roots, '');
  return rows;
}

/** A longer text does not fit into an address on the way to the server. */
const LONGEST = 2000;

/** Parameters of `idle_segments` that pick the segments of a row; what cannot be asked for is left to `fits`. */
export function segmentParameters(key: IdleKey, device: number | null, narrowed: Filter | null): Parameters {
  const asked = Object.entries(key).filter(([, value]) => value === null || (value !== '' && value.length <= LONGEST));
  return {
    ...Object.fromEntries(asked.map(([name, value]) => [name, value ?? ''])),
    ...(device === null ? {} : { device }),
    ...filterParameters(narrowed),
  };
}

/** ns that each gap spends in the segments of a row, by the gap's number. */
export function timeByGap(segments: Table, key: IdleKey): Map<number, number> {
  const wanted = Object.entries(key).map(([name, value]) => ({ values: column(segments, name), value }));
  const lengths = nanoseconds(segments, 'duration_us');
  const found = new Map<number, number>();
  numbers(segments, 'gap').forEach((gap, row) => {
    if (gap === null || !wanted.every(({ values, value }) => values[row] === value)) return;
    found.set(gap, (found.get(gap) ?? 0) + (lengths[row] ?? 0));
  });
  return found;
}

export interface CauseTotal {
  cause: string;
  total: number;
  count: number;
}

/** Idle time by cause of one device or of all, most first. */
export function causeTotals(table: Table, device: number | null): CauseTotal[] {
  const devices = numbers(table, 'device');
  const totals = nanoseconds(table, 'total_us');
  const counts = numbers(table, 'count');
  const found = new Map<string, CauseTotal>();
  texts(table, 'cause').forEach((cause, row) => {
    if (device !== null && devices[row] !== device) return;
    const one = found.get(cause) ?? { cause, total: 0, count: 0 };
    one.total += totals[row] ?? 0;
    one.count += counts[row] ?? 0;
    found.set(cause, one);
  });
  return [...found.values()].sort((a, b) => b.total - a.total || causeOrder(a.cause) - causeOrder(b.cause));
}

/** By what sums over a recording are divided, and how that reads: a step, a GPU, a step of a GPU. */
export interface Per {
  divisor: number;
  /** `a step`, or nothing. */
  words: string;
}

export function perStep(steps: number, devices: number, narrowed: Filter | null): Per {
  const divided = narrowed === null && steps > 1 ? steps : 1;
  const words = [divided > 1 && 'step', devices > 1 && 'GPU'].filter(Boolean).map((word) => `a ${word}`);
  return { divisor: divided * Math.max(1, devices), words: words.join(' and ') };
}
