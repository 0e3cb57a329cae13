import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { duration, instant } from '../lib/format';
import { threadLabel } from '../lib/names';
import { readGaps } from '../model/gaps';
import { useEvent, useTable } from '../model/remote';
import { selection } from '../model/state';
import type { EventDetail } from '../model/wire';
import type { Timeline } from './controller';

/** Keeps the picture on what is selected, and says it aloud. */
export function Selected({ timeline }: { timeline: Timeline }): JSX.Element {
  const what = selection.value;
  const event = useEvent(what?.kind === 'event' ? what.id : null).data;
  const current = what?.kind === 'event' && event?.id === what.id ? event : null;
  const gapTable = useTable('gaps', what?.kind === 'gap' ? {} : null).data;
  const gaps = useMemo(() => (gapTable ? readGaps(gapTable) : null), [gapTable]);
  const gap = what?.kind === 'gap' && gaps ? gaps.gap.indexOf(what.gap) : -1;
  useEffect(() => {
    timeline.detail.value = current;
    if (current)
      timeline.reveal({ t0: current.start_ns, t1: current.start_ns + current.duration_ns, row: current.row });
  }, [current, timeline]);
  useEffect(() => {
    if (!gaps || gap < 0) return;
    const lane = timeline.lanes.find((one) => one.kind === 'idle' && one.device === gaps.device[gap]);
    timeline.reveal({ t0: gaps.start[gap], t1: gaps.start[gap] + gaps.duration[gap], row: lane?.first_row ?? null });
  }, [gaps, gap, timeline]);
  useEffect(() => {
    if (what?.kind !== 'event' && what?.kind !== 'gap') timeline.picked.value = null;
  }, [what, timeline]);
  const told = current
    ? tell(current)
    : gaps && gap >= 0
      ? `Idle for ${duration(gaps.duration[gap])}, ended by ${gaps.endedBy[gap]}`
      : '';
  return (
    <p class="offscreen" aria-live="polite" data-testid="spoken">
      {told}
    </p>
  );
}

function tell(event: EventDetail): string {
  const where = event.device === null ? threadLabel(event.thread) : `GPU ${event.device}`;
  return `${event.name}, ${event.kind.replace('_', ' ')}, ${duration(event.duration_ns)}, at ${instant(event.start_ns, 1e3)}, on ${where}`;
}
