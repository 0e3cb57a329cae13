import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { duration, exactTime, instant, MISSING } from '../../lib/format';
import { openGap, readGaps } from '../../model/gaps';
import { useTable } from '../../model/remote';
import { selection } from '../../model/state';
import { Busy, Name, ProblemBox, Swatch } from '../parts/bits';
import { Block, Fact } from './event';

/** A gap and the events around it. */
export function GapDetails({ gap }: { gap: number }): JSX.Element {
  const { data, problem } = useTable('gaps', {});
  const gaps = useMemo(() => (data ? readGaps(data) : null), [data]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!gaps) return <Busy what="Reading the gap…" />;
  const row = gaps.gap.indexOf(gap);
  if (row < 0) return <p class="hint">There is no gap {gap} in this trace.</p>;
  return (
    <div class="details">
      <header class="details-title">
        <Swatch kind="idle" />
        <h2>
          GPU {gaps.device[row]} idle for {duration(gaps.duration[row])}
        </h2>
        <button type="button" class="quiet" onClick={() => openGap(gaps, row)}>
          Show in timeline
        </button>
      </header>
      <div class="details-columns">
        <Block title="Gap">
          <dl class="facts">
            <Fact name="Length" value={duration(gaps.duration[row])} hover={exactTime(gaps.duration[row])} />
            <Fact name="Start" value={instant(gaps.start[row], 1e3)} hover={exactTime(gaps.start[row])} />
            <Fact name="Ended by" value={gaps.endedBy[row] || MISSING} />
            <Fact name="Step" value={gaps.step[row] ?? MISSING} />
            <Fact
              name="Launch delay"
              value={duration(gaps.launchDelay[row])}
              hover={exactTime(gaps.launchDelay[row])}
            />
          </dl>
        </Block>
        <Block title="Around it">
          <Neighbour title="Work before" name={gaps.previous[row]} id={gaps.previousId[row]} />
          <Neighbour title="Next work" name={gaps.next[row]} id={gaps.nextId[row]} />
          <Neighbour title="Launched by" name={gaps.launch[row]} id={gaps.launchId[row]} />
        </Block>
      </div>
    </div>
  );
}

function Neighbour({ title, name, id }: { title: string; name: string; id: number | null }): JSX.Element {
  const select = () => {
    if (id !== null) selection.value = { kind: 'event', id };
  };
  return (
    <div class="link">
      <span class="muted">{title}</span>
      {id === null ? (
        <Name name={name || null} />
      ) : (
        <button type="button" class="ref" title={name} onClick={select}>
          <Name name={name} />
        </button>
      )}
    </div>
  );
}
