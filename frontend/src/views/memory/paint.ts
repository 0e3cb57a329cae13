/** The curve of memory on its canvas: totals as step lines, or categories as stacked areas. */

import { phaseColour } from '../../lib/colours';
import { memorySize } from '../../lib/format';
import { ALLOCATED, CAPACITY, categoryColour, RESERVED } from '../../lib/memory_colours';
import { type Curve, entryAt, type Phases } from '../../model/memory';
import type { Ink } from '../../timeline/pen';
import type { Plot } from './plot';

/** Walks along a step line within the plot; nothing is known before the first point. */
function trace(pen: CanvasRenderingContext2D, plot: Plot, time: number[], value: (i: number) => number): number | null {
  const first = Math.max(0, entryAt({ time }, plot.range.t0));
  if (time.length === 0 || time[first] > plot.range.t1) return null;
  const begin = Math.max(plot.left, plot.x(time[first]));
  pen.moveTo(begin, plot.y(value(first)));
  let last = first;
  for (let i = first + 1; i < time.length && time[i] <= plot.range.t1; i++) {
    const x = plot.x(time[i]);
    pen.lineTo(x, plot.y(value(i - 1)));
    pen.lineTo(x, plot.y(value(i)));
    last = i;
  }
  pen.lineTo(plot.right, plot.y(value(last)));
  return begin;
}

function fill(pen: CanvasRenderingContext2D, plot: Plot, time: number[], value: (i: number) => number): void {
  pen.beginPath();
  const begin = trace(pen, plot, time, value);
  if (begin === null) return;
  pen.lineTo(plot.right, plot.y(0));
  pen.lineTo(begin, plot.y(0));
  pen.closePath();
  pen.fill();
}

export function drawTotals(pen: CanvasRenderingContext2D, plot: Plot, curve: Curve): void {
  const { time, allocated, reserved } = curve;
  pen.fillStyle = ALLOCATED;
  pen.globalAlpha = 0.25;
  fill(pen, plot, time, (i) => allocated[i]);
  pen.globalAlpha = 1;
  pen.lineWidth = 1.5;
  pen.strokeStyle = ALLOCATED;
  pen.beginPath();
  trace(pen, plot, time, (i) => allocated[i]);
  pen.stroke();
  if (!reserved) return;
  pen.strokeStyle = RESERVED;
  pen.beginPath();
  trace(pen, plot, time, (i) => reserved[i] ?? 0);
  pen.stroke();
}

/** The largest sum is drawn first, each smaller one over it: what stays in sight are the parts. */
export function drawStack(pen: CanvasRenderingContext2D, plot: Plot, curve: Curve): void {
  const sums = curve.time.map(() => 0);
  const levels = curve.parts.map(({ category, bytes }) => {
    for (let i = 0; i < sums.length; i++) sums[i] += bytes[i];
    return { category, level: [...sums] };
  });
  for (const { category, level } of levels.reverse()) {
    pen.fillStyle = categoryColour(category);
    fill(pen, plot, curve.time, (i) => level[i]);
  }
}

/** Height of the band of phases, and of the room it needs, px. */
const BAND = 8;
export const BAND_ROOM = BAND + 4;

/** Which phase of training the host was in, as a band below the plot. */
export function drawPhases(pen: CanvasRenderingContext2D, plot: Plot, phases: Phases): void {
  const y = plot.bottom + 3;
  for (let i = 0; i < phases.start.length; i++) {
    const from = Math.max(plot.left, plot.x(phases.start[i]));
    const to = Math.min(plot.right, plot.x(phases.end[i]));
    if (to <= from) continue;
    pen.fillStyle = phaseColour(phases.name[i]);
    pen.fillRect(from, y, Math.max(0.5, to - from), BAND);
  }
}

/** A dashed line at a height, with words on it. */
export function drawCapacity(pen: CanvasRenderingContext2D, plot: Plot, capacity: number, ink: Ink): void {
  const y = Math.round(plot.y(capacity));
  pen.strokeStyle = CAPACITY;
  pen.lineWidth = 1;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  pen.moveTo(plot.left, y + 0.5);
  pen.lineTo(plot.right, y + 0.5);
  pen.stroke();
  pen.setLineDash([]);
  write(pen, plot, ink, { text: `Memory of the device: ${memorySize(capacity)}`, x: plot.right, y: y + 9 });
}

/** A flag at the peak. */
export function drawPeak(
  pen: CanvasRenderingContext2D,
  plot: Plot,
  ink: Ink,
  peak: { time: number; bytes: number },
): void {
  if (peak.time < plot.range.t0 || peak.time > plot.range.t1) return;
  const x = plot.x(peak.time);
  const y = plot.y(peak.bytes);
  pen.fillStyle = ink.text;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - 4, y - 7);
  pen.lineTo(x + 4, y - 7);
  pen.closePath();
  pen.fill();
  write(pen, plot, ink, { text: `Peak ${memorySize(peak.bytes)}`, x, y: y - 6 });
}

/** Words on the picture, beside x: to the right of it where there is room, else to the left. */
function write(
  pen: CanvasRenderingContext2D,
  plot: Plot,
  ink: Ink,
  { text, x, y }: { text: string; x: number; y: number },
): void {
  pen.font = `11px ${ink.font}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  const width = pen.measureText(text).width;
  const left = x + 8 + width < plot.right ? x + 8 : Math.max(plot.left + 2, x - width - 8);
  pen.fillStyle = ink.paper;
  pen.globalAlpha = 0.8;
  pen.fillRect(left - 2, y - 7, width + 4, 14);
  pen.globalAlpha = 1;
  pen.fillStyle = ink.text;
  pen.fillText(text, left, y);
}

/** What lies over the picture: the chosen instant, where the mouse is, and what is being dragged over. */
export function drawMarks(
  pen: CanvasRenderingContext2D,
  plot: Plot,
  ink: Ink,
  marks: { at: number | null; hover: number | null; drag: [number, number] | null },
): void {
  const { at, hover, drag } = marks;
  if (drag) {
    pen.fillStyle = ink.accent;
    pen.globalAlpha = 0.18;
    pen.fillRect(Math.min(...drag), plot.top, Math.abs(drag[1] - drag[0]), plot.bottom - plot.top);
    pen.globalAlpha = 1;
  }
  if (hover !== null && !drag) {
    pen.fillStyle = ink.muted;
    pen.fillRect(Math.round(hover), plot.top, 1, plot.bottom - plot.top);
  }
  if (at !== null && at >= plot.range.t0 && at <= plot.range.t1) {
    pen.fillStyle = ink.accent;
    pen.fillRect(Math.round(plot.x(at)) - 1, plot.top - 4, 2, plot.bottom - plot.top + 4);
  }
}
