/** Call stacks as a tree to draw: which weight a block's width stands for, and what a frame is. */
import { effect, signal } from '@preact/signals';
import { duration, exactBytes, exactTime, memorySize } from '../lib/format';
import { sourceLabel } from '../lib/names';
import type { Parameters } from './source';
import {
  eventTime,
  type FlameForm,
  type FlameStackless,
  type FlameWeight,
  type FlameZoom,
  filter,
  flameFrames,
  flameThread,
  flameZoom,
  type Selection,
  selection,
  selectionParameters,
  within,
} from './state';
import { column, nanoseconds, numbers, sum, texts } from './tables';
import { subtreeSums, type Tree, treeOf } from './tree';
import type { Kind, Table } from './wire';

export type Weight = Exclude<FlameWeight, 'auto'>;

export const WEIGHT_WORDS: Record<Weight, string> = {
  device: 'Device work',
  host: 'Host time',
  idle: 'Idle time',
  allocated: 'Allocated bytes',
};

export const ALL_WEIGHTS = Object.keys(WEIGHT_WORDS) as Weight[];

export interface Flame {
  table: Table;
  tree: Tree;
  weight: Weight;
  names: string[];
  /** What a block's width stands for, ns or bytes. */
  values: number[];
  whole: number;
  /** Row of what has no stack; null where there is nothing of that. */
  stackless: number | null;
  /** Rows that stand for what is too small for one of its own. */
  small: ReadonlySet<number>;
  /** What is too small in this table has less than this. */
  least: number;
  /** The row that gathers what a zoom into too small ones shows. */
  group: { row: number; zoom: FlameZoom } | null;
  /** Weights that some frame has any of. */
  known: Weight[];
  /** What was asked for: the page may ask for something else by now. */
  asked?: Parameters;
}

/** What the page of stacks draws. */
export const flameShown = signal<Flame | null>(null);

export const columnOf = (weight: Weight, part: 'self' | 'total') =>
  `${weight}_${part}_${weight === 'allocated' ? 'bytes' : 'us'}`;

/** A weight of each row, ns or bytes. */
export function weights(table: Table, weight: Weight, part: 'self' | 'total'): number[] {
  const name = columnOf(weight, part);
  return (weight === 'allocated' ? numbers(table, name) : nanoseconds(table, name)).map((value) => value ?? 0);
}

/** The weight that `auto` stands for: device work where there is some. */
export function resolve(table: Table, asked: FlameWeight): Weight {
  if (asked !== 'auto') return asked;
  return weights(table, 'device', 'self').some((value) => value > 0) ? 'device' : 'host';
}

/**
 * Totals of the frames of a file contain each other, so that a file is as wide as its frames' own values; in the other
 * forms a block is as wide as what it contains.
 */
export function flameOf(table: Table, form: FlameForm, asked: FlameWeight, least = 0): Flame {
  const weight = resolve(table, asked);
  const tree = treeOf(table);
  const values = form === 'file' ? subtreeSums(tree, weights(table, weight, 'self')) : weights(table, weight, 'total');
  const names = allNames(table);
  const whole = tree.roots.reduce((sum, row) => sum + values[row], 0);
  const named = column(table, 'name');
  const stackless = tree.roots.find((row) => named[row] === null && values[row] > 0) ?? null;
  const small = new Set(names.map((_, row) => row).filter((row) => named[row] === SMALLER));
  return {
    table,
    tree,
    weight,
    names,
    values,
    whole,
    stackless,
    small,
    least,
    group: null,
    known: knownWeights(table),
  };
}

/** What every question about stacks has in common. */
export function stacksQuestion(): Parameters {
  return { frames: flameFrames.value, thread: flameThread.value, ...selectionParameters(filter.value) };
}

/** Number of a row's node in the whole tree; of what is too small, that of the node above. */
export function nodeOf(table: Table, row: number): number | null {
  const node = column(table, 'node')[row];
  return typeof node === 'number' ? node : null;
}

/** The longest call of a row's place; null where none is known. */
export function eventAt(table: Table, row: number): number | null {
  const id = column(table, 'longest_id')[row];
  return typeof id === 'number' ? id : null;
}

/** The longest call of the row of a name. */
export function eventOf(table: Table, name: string): number | null {
  const row = column(table, 'name').lastIndexOf(name);
  return row < 0 ? null : eventAt(table, row);
}

/** Row of a node; null where it has none of its own. */
export function rowOfNode(table: Table, node: number): number | null {
  const names = column(table, 'name');
  const row = column(table, 'node').findIndex((one, at) => one === node && names[at] !== SMALLER);
  return row < 0 ? null : row;
}

/** Row of the frame that is told about, at its place; null where it has none here. */
export function chosenRow(table: Table, what: Selection | null): number | null {
  if (what?.kind !== 'frame') return null;
  if (what.name === null || what.node === undefined) {
    const first = column(table, 'name').indexOf(what.name);
    return first < 0 ? null : first;
  }
  const row = rowOfNode(table, what.node);
  return row !== null && column(table, 'name')[row] === what.name ? row : null;
}

/** The frame without its place. */
function placeless(what: Selection | null): Selection | null {
  return what?.kind === 'frame' && what.node !== undefined ? { kind: 'frame', name: what.name } : what;
}

/** Numbers of nodes mean nothing in another tree. */
export function forgetPlaces(): void {
  flameZoom.value = null;
  selection.value = placeless(selection.peek());
}

