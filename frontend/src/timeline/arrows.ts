import type { EventDetail, Ref } from '../model/wire';
import { boxOf } from './box';
import type { Timeline } from './controller';
import type { Ink } from './pen';

/** A graph launch can own thousands of works; more arrows than these tell nothing. */
const MOST = 40;

interface Point {
  x: number;
  y: number;
}

/** From launches to device work, and from forward to backward, for the selected event only. */
export function drawArrows(pen: CanvasRenderingContext2D, timeline: Timeline, event: EventDetail, ink: Ink): void {
  pen.strokeStyle = ink.accent;
  pen.fillStyle = ink.accent;
  pen.lineWidth = 1.5;
  if (event.launch) drawArrow(pen, ends(timeline, event.launch, event));
  for (const work of event.works.slice(0, MOST)) drawArrow(pen, ends(timeline, event, work));
  pen.setLineDash([5, 4]);
  if (event.forward) drawArrow(pen, ends(timeline, event.forward, event));
  for (const backward of event.backward.slice(0, MOST)) drawArrow(pen, ends(timeline, event, backward));
  pen.setLineDash([]);
}

function ends(timeline: Timeline, from: Ref, to: Ref): [Point, Point] | null {
  const spot = (ref: Ref) => boxOf(timeline, { t0: ref.start_ns, t1: ref.start_ns + ref.duration_ns, row: ref.row });
  const source = spot(from);
  const target = spot(to);
  if (!source || !target) return null;
  const down = target.y > source.y;
  return [
    { x: timeline.xOf(from.start_ns), y: down ? source.y + source.height : source.y },
    { x: timeline.xOf(to.start_ns), y: down ? target.y : target.y + target.height },
  ];
}

function drawArrow(pen: CanvasRenderingContext2D, points: [Point, Point] | null): void {
  if (!points) return;
  const [from, to] = points;
  const bend = Math.max(16, Math.min(90, Math.abs(to.x - from.x) / 2, Math.abs(to.y - from.y)));
  const way = to.y >= from.y ? 1 : -1;
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.bezierCurveTo(from.x, from.y + way * bend, to.x, to.y - way * bend, to.x, to.y - way * 5);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(to.x, to.y);
  pen.lineTo(to.x - 4, to.y - way * 7);
  pen.lineTo(to.x + 4, to.y - way * 7);
  pen.fill();
}
