import type { Timeline } from './controller';

export interface Probe {
  view: () => { t0: number; t1: number };
  hit: (
    x: number,
    y: number,
  ) => { id: number; entry: number; name: string; kind: string; row: number; merged: boolean; count: number } | null;
  stats: () => {
    rects: number;
    events: number;
    merged: number;
    matched: number;
    gaps: number;
    hits: number;
    busy: boolean;
    width: number;
    height: number;
    scroll_top: number;
  };
  /** Times every frame from now on, as `timeline-frame` among the page's measures. */
  measure: () => void;
  /** Where a row is on the canvas; null when it is folded away. */
  row: (row: number) => { y: number; height: number } | null;
}

declare global {
  interface Window {
    __tl?: Probe;
  }
}

/** A read-only view of the picture for browser tests. */
export function exposeForTests(timeline: Timeline): () => void {
  window.__tl = {
    view: () => ({ ...timeline.view.peek() }),
    hit: (x, y) => {
      const hit = timeline.hit(x, y);
      if (!hit) return null;
      const { id, entry, name, kind, row, merged, count } = hit;
      return { id, entry, name, kind, row, merged, count };
    },
    stats: () => ({
      ...timeline.scene.tally,
      gaps: timeline.scene.gaps.rects,
      hits: timeline.scene.hits,
      busy: timeline.tiles.busy,
      ...timeline.size.peek(),
      scroll_top: timeline.scrollTop.peek(),
    }),
    measure: () => {
      timeline.scene.measured = true;
    },
    row: (row) => {
      const strip = timeline.layout.peek().ofRow.get(row);
      return strip ? { y: strip.y - timeline.scrollTop.peek(), height: strip.height } : null;
    },
  };
  return () => {
    window.__tl = undefined;
  };
}
