import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { tame } from '../lib/names';
import { useEvent } from '../model/remote';
import { endOf, startOf } from '../model/tile';
import type { Timeline } from './controller';
import type { Hit } from './hit';
import { isCut, type Told, tellBar } from './tell';

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
      {isCut(hit) && !hit.idle && !hit.merged ? <CutBar hit={hit} /> : <span>{tellBar(toldOf(hit))}</span>}
      {hit.idle && hit.name && <span class="muted">ended by {tame(hit.name)}</span>}
    </div>
  );
}

function toldOf(hit: Hit): Told {
  const start = startOf(hit.tile, hit.index);
  return { ...hit, start, length: endOf(hit.tile, hit.index) - start };
}

const RESTING_MS = 150;

/** A bar cut by its tile: its true ends are asked for when the mouse rests on it. */
function CutBar({ hit }: { hit: Hit }): JSX.Element {
  const [asked, setAsked] = useState<number | null>(null);
  useEffect(() => {
    const timer = window.setTimeout(() => setAsked(hit.id), RESTING_MS);
    return () => clearTimeout(timer);
  }, [hit.id]);
  const { data } = useEvent(asked === hit.id ? hit.id : null);
  const told = toldOf(hit);
  if (data?.id !== hit.id) return <span>{tellBar(told)}</span>;
  const whole = { start: data.start_ns, length: data.duration_ns, before: false, after: false };
  return <span>{tellBar({ ...told, ...whole, unfinished: data.unfinished })}</span>;
}
