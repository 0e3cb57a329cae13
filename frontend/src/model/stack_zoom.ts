/** Zooming into stacks: to a frame, and into what is too small for a row of its own. */
import type { Parameters } from './source';
import { type Flame, flameOf, nodeOf, resolve, rowOfNode, SMALLER, weights } from './stacks';
import type { FlameForm, FlameWeight, FlameZoom } from './state';
import { column, numbers } from './tables';
import { above } from './tree';
import type { Cell, Table } from './wire';

/** The largest of what is too small comes into at least so many parts. */
const FINER = 40;

/** What the library is asked for a zoom, beside what the whole is asked for. */
export function zoomQuestion(asked: Parameters, zoom: FlameZoom): Parameters {
  const least = zoom.under === null ? asked.min_share_pct : Number((zoom.under / FINER).toPrecision(9));
  return { ...asked, root: zoom.node, min_share_pct: least };
}

/** Stacks as they were asked for. */
export interface Answer {
  asked: Parameters;
  table: Table;
}

/** The stacks of an answer; those of a zoom with what it is about gathered in a row. */
export function flameOfAnswer({ asked, table }: Answer, zoom: FlameZoom | null): Flame {
  const form = asked.form as FlameForm;
  const weight = asked.weight as FlameWeight;
  const totals = weights(table, resolve(table, weight), 'total');
  const whole = sumOf(weights(table, resolve(table, weight), 'self'));
  const root = zoom?.node ?? null;
  const top = root === null ? null : rowOfNode(table, root);
  const least = Math.max((Number(asked.min_share_pct ?? 0) / 100) * (top === null ? whole : totals[top]), 1);
  const group = zoom?.under == null ? null : gather(table, weight, zoom);
  if (!zoom || !group) return { ...flameOf(table, form, weight, least), asked };
  return { ...flameOf(group.table, form, weight, least), asked, group: { row: group.row, zoom } };
}

const sumOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0);

/** The table with a row more, above the children of a node that are too small; null where there are none. */
export function gather(table: Table, asked: FlameWeight, zoom: FlameZoom): { table: Table; row: number } | null {
  const weight = resolve(table, asked);
  const totals = weights(table, weight, 'total');
  const top = zoom.node === null ? null : rowOfNode(table, zoom.node);
  if (zoom.node !== null && top === null) return null;
  const whole = top === null ? sumOf(weights(table, weight, 'self')) : totals[top];
  const limit = ((zoom.under ?? 0) / 100) * whole;
  const names = column(table, 'name');
  const parents = column(table, 'parent');
  const parent = top === null ? null : column(table, 'id')[top];
  const isSmall = (row: number) => names[row] === SMALLER || (names[row] !== null && totals[row] < limit);
  const rows = names.map((_, row) => row).filter((row) => parents[row] === parent && isSmall(row));
  if (rows.length === 0) return null;
  const at = top === null ? 0 : top + 1;
  const id = Math.max(...numbers(table, 'id').map((one) => one ?? 0)) + 1;
  const data = Object.fromEntries(
    Object.entries(table.data).map(([name, values]) => {
      const cells = name === 'parent' ? values.map((one, row) => (rows.includes(row) ? id : one)) : values;
      return [
        name,
        [...cells.slice(0, at), groupCell(table, name, { rows, id, parent, node: zoom.node }), ...cells.slice(at)],
      ];
    }),
  );
  return { table: { ...table, data, rows: table.rows + 1 }, row: at };
}

interface Group {
  rows: number[];
  id: number;
  parent: Cell;
  node: number | null;
}

function groupCell(table: Table, name: string, { rows, id, parent, node }: Group): Cell {
  const fixed: Record<string, Cell> = { id, parent, node, name: SMALLER, nodes: 0 };
  if (name in fixed) return fixed[name];
  const values = numbers(table, name);
  if (/_total_(us|bytes)$|^share_pct$/.test(name)) return sumOf(rows.map((row) => values[row] ?? 0));
  return /_self_(us|bytes)$/.test(name) ? 0 : null;
}