/** Forgets places when another time is chosen: their numbers mean nothing in its tree. */
export function followSelection(): () => void {
  const now = () => ({
    asked: JSON.stringify([filter.value, within.value]),
    zoom: flameZoom.value,
    what: selection.value,
    time: eventTime.value,
  });
  let before = now();
  return effect(() => {
    const next = now();
    const turned = next.asked !== before.asked;
    // An address that holds both changes both.
    if (turned && next.zoom === before.zoom) flameZoom.value = null;
    if (turned && next.what === before.what) selection.value = placeless(next.what);
    if (turned && next.time === before.time) eventTime.value = null;
    before = { ...now(), asked: next.asked };
  });
}

/** Whether what has no stack is left out: by itself, where it is more than half. It never is where it is all. */
export function hidesStackless({ stackless, values, whole }: Flame, asked: FlameStackless): boolean {
  if (stackless === null || values[stackless] >= whole) return false;
  return asked === 'auto' ? values[stackless] > whole / 2 : asked === 'hidden';
}

/** The stacks alone; shares stay those of the whole. */
export function withoutStackless(flame: Flame): Flame {
  const roots = flame.tree.roots.filter((row) => row !== flame.stackless);
  const values = flame.values.map((value, row) => (row === flame.stackless ? 0 : value));
  return { ...flame, tree: { ...flame.tree, roots }, values, stackless: null };
}

export function knownWeights(table: Table): Weight[] {
  return ALL_WEIGHTS.filter((one) => weights(table, one, 'self').some((value) => value > 0));
}

export const NO_STACK = 'without a stack';
/** Name of the rows that stand for what is too small for one of its own. */
export const SMALLER = '(smaller)';

function allNames(table: Table): string[] {
  return column(table, 'name').map((name) => (name === null ? NO_STACK : frameLabel(String(name))));
}

/** `/home/ada/train.py(81): main` → `main (train.py:81)`: what is called tells most. The colour tells modules. */
export function frameLabel(name: string): string {
  const [, rest] = /^.{1,4096}?\(\d+\): (.+)$/s.exec(name) ?? [];
  const place = sourceLabel(name);
  if (rest === undefined || place === null) return name.replace(/^nn\.Module: (?=.)/, '');
  return `${rest} (${place.split(' (')[0]})`;
}

/** Frames of Python, of modules, operators, and sums of what is left out. */
export function frameKind(table: Table, row: number): Kind {
  const name = column(table, 'name')[row];
  if (name === null || name === SMALLER) return 'other';
  const text = String(name);
  if (column(table, 'line')[row] !== null || text.startsWith('<built-in')) return 'python';
  if (text.startsWith('nn.Module: ')) return 'op';
  return /^\w+::/.test(text) ? 'kernel' : 'annotation';
}

export const KIND_WORDS: [Kind, string][] = [
  ['python', 'Python'],
  ['op', 'Module'],
  ['kernel', 'Operator'],
  ['annotation', 'Annotation, file'],
];

export function weightText(weight: Weight, value: number): string {
  return weight === 'allocated' ? memorySize(value) : duration(value);
}

export function weightExact(weight: Weight, value: number): string {
  return weight === 'allocated' ? exactBytes(value) : exactTime(value);
}

export interface Sums {
  self: Record<Weight, number>;
  total: Record<Weight, number>;
}

const ofEach = (value: (weight: Weight) => number) =>
  Object.fromEntries(ALL_WEIGHTS.map((weight) => [weight, value(weight)])) as Record<Weight, number>;

/** All of each weight. */
export function wholes(table: Table): Record<Weight, number> {
  return ofEach((weight) => sum(weights(table, weight, 'self')));
}

/** Figures of one row; a file's own ones are those of its frames. */
export function placeSums({ table, tree }: Pick<Flame, 'table' | 'tree'>, row: number, form: FlameForm): Sums {
  const own = form === 'file' ? [row, ...tree.children[row]] : [row];
  return {
    self: ofEach((weight) => {
      const values = weights(table, weight, 'self');
      return sum(own.map((one) => values[one]));
    }),
    total: ofEach((weight) => weights(table, weight, 'total')[row]),
  };
}

export interface FrameSums extends Sums {
  /** Rows of the name. */
  rows: number[];
  file: string | null;
  line: number | null;
}

/** Figures of all frames of a name; what is nested in its like counts once. */
export function sumsOfFrame({ table, tree }: Pick<Flame, 'table' | 'tree'>, name: string): FrameSums {
  const names = texts(table, 'name');
  const rows = names.map((_, row) => row).filter((row) => names[row] === name);
  const outer = rows.filter((row) => {
    for (let at = tree.parent[row]; at >= 0; at = tree.parent[at]) if (names[at] === name) return false;
    return true;
  });
  const add = (part: 'self' | 'total', some: number[]) =>
    ofEach((weight) => {
      const values = weights(table, weight, part);
      return sum(some.map((row) => values[row]));
    });
  const first = rows[0];
  const file = first === undefined ? null : column(table, 'file')[first];
  const line = first === undefined ? null : column(table, 'line')[first];
  return {
    self: add('self', rows),
    total: add('total', outer),
    rows,
    file: typeof file === 'string' ? file : null,
    line: typeof line === 'number' ? line : null,
  };
}

/** An address that an editor opens, only for a path that is one on this system. */
export function editorLink(file: string, line: number): string | null {
  const absolute = /^\/[^/]/.test(file) || /^[A-Za-z]:[\\/]/.test(file);
  if (!absolute) return null;
  const path = file
    .replaceAll('\\', '/')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^([A-Za-z])%3A/, '/$1:');
  return `vscode://file${path}:${line}`;
}
