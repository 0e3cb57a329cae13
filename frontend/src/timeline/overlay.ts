/** Above the bars: step lines, text, hover, selection, marks, arrows. */
import { inkOn, SHADES } from '../lib/colours';
import { duration, quantity } from '../lib/format';
import { tame } from '../lib/names';
import { filter, type Range, selection, theme } from '../model/state';
import { endOf, startOf } from '../model/tile';
import { drawArrows } from './arrows';
import { boxOf } from './box';
import type { Timeline } from './controller';
import { boundsOf } from './counter';
import { drawHits } from './hits';
import { ROW, stripsIn } from './layout';
import type { Label } from './painter';
import { drawPath } from './path';
import { type Ink, inkOf, prepareCanvas } from './pen';

const LABELS = 400;
const PADDING = 4;

export function drawOverlay(canvas: HTMLCanvasElement, timeline: Timeline, labels: Label[], ratio: number): void {
  const { width, height } = timeline.size.peek();
  const pen = prepareCanvas(canvas, width, height, ratio);
  if (!pen) return;
  const ink = inkOf(canvas, theme.peek());
  drawStepLines(pen, timeline, ink);
  drawFilter(pen, timeline, ink);
  drawScales(pen, timeline, ink);
  drawLabels(pen, timeline, labels, ink);
  timeline.scene.hits = drawHits(pen, timeline, ink);
  drawHover(pen, timeline, ink);
  drawSelection(pen, timeline, ink);
  const detail = timeline.detail.peek();
  if (detail) drawArrows(pen, timeline, detail, ink);
  for (const path of timeline.paths.peek()) drawPath(pen, timeline, path, ink);
  drawArea(pen, timeline, ink);
  for (const mark of timeline.marks.peek()) drawMark(pen, timeline, mark, ink);
}

function drawStepLines(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const { width, height } = timeline.size.peek();
  pen.fillStyle = ink.line;
  for (const step of timeline.info.steps) {
    const x = Math.round(timeline.xOf(step.start_ns));
    if (x >= 0 && x < width) pen.fillRect(x, 0, 1, height);
  }
}

/** What the time range leaves out stays in sight, under a veil. */
function drawFilter(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const range = filter.peek();
  if (!range) return;
  const { width, height } = timeline.size.peek();
  const left = Math.max(0, timeline.xOf(range.t0));
  const right = Math.min(width, timeline.xOf(range.t1));
  pen.fillStyle = ink.veil;
  pen.fillRect(0, 0, Math.min(width, left), height);
  pen.fillRect(Math.max(0, right), 0, width - Math.max(0, right), height);
}

/** What the full height of each counter in sight stands for. */
function drawScales(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const top = timeline.scrollTop.peek();
  pen.font = `10px ${ink.font}`;
  pen.textBaseline = 'top';
  pen.textAlign = 'left';
  for (const { lane, kind, y } of stripsIn(timeline.layout.peek(), top, top + timeline.size.peek().height)) {
    if (lane.kind !== 'counter' || kind !== 'row') continue;
    const text = quantity(boundsOf(lane).high, lane.unit);
    pen.globalAlpha = 0.8;
    pen.fillStyle = ink.paper;
    pen.fillRect(0, y - top + 1, pen.measureText(text).width + 2 * PADDING, 12);
    pen.globalAlpha = 1;
    pen.fillStyle = ink.text;
    pen.fillText(text, PADDING, y - top + 2);
  }
}

const widths = new Map<string, number>();

function widthOf(pen: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 20_000) widths.clear();
    width = pen.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** As much of the text as fits, with an ellipsis. */
function fitted(pen: CanvasRenderingContext2D, text: string, room: number): string {
  const width = widthOf(pen, text);
  if (width <= room) return text;
  let letters = Math.min(text.length, Math.ceil((room / width) * text.length) + 1);
  while (letters >= 2 && widthOf(pen, `${text.slice(0, letters)}…`) > room) letters--;
  return letters < 2 ? '' : `${text.slice(0, letters)}…`;
}

