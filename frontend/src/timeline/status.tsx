import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { count, duration, instant, plural } from '../lib/format';
import { roundStep } from '../lib/histogram';
import { pathShown } from '../model/state';
import type { Timeline } from './controller';

/** Pixels of the canvas below which the line tells less. */
const NARROW = 800;

/** What a pixel stands for, what was merged, and where the mouse is. Written by the frame, not by rendering. */
export function Status({ timeline }: { timeline: Timeline }): JSX.Element {
  const scale = useRef<HTMLSpanElement>(null);
  const cursor = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    timeline.scene.onFrame = () => {
      if (scale.current) scale.current.textContent = tellScale(timeline);
      if (cursor.current) cursor.current.textContent = tellCursor(timeline);
    };
    return () => {
      timeline.scene.onFrame = () => {};
    };
  }, [timeline]);
  return (
    <div class="status" data-testid="status-line">
      <span class="status-scale" ref={scale} />
      <button
        type="button"
        class="quiet"
        aria-pressed={pathShown.value}
        title="Draw what the time of each step was spent on, one thing after the other (C)"
        data-testid="path-toggle"
        onClick={() => (pathShown.value = !pathShown.value)}
      >
        Critical path
      </button>
      {timeline.problem.value && <span class="status-problem">{timeline.problem.value}</span>}
      <span class="status-cursor" ref={cursor} />
    </div>
  );
}

function tellScale(timeline: Timeline): string {
  const { t0, t1 } = timeline.view.peek();
  const { width } = timeline.size.peek();
  const { rects, events, merged } = timeline.scene.tally;
  const pixel = duration((t1 - t0) / Math.max(1, width));
  if (width < NARROW) {
    const short = merged > 0 ? `${count(merged)} merged: zoom in` : 'none merged';
    return `${duration(t1 - t0)} in view · 1 px = ${pixel} · ${short}`;
  }
  const what = merged > 0 ? `${count(merged)} events merged: zoom in to tell them apart` : 'none merged';
  return `${duration(t1 - t0)} in view · 1 px = ${pixel} · ${plural(rects, 'bar')} of ${plural(events, 'event')}, ${what}`;
}

function tellCursor(timeline: Timeline): string {
  const { mouse } = timeline;
  if (!mouse) return '';
  const { t0, t1 } = timeline.view.peek();
  const time = timeline.timeAt(mouse.x);
  const step = Math.max(1, roundStep((t1 - t0) / Math.max(1, timeline.size.peek().width)));
  const inside = timeline.info.steps.find((one) => one.start_ns <= time && time < one.end_ns);
  const since = inside ? ` (step ${inside.step} + ${instant(time - inside.start_ns, step)})` : '';
  return `${instant(time, step)}${since}`;
}
