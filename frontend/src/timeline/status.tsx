import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { count, duration, exactTime, instant, plural } from '../lib/format';
import { roundStep } from '../lib/histogram';
import { tame } from '../lib/names';
import { endOf, startOf } from '../model/tile';
import type { Timeline } from './controller';
import type { Hit } from './hit';

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
      <span ref={scale} />
      {timeline.problem.value && <span class="status-problem">{timeline.problem.value}</span>}
      <span class="filler" />
      <span ref={cursor} />
    </div>
  );
}

function tellScale(timeline: Timeline): string {
  const { t0, t1 } = timeline.view.peek();
  const { width } = timeline.size.peek();
  const { rects, events, merged } = timeline.scene.tally;
  const pixel = duration((t1 - t0) / Math.max(1, width));
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

/** Name, length and how many, beside the mouse. */
export function Tooltip({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const hit = timeline.hover.value;
  const { mouse } = timeline;
  if (!hit || !mouse) return null;
  const { width, height } = timeline.size.value;
  const left = mouse.x > width / 2;
  const above = mouse.y > height / 2;
  const style = {
    [left ? 'right' : 'left']: left ? `${width - mouse.x + 12}px` : `calc(var(--lanes) + ${mouse.x + 12}px)`,
    [above ? 'bottom' : 'top']: above ? `${height - mouse.y + 14}px` : `${mouse.y + 18}px`,
  };
  return (
    <div class="tooltip" style={style} role="presentation">
      <b>{hit.idle ? 'Idle' : tame(hit.name)}</b>
      <span>{tellHit(hit)}</span>
      {hit.idle && hit.name && <span class="muted">ended by {tame(hit.name)}</span>}
    </div>
  );
}

function tellHit(hit: Hit): string {
  const start = startOf(hit.tile, hit.index);
  const length = endOf(hit.tile, hit.index) - start;
  if (hit.merged) return `merged, ${plural(hit.count, 'event')} in ${duration(length)}; the longest is named`;
  return `${exactTime(length)} at ${instant(start, 1e3)} · ${hit.kind.replace('_', ' ')}`;
}
