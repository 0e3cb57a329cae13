/** Geometry that the curve and the block map share: one lies above the other, their times in line. */
import { instant, memoryScale, tickWithUnit } from '../../lib/format';
import { roundStep } from '../../lib/histogram';
import type { Range } from '../../model/state';
import type { Ink } from '../../timeline/pen';
import { ticks } from '../../timeline/view';

const LEFT = 68;
const RIGHT = 12;
const TOP = 22;
const BOTTOM = 20;

export interface Plot {
  width: number;
  height: number;
  range: Range;
  /** Bytes at the top. */
  most: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** Where the axis of time is: below the plot and its foot. */
  axis: number;
  x: (time: number) => number;
  y: (bytes: number) => number;
  timeOf: (x: number) => number;
  bytesOf: (y: number) => number;
}

/** `foot` is room between the plot and its axis of time, px. */
export function makePlot(width: number, height: number, range: Range, most: number, foot = 0): Plot {
  const right = Math.max(LEFT + 1, width - RIGHT);
  const axis = Math.max(TOP + 1 + foot, height - BOTTOM);
  const bottom = axis - foot;
  const time = (right - LEFT) / (range.t1 - range.t0);
  const size = (bottom - TOP) / Math.max(1, most);
  return {
    width,
    height,
    range,
    most: Math.max(1, most),
    left: LEFT,
    right,
    top: TOP,
    bottom,
    axis,
    x: (at) => LEFT + (at - range.t0) * time,
    y: (bytes) => bottom - bytes * size,
    timeOf: (x) => range.t0 + (Math.max(LEFT, Math.min(right, x)) - LEFT) / time,
    bytesOf: (y) => (bottom - y) / size,
  };
}

/** Round bytes of an axis, at most about four. */
export function byteTicks(most: number): { at: number; label: string }[] {
  const scale = memoryScale(most);
  const step = Math.max(1, roundStep(most / 4 / scale.per) * scale.per);
  const count = Math.floor(most / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => ({
    at: i * step,
    label: i === 0 ? '0' : tickWithUnit(i * step, scale),
  }));
}

export function drawAxes(pen: CanvasRenderingContext2D, plot: Plot, ink: Ink): void {
  pen.font = `11px ${ink.font}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  for (const { at, label } of byteTicks(plot.most)) {
    const y = Math.round(plot.y(at));
    pen.fillStyle = ink.line;
    pen.globalAlpha = 0.6;
    pen.fillRect(plot.left, y, plot.right - plot.left, 1);
    pen.globalAlpha = 1;
    pen.fillStyle = ink.muted;
    pen.fillText(label, plot.left - 6, y);
  }
  drawTimes(pen, plot, ink);
}

function drawTimes(pen: CanvasRenderingContext2D, plot: Plot, ink: Ink): void {
  const { step, at } = ticks(plot.range, plot.right - plot.left);
  const far = at.length > 0 && at[0] / step > 1e4;
  pen.textAlign = 'left';
  for (const time of at) {
    const x = Math.round(plot.x(time));
    pen.fillStyle = ink.line;
    pen.fillRect(x, plot.axis, 1, 5);
    pen.fillStyle = ink.muted;
    // Close up, ticks count from the first one: nobody reads twelve digits.
    const label = far && time !== at[0] ? `+${instant(time - at[0], step)}` : instant(time, step);
    if (x + 4 + pen.measureText(label).width <= plot.width) pen.fillText(label, x + 4, plot.axis + 11);
  }
}

interface Band extends Range {
  label: string;
}

/** Shades every other step, each with its number above. */
export function drawBands(pen: CanvasRenderingContext2D, plot: Plot, ink: Ink, bands: Band[]): void {
  pen.font = `11px ${ink.font}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'center';
  bands.forEach((band, i) => {
    const from = Math.max(plot.left, plot.x(band.t0));
    const to = Math.min(plot.right, plot.x(band.t1));
    if (to <= from) return;
    pen.fillStyle = i % 2 ? ink.bandOdd : ink.band;
    pen.globalAlpha = 0.55;
    pen.fillRect(from, plot.top, to - from, plot.bottom - plot.top);
    pen.globalAlpha = 1;
    pen.fillRect(from, 2, Math.max(1, to - from - 1), 14);
    pen.fillStyle = ink.text;
    const room = to - from - 6;
    const label = [`Step ${band.label}`, band.label].find((one) => pen.measureText(one).width < room);
    if (label) pen.fillText(label, (from + to) / 2, 9);
  });
}
