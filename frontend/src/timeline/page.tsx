import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { keyOf, useRemote, useSource } from '../model/remote';
import type { Source, Subject } from '../model/source';
import { epoch, subject } from '../model/state';
import type { Info } from '../model/wire';
import { Busy, ProblemBox } from '../views/parts/bits';
import { Timeline } from './controller';
import { followPath } from './critical';
import { EvidenceBar } from './evidence_view';
import { followMarked } from './marked';
import { Selected } from './selected';
import { Stage } from './stage';

const MINIMAP_PX = 1200;
const NOTHING: Subject = { trace: '', fix: null };
/** Lanes folded by hand stay folded while pages are turned. */
let foldedOf: { key: string; folded: ReadonlySet<number> } = { key: '', folded: new Set() };

/** Lanes and names of one subject: while another is read, the picture and its questions stay with the one before. */
async function readRows(source: Source, of: Subject, signal: AbortSignal) {
  const [lanes, { names }] = await Promise.all([source.lanes(of, signal), source.names(of, signal)]);
  return { of, lanes, names };
}

export function TimelinePage({ info }: { info: Info }): JSX.Element {
  const source = useSource();
  const of = subject.value ?? NOTHING;
  const key = `${epoch.value} ${of.trace}`;
  const rows = useRemote(keyOf(of, 'rows'), (signal) => readRows(source, of, signal));
  const minimap = useRemote(keyOf(of, 'minimap'), (signal) => source.minimap(of, MINIMAP_PX, signal));
  useEffect(() => followMarked(source), [source]);
  const timeline = useMemo(() => {
    if (!rows.data) return null;
    const made = new Timeline({ source, info, ...rows.data });
    if (foldedOf.key === key) made.folded.value = foldedOf.folded;
    return made;
  }, [rows.data, info]);
  useEffect(() => {
    // Told at once, so that a fix, which makes another timeline, keeps them too.
    const stop = timeline?.folded.subscribe((folded) => {
      foldedOf = { key, folded };
    });
    const stopPath = timeline && rows.data ? followPath(timeline, source, rows.data.of) : null;
    return () => {
      stop?.();
      stopPath?.();
      timeline?.dispose();
    };
  }, [timeline]);
  useEffect(() => {
    if (timeline) timeline.minimap.value = minimap.data;
  }, [timeline, minimap.data]);
  const { problem } = rows;
  return (
    <div class="page timeline-page" data-testid="page-timeline">
      <h1 class="offscreen">Timeline</h1>
      {problem && <ProblemBox problem={problem} />}
      {!timeline && !problem && <Busy what="Laying out lanes…" />}
      {timeline && (
        <>
          <EvidenceBar timeline={timeline} />
          <Stage timeline={timeline} />
          <Selected timeline={timeline} />
        </>
      )}
    </div>
  );
}
