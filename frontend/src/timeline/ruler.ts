import { instant } from '../lib/format';
import { theme } from '../model/state';
import type { Timeline } from './controller';
import { type Ink, inkOf, prepareCanvas } from './pen';
import { ticks } from './view';

export const RULER = 38;
const BAND = 16;

/** Step bands above, ticks at 1, 2 or 5 times a power of ten below. */
export function drawRuler(canvas: HTMLCanvasElement, timeline: Timeline, ratio: number): void {
  const pen = prepareCanvas(canvas, timeline.size.peek().width, RULER, ratio);
  if (!pen) return;
  const ink = inkOf(canvas, theme.peek());
  pen.font = `11px ${ink.font}`;
  pen.textBaseline = 'middle';
  drawSteps(pen, timeline, ink);
  drawTicks(pen, timeline, ink);
}

function drawSteps(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const { width } = timeline.size.peek();
  const { t0, t1 } = timeline.view.peek();
  timeline.info.steps.forEach((step, i) => {
    if (step.end_ns < t0 || step.start_ns > t1) return;
    const left = Math.max(0, timeline.xOf(step.start_ns));
    const right = Math.min(width, timeline.xOf(step.end_ns));
    pen.fillStyle = i % 2 ? ink.bandOdd : ink.band;
    pen.fillRect(left, 1, Math.max(1, right - left - 1), BAND - 2);
    if (right - left < 24) return;
    pen.fillStyle = ink.text;
    pen.textAlign = 'center';
    const label = right - left > 70 ? `Step ${step.step}${step.incomplete ? ' (incomplete)' : ''}` : `${step.step}`;
    if (pen.measureText(label).width < right - left - 4) pen.fillText(label, (left + right) / 2, BAND / 2);
  });
}

/** Close up, ticks count from a base told at the left: nobody reads twelve digits. */
function drawTicks(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): void {
  const { width } = timeline.size.peek();
  const view = timeline.view.peek();
  const { step, at } = ticks(view, width);
  const relative = at.length > 0 && at[0] / step > 1e4;
  pen.textAlign = 'left';
  for (const time of at) {
    const x = Math.round(timeline.xOf(time));
    pen.fillStyle = ink.line;
    pen.fillRect(x, BAND + 4, 1, RULER - BAND - 4);
    pen.fillStyle = ink.muted;
    const label = relative && time !== at[0] ? `+${instant(time - at[0], step)}` : instant(time, step);
    if (x + 4 + pen.measureText(label).width <= width) pen.fillText(label, x + 4, BAND + 11);
  }
}
