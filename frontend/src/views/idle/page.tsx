import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Bin, logBins } from '../../lib/histogram';
import { wordFilter } from '../../lib/names';
import { type Gaps, readGaps } from '../../model/gaps';
import { useTable } from '../../model/remote';
import { filter, filterParameters, gapQuery, idleDevice } from '../../model/state';
import { totals } from '../../model/tables';
import type { Info } from '../../model/wire';
import { Histogram } from '../parts/bars';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { Headline } from './headline';
import { GapTable } from './table';
import { EndedBy } from './totals';

export function IdlePage({ info }: { info: Info }): JSX.Element {
  const remote = useTable('gaps', filterParameters(filter.value));
  const devices = useTable('devices', {});
  const steps = useTable('steps', {});
  const gaps = useMemo(() => (remote.data ? readGaps(remote.data) : null), [remote.data]);
  return (
    <div class="page fixed" data-testid="page-idle">
      <h1 class="offscreen">GPU idle</h1>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!gaps && !remote.problem && <Busy what="Looking for gaps…" />}
      {gaps && remote.data && (
        <>
          <Headline gaps={gaps} devices={devices.data} steps={steps.data} info={info} />
          <Body gaps={gaps} notes={remote.data.notes} />
        </>
      )}
    </div>
  );
}

function select(gaps: Gaps, device: number | null, query: string): number[] {
  const passes = wordFilter(query);
  const order: number[] = [];
  for (let row = 0; row < gaps.rows; row++) {
    if (device !== null && gaps.device[row] !== device) continue;
    const text = `${gaps.next[row]}\n${gaps.launch[row]}\n${gaps.previous[row]}\n${gaps.endedBy[row]}`;
    if (!query || passes(text)) order.push(row);
  }
  return order;
}

function Body({ gaps, notes }: { gaps: Gaps; notes: string[] }): JSX.Element {
  const [by, setBy] = useState<'count' | 'total'>('count');
  const [bin, setBin] = useState<Bin | null>(null);
  const order = useMemo(() => select(gaps, idleDevice.value, gapQuery.value), [gaps, idleDevice.value, gapQuery.value]);
  const bins = useMemo(() => logBins(order.map((row) => gaps.duration[row])), [order]);
  const shown = useMemo(() => {
    const inBin = (row: number) => !bin || (gaps.duration[row] >= bin.low && gaps.duration[row] < bin.high);
    return order.filter(inBin);
  }, [order, bin]);
  const aside = (
    <Choice
      label="Height of the bars"
      value={by}
      options={[
        { value: 'count', label: 'Count', help: 'How many gaps are this long' },
        { value: 'total', label: 'Time', help: 'How much idle time lies in gaps this long' },
      ]}
      onChange={setBy}
    />
  );
  return (
    <>
      <div class="columns short">
        <Section title="Lengths of the gaps" aside={aside}>
          <div data-testid="gap-histogram">
            <Histogram
              bins={bins}
              by={by}
              noun="gap"
              testId="gap-bar"
              label="Gaps by length, logarithmic"
              picked={bin}
              onPick={(picked) => setBin(bin?.low === picked.low ? null : picked)}
            />
          </div>
        </Section>
        <Section title="What ended them">
          <EndedBy totals={totals(order, gaps.endedBy, gaps.duration)} />
        </Section>
      </div>
      {notes.map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
      <GapTable gaps={gaps} order={shown} bin={bin} clearBin={() => setBin(null)} />
    </>
  );
}