/** What a click on a row zooms to; null where there is nothing to zoom to. */
export function zoomOf(flame: Flame, row: number): FlameZoom | null {
  if (flame.group?.row === row) return flame.group.zoom;
  const node = nodeOf(flame.table, row);
  if (!flame.small.has(row)) return node === null ? null : { node, under: null };
  const top = node === null ? null : rowOfNode(flame.table, node);
  const whole = top === null ? flame.whole : weights(flame.table, flame.weight, 'total')[top];
  return { node, under: Number(Math.min(100, (100 * flame.least) / (whole || 1)).toPrecision(9)) };
}

/** What tells a row in finer stacks of the same. */
export function rowKeys({ table, group, small }: Flame): (row: number) => string {
  const nodes = column(table, 'node');
  return (row) => `${group?.row === row ? 'group' : small.has(row) ? 'small' : 'node'} ${nodes[row]}`;
}

/** Row that a zoom fills the picture with, as far as these stacks tell it; null where they do not. */
export function rowOfZoom({ table, small, group }: Flame, zoom: FlameZoom): number | null {
  if (zoom.under === null) return rowOfNode(table, zoom.node ?? -1);
  if (group && sameZoom(group.zoom, zoom)) return group.row;
  const rows = [...small].filter((row) => row !== group?.row && nodeOf(table, row) === zoom.node);
  return rows[0] ?? null;
}

export function sameZoom(one: FlameZoom | null, other: FlameZoom | null): boolean {
  return one?.node === other?.node && one?.under === other?.under;
}

/** What is drawn: some stacks, and the row of them that fills the width. */
export interface Picture {
  flame: Flame;
  /** What its question had but for the zoom. */
  base: string;
  /** What it was asked for alone; null is the whole. */
  root: FlameZoom | null;
  zoom: FlameZoom | null;
  row: number | null;
}

interface Known {
  base: string;
  zoom: FlameZoom | null;
  /** The answers that are there by now, and the picture before. */
  whole: Flame | null;
  fine: Flame | null;
  before: Picture | null;
}

/** The best picture there is: until the answer to a zoom has come, what is known of it already, else the picture before. */
export function pictureOf({ base, zoom, whole, fine, before }: Known): Picture | null {
  const all = whole && { flame: whole, base, root: null, zoom: null, row: null };
  if (!zoom) return all ?? before;
  // Where there is no such node, or nothing too small, all of it is what there is to see.
  if (fine) return zoomed({ flame: fine, base, root: zoom, zoom, row: null }, zoom) ?? all ?? before;
  const kept = before?.base === base ? before : null;
  // Of the same place there is a finer picture already, though of another search or least share.
  if (!kept && before?.root && sameZoom(before.zoom, zoom)) return before;
  return (kept && zoomed(kept, zoom)) ?? (all && zoomed(all, zoom)) ?? before ?? all;
}

/** A picture zoomed in, as far as it knows all of what that shows. */
function zoomed(picture: Picture, zoom: FlameZoom): Picture | null {
  const row = rowOfZoom(picture.flame, zoom);
  return row !== null && covers(picture, row) ? { ...picture, zoom, row } : null;
}

/** Whether all of a row was asked for: beside and above what a picture was asked for, it is a sum. */
function covers({ flame, root }: Picture, row: number): boolean {
  if (root === null || root.node === null) return true;
  const top = rowOfNode(flame.table, root.node);
  return top !== null && (row === top || above(flame.tree, row).includes(top));
}

/** Width that a frame must have to be seen, px, and the one that it is given where it has not. */
const SEEN_PX = 24;
const GOOD_PX = 60;

/** The least zoom in which a row can be seen; the present one where it can. */
export function zoomToSee(flame: Flame, row: number, now: FlameZoom | null, px: number): FlameZoom | null {
  const { tree, values } = flame;
  const path = [...above(tree, row), row];
  const whole = sumOf(tree.roots.map((one) => values[one])) || 1;
  const width = (from: number | null) => (values[row] / (from === null ? whole : values[from] || 1)) * px;
  const at = now === null ? null : path.find((one) => sameZoom(zoomOf(flame, one), now));
  if (at !== undefined && width(at) >= SEEN_PX) return now;
  const callers = [null, ...path.slice(0, -1)];
  const good = callers.findIndex((one) => width(one) >= GOOD_PX);
  const from =
    good >= 0 ? callers[good] : width(callers[callers.length - 1]) >= SEEN_PX ? callers[callers.length - 1] : row;
  return from === null ? null : zoomOf(flame, from);
}
