/** A path over the picture, from stretch to stretch, such as the critical path: `Timeline.paths` takes it. */
import { type Box, boxOf } from './box';
import type { Span, Timeline } from './controller';
import type { Ink } from './pen';

export interface OverlayPath {
  title: string;
  /** Stretches in time order, each on its row. */
  spans: Span[];
}

export interface Line {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** From each box along its middle, then over to the next one that is drawn. */
export function linesOf(boxes: (Box | null)[]): Line[] {
  const lines: Line[] = [];
  let last: Line | null = null;
  for (const box of boxes) {
    if (!box) continue;
    const y = box.y + box.height / 2;
    const along: Line = { x0: box.x, y0: y, x1: box.x + box.width, y1: y };
    if (last) lines.push({ x0: last.x1, y0: last.y1, x1: along.x0, y1: y });
    lines.push(along);
    last = along;
  }
  return lines;
}

export function drawPath(pen: CanvasRenderingContext2D, timeline: Timeline, path: OverlayPath, ink: Ink): void {
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const { x0, y0, x1, y1 } of linesOf(path.spans.map((span) => boxOf(timeline, span)))) {
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
  }
  pen.stroke();
}
