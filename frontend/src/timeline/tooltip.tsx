import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { causeTerm } from '../lib/causes';
import { tame } from '../lib/names';
import { useLongest } from '../model/remote';
import { endOf, startOf } from '../model/tile';
import type { Timeline } from './controller';
import type { Hit } from './hit';
import { isCut, type Told, type ToldMerged, tellBar, tellCounter, tellMerged } from './tell';

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
      <b>{hit.idle ? idleTitle(hit.kind) : tame(hit.name)}</b>
      <Body hit={hit} timeline={timeline} />
    </div>
  );
}

function Body({ hit, timeline }: { hit: Hit; timeline: Timeline }): JSX.Element {
  if (hit.counter) {
    const lane = timeline.lanes.find((one) => one.kind === 'counter' && one.first_row === hit.row);
    return <span>{tellCounter(hit.counter, lane?.unit ?? '')}</span>;
  }
  const open = isCut(hit) || hit.merged || hit.tile.tick > 1;
  return (
    <>
      {hit.merged && <span>{tellMerged(mergedOf(hit, timeline))}</span>}
      {open ? <OpenBar hit={hit} timeline={timeline} /> : <span>{tellBar(toldOf(hit))}</span>}
      {hit.idle && !hit.merged && hit.name !== NOTHING && <span class="muted">in {tame(hit.name)}</span>}
    </>
  );
}

/** The timeline's name of what no host event stands behind. */
const NOTHING = 'nothing recorded';

/** Idle time is named by its cause. */
function idleTitle(kind: string): string {
  const cause = kind.slice('idle '.length);
  return cause ? `Idle: ${causeTerm(cause).title.toLowerCase()}` : 'Idle';
}

function mergedOf({ tile, index, count }: Hit, timeline: Timeline): ToldMerged {
  const { t0, t1 } = timeline.view.peek();
  const pixels = (tile.quantum / (t1 - t0)) * timeline.size.peek().width;
  return { count, share: tile.busy[index] / 255, quantum: tile.quantum, pixels };
}

function toldOf(hit: Hit): Told {
  const start = startOf(hit.tile, hit.index);
  return { ...hit, start, length: endOf(hit.tile, hit.index) - start, rough: hit.tile.tick > 1 };
}

const RESTING_MS = 150;

/** A bar whose exact times its tile does not have: they are asked for when the mouse rests on it. */
function OpenBar({ hit, timeline }: { hit: Hit; timeline: Timeline }): JSX.Element {
  const { entry, count } = hit;
  const [asked, setAsked] = useState<{ entry: number; count: number } | null>(null);
  useEffect(() => {
    const timer = window.setTimeout(() => setAsked({ entry, count }), RESTING_MS);
    return () => clearTimeout(timer);
  }, [entry, count]);
  const same = asked?.entry === entry && asked.count === count;
  const { data } = useLongest(same ? asked : null);
  if (!data || data.row !== hit.row) return <span>{hit.merged ? '…' : tellBar(toldOf(hit))}</span>;
  const exact = { start: data.start_ns, length: data.duration_ns, kind: data.kind };
  const told = tellBar({ ...exact, before: false, after: false, unfinished: hit.unfinished, rough: false });
  if (!hit.merged) return <span>{told}</span>;
  return (
    <span class="muted">
      longest: {tame(timeline.names[data.name] ?? '')}, {told}
    </span>
  );
}
