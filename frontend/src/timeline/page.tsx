import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { useRemote, useSource } from '../model/remote';
import { epoch, trace } from '../model/state';
import type { Info } from '../model/wire';
import { Busy, ProblemBox } from '../views/parts/bits';
import { Timeline } from './controller';
import { followQuery } from './search';
import { Selected } from './selected';
import { Stage } from './stage';

const MINIMAP_PX = 1200;
/** Lanes folded by hand stay folded while pages are turned. */
const foldedOf = signal<{ key: string; folded: ReadonlySet<number> }>({ key: '', folded: new Set() });

export function TimelinePage({ info }: { info: Info }): JSX.Element {
  const source = useSource();
  const of = trace.value ?? '';
  const key = `${epoch.value} ${of}`;
  const lanes = useRemote(`lanes ${key}`, (signal) => source.lanes(of, signal));
  const names = useRemote(`names ${key}`, (signal) => source.names(of, signal));
  const minimap = useRemote(`minimap ${key}`, (signal) => source.minimap(of, MINIMAP_PX, signal));
  useEffect(() => followQuery(source), [source]);
  const timeline = useMemo(() => {
    if (!lanes.data || !names.data) return null;
    const made = new Timeline({ source, trace: of, info, lanes: lanes.data, names: names.data.names });
    if (foldedOf.peek().key === key) made.folded.value = foldedOf.peek().folded;
    return made;
  }, [lanes.data, names.data, info]);
  useEffect(
    () => () => {
      if (timeline) foldedOf.value = { key, folded: timeline.folded.peek() };
      timeline?.dispose();
    },
    [timeline],
  );
  useEffect(() => {
    if (timeline) timeline.minimap.value = minimap.data;
  }, [timeline, minimap.data]);
  const problem = lanes.problem ?? names.problem;
  return (
    <div class="page timeline-page" data-testid="page-timeline">
      <h1 class="offscreen">Timeline</h1>
      {problem && <ProblemBox problem={problem} />}
      {!timeline && !problem && <Busy what="Laying out lanes…" />}
      {timeline && (
        <>
          <Stage timeline={timeline} />
          <Selected timeline={timeline} />
        </>
      )}
    </div>
  );
}
