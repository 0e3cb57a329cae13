/** Where each row of events is drawn: lanes into strips, one below the other. Pure. */
import type { Lane } from '../model/wire';

export const ROW = 17;
export const HEAD = 22;
/** Height of a counter's lane. */
export const COUNTER = 36;
const LANE_GAP = 4;

/** `head`: a group's title. `row`: one row of events. `fold`: several rows as one strip of utilization. */
export interface Strip {
  kind: 'head' | 'row' | 'fold';
  lane: Lane;
  rows: number[];
  y: number;
  height: number;
}

export interface LaneBox {
  lane: Lane;
  depth: number;
  y: number;
  height: number;
  foldable: boolean;
  folded: boolean;
}

export interface Layout {
  strips: Strip[];
  boxes: LaneBox[];
  height: number;
  ofRow: Map<number, Strip>;
}

/** The rows that say whether a folded lane worked: a group's are the outermost rows of its lanes. */
function foldedRows(lane: Lane, lanes: Lane[]): number[] {
  if (lane.rows > 0) return [lane.first_row];
  const inside = lanes.filter((one) => one.parent === lane.lane && one.rows > 0);
  const working = lane.kind === 'gpu' ? inside.filter((one) => one.kind === 'stream') : inside;
  return working.map((one) => one.first_row);
}

export function makeLayout(lanes: Lane[], folded: ReadonlySet<number>): Layout {
  const strips: Strip[] = [];
  const boxes: LaneBox[] = [];
  const byId = new Map(lanes.map((lane) => [lane.lane, lane]));
  let y = 0;
  const add = (kind: Strip['kind'], lane: Lane, rows: number[], height: number) => {
    strips.push({ kind, lane, rows, y, height });
    y += height;
  };
  for (const lane of lanes) {
    const depth = depthOf(lane, byId);
    if (isHidden(lane, byId, folded)) continue;
    const top = y;
    const isFolded = folded.has(lane.lane);
    const foldable = lane.rows !== 1;
    if (isFolded && foldable) add('fold', lane, foldedRows(lane, lanes), HEAD);
    else if (lane.rows === 0) add('head', lane, [], HEAD);
    else for (let i = 0; i < lane.rows; i++) add('row', lane, [lane.first_row + i], rowHeight(lane));
    boxes.push({ lane, depth, y: top, height: y - top, foldable, folded: isFolded && foldable });
    if (lane.rows > 0) y += LANE_GAP;
  }
  return { strips, boxes, height: y, ofRow: indexRows(strips) };
}

function rowHeight(lane: Lane): number {
  return lane.kind === 'counter' ? COUNTER : ROW;
}

function indexRows(strips: Strip[]): Map<number, Strip> {
  const ofRow = new Map<number, Strip>();
  for (const strip of strips) for (const row of strip.rows) ofRow.set(row, strip);
  return ofRow;
}

function depthOf(lane: Lane, byId: Map<number, Lane>): number {
  const parent = lane.parent === null ? undefined : byId.get(lane.parent);
  return parent ? 1 + depthOf(parent, byId) : 0;
}

function isHidden(lane: Lane, byId: Map<number, Lane>, folded: ReadonlySet<number>): boolean {
  const parent = lane.parent === null ? undefined : byId.get(lane.parent);
  return parent !== undefined && (folded.has(parent.lane) || isHidden(parent, byId, folded));
}

/** Folded lanes above a row: they open when the row is to be shown. */
export function foldsOver(row: number, lanes: Lane[], folded: ReadonlySet<number>): number[] {
  const byId = new Map(lanes.map((lane) => [lane.lane, lane]));
  const own = lanes.find((lane) => row >= lane.first_row && row < lane.first_row + lane.rows);
  const found: number[] = [];
  for (let lane = own; lane; lane = lane.parent === null ? undefined : byId.get(lane.parent)) {
    if (folded.has(lane.lane)) found.push(lane.lane);
  }
  return found;
}

/** First strip that ends below `y`. */
export function stripIndexAt(layout: Layout, y: number): number {
  let low = 0;
  let high = layout.strips.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const strip = layout.strips[middle];
    if (strip.y + strip.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function stripAt(layout: Layout, y: number): Strip | null {
  const strip = layout.strips[stripIndexAt(layout, y)];
  return strip && strip.y <= y ? strip : null;
}

/** Strips that touch `[top, bottom)`. */
export function stripsIn(layout: Layout, top: number, bottom: number): Strip[] {
  const found: Strip[] = [];
  for (let i = stripIndexAt(layout, top); i < layout.strips.length && layout.strips[i].y < bottom; i++) {
    found.push(layout.strips[i]);
  }
  return found;
}