function drawLabels(pen: CanvasRenderingContext2D, timeline: Timeline, labels: Label[], ink: Ink): void {
  pen.font = `11px ${ink.font}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  const { palette } = timeline.scene.look();
  const shown =
    labels.length > LABELS ? [...labels].sort((a, b) => b.x1 - b.x0 - (a.x1 - a.x0)).slice(0, LABELS) : labels;
  for (const label of shown) {
    const text = fitted(pen, tame(timeline.names[label.name] ?? ''), label.x1 - label.x0 - 2 * PADDING);
    if (!text) continue;
    pen.fillStyle = label.dimmed ? ink.muted : inkOn(palette.bars[label.kind * SHADES + timeline.shades[label.name]]);
    pen.fillText(text, label.x0 + PADDING, label.y + ROW / 2);
  }
}

function drawHover(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const hit = timeline.hover.peek();
  if (!hit || hit.counter) return;
  const box = boxOf(timeline, { t0: startOf(hit.tile, hit.index), t1: endOf(hit.tile, hit.index), row: hit.row });
  if (!box) return;
  pen.strokeStyle = ink.text;
  pen.lineWidth = 1;
  pen.strokeRect(Math.floor(box.x) + 0.5, box.y + 0.5, Math.max(2, Math.floor(box.width) - 1), box.height - 1);
}

function drawSelection(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const span = timeline.picked.peek();
  const box = span && boxOf(timeline, span);
  if (!box) return;
  pen.strokeStyle = ink.paper;
  pen.lineWidth = 4;
  pen.strokeRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 2;
  pen.strokeRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
}

/** The area being dragged, or the one selected, with its length. */
function drawArea(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const area = timeline.drag.peek() ?? selectedArea(timeline);
  if (!area) return;
  const left = timeline.xOf(area.t0);
  const right = timeline.xOf(area.t1);
  pen.fillStyle = ink.accent;
  pen.globalAlpha = 0.12;
  pen.fillRect(left, area.top, right - left, area.bottom - area.top);
  pen.globalAlpha = 1;
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 1;
  pen.strokeRect(
    Math.round(left) + 0.5,
    Math.round(area.top) + 0.5,
    Math.round(right - left),
    Math.round(area.bottom - area.top),
  );
  drawTag(pen, duration(area.t1 - area.t0), (left + right) / 2, Math.max(10, area.top + 10), ink);
}

export function selectedArea(timeline: Timeline): (Range & { top: number; bottom: number }) | null {
  const what = selection.peek();
  if (what?.kind !== 'area') return null;
  const numbers = what.rows.split(/[,-]/).map(Number);
  const strips = [Math.min(...numbers), Math.max(...numbers)].map((row) => timeline.layout.peek().ofRow.get(row));
  const known = strips.filter((strip) => strip !== undefined);
  if (known.length === 0) return null;
  const scroll = timeline.scrollTop.peek();
  const last = known[known.length - 1];
  return { t0: what.t0, t1: what.t1, top: known[0].y - scroll, bottom: last.y + last.height - scroll };
}

function drawTag(pen: CanvasRenderingContext2D, text: string, x: number, y: number, ink: Ink): void {
  pen.font = `600 11px ${ink.font}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  const width = pen.measureText(text).width + 10;
  pen.fillStyle = ink.accent;
  pen.fillRect(x - width / 2, y - 8, width, 16);
  pen.fillStyle = ink.paper;
  pen.fillText(text, x, y + 0.5);
}

function drawMark(pen: CanvasRenderingContext2D, timeline: Timeline, mark: Range & { kept: boolean }, ink: Ink): void {
  const { height } = timeline.size.peek();
  const left = timeline.xOf(mark.t0);
  const right = timeline.xOf(mark.t1);
  pen.fillStyle = ink.accent;
  pen.globalAlpha = 0.07;
  pen.fillRect(left, 0, right - left, height);
  pen.globalAlpha = 1;
  pen.fillRect(Math.round(left), 0, 1, height);
  pen.fillRect(Math.round(right), 0, 1, height);
  drawTag(pen, `${mark.kept ? '' : '↔ '}${duration(mark.t1 - mark.t0)}`, (left + right) / 2, 10, ink);
}
