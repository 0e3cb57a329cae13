/** A mark for every hit of a search in its row: a bar of several events may hide a hit behind another name. */
import { type Box, boxOf } from './box';
import type { Timeline } from './controller';
import { type Marked, marked } from './marked';
import type { Ink } from './pen';

const HEIGHT = 3;
const LEAST = 3;

/** Boxes of the hits in sight, one where several share their pixels. */
export function hitBoxes(
  list: Pick<Marked, 'start' | 'length' | 'row'>,
  width: number,
  place: (span: { t0: number; t1: number; row: number }) => Box | null,
): Box[] {
  const boxes: Box[] = [];
  const covered = new Map<number, number>();
  list.start.forEach((t0, i) => {
    const row = list.row[i];
    const box = row === null ? null : place({ t0, t1: t0 + list.length[i], row });
    if (!box || box.x + box.width < 0 || box.x > width) return;
    const right = Math.round(box.x + Math.max(LEAST, box.width));
    if (right <= (covered.get(box.y) ?? Number.NEGATIVE_INFINITY)) return;
    covered.set(box.y, right);
    boxes.push({ ...box, x: Math.round(box.x), width: right - Math.round(box.x) });
  });
  return boxes;
}

export function drawHits(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink): number {
  const list = marked.peek();
  if (list?.of !== 'search') return 0;
  const { width, height } = timeline.size.peek();
  const boxes = hitBoxes(list, width, (span) => boxOf(timeline, span));
  const inSight = boxes.filter((box) => box.y + box.height > 0 && box.y < height);
  pen.fillStyle = ink.paper;
  for (const box of inSight) pen.fillRect(box.x, box.y + box.height - HEIGHT - 1, box.width, HEIGHT + 1);
  pen.fillStyle = ink.text;
  for (const box of inSight) pen.fillRect(box.x, box.y + box.height - HEIGHT, box.width, HEIGHT);
  return inSight.length;
}
