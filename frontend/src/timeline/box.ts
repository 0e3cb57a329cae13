import type { Span, Timeline } from './controller';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box of a span on the canvas; null where its row is not drawn. */
export function boxOf(timeline: Timeline, span: Span): Box | null {
  const strip = span.row === null ? undefined : timeline.layout.peek().ofRow.get(span.row);
  if (!strip) return null;
  const left = Math.max(-10, timeline.xOf(span.t0));
  const right = Math.min(timeline.size.peek().width + 10, timeline.xOf(span.t1));
  return {
    x: left,
    y: strip.y - timeline.scrollTop.peek(),
    width: Math.max(2, right - left),
    height: strip.height - 1,
  };
}
