import type { JSX } from 'preact';
import { duration, percent, plural } from '../lib/format';
import type { Timeline } from './controller';
import type { LaneBox } from './layout';

/** Titles of the lanes, left of the canvas. */
export function Lanes({ timeline }: { timeline: Timeline }): JSX.Element {
  const { boxes } = timeline.layout.value;
  const top = timeline.scrollTop.value;
  const { height } = timeline.size.value;
  const shown = boxes.filter((box) => box.y + box.height >= top - 200 && box.y <= top + height + 200);
  return (
    <div class="lanes">
      {shown.map((box) => (
        <LaneTitle key={box.lane.lane} timeline={timeline} box={box} top={top} />
      ))}
    </div>
  );
}

function LaneTitle({ timeline, box, top }: { timeline: Timeline; box: LaneBox; top: number }): JSX.Element {
  const { lane } = box;
  const busy = `${plural(lane.events, 'event')}, ${duration(lane.busy_ns)} covered (${percent((100 * lane.busy_ns) / timeline.end)})`;
  // The title of a tall lane stays in sight while its rows pass.
  const held = Math.max(0, Math.min(top - box.y, box.height - 20));
  const style = { top: `${box.y - top}px`, height: `${box.height}px`, paddingLeft: `${6 + box.depth * 12}px` };
  const title = `${lane.title}\n${lane.detail}\n${busy}`;
  // “Thread 7” needs no “thread 7 (python)”.
  const repeats = lane.detail.toLowerCase().startsWith(lane.title.toLowerCase());
  const detail = repeats ? lane.detail.slice(lane.title.length).trim() : lane.detail;
  const content = (
    <span class="lane-text" style={{ transform: `translateY(${held}px)` }}>
      {box.foldable && (
        <span class="fold" aria-hidden="true">
          {box.folded ? '▸' : '▾'}
        </span>
      )}
      <span class="lane-title">{lane.title}</span>
      {detail && <span class="muted"> {detail}</span>}
    </span>
  );
  if (!box.foldable) {
    return (
      <div class={`lane ${lane.kind}`} style={style} title={title} data-testid="lane" data-lane={lane.lane}>
        {content}
      </div>
    );
  }
  return (
    <button
      type="button"
      class={`lane ${lane.kind}`}
      style={style}
      title={title}
      aria-expanded={!box.folded}
      data-testid="lane"
      data-lane={lane.lane}
      onClick={() => timeline.toggle(lane.lane)}
    >
      {content}
    </button>
  );
}
