import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Bin, logBins } from '../../lib/histogram';
import { wordFilter } from '../../lib/names';
import { type Gaps, readGaps } from '../../model/gaps';
import { causeTotals, type Per, perStep, segmentParameters, timeByGap } from '../../model/idle';
import { useTable } from '../../model/remote';
import { filter, filterParameters, gapQuery, idleDevice, idleKey } from '../../model/state';
import { numbers, sum } from '../../model/tables';
import type { Info, Table } from '../../model/wire';
import { Histogram } from '../parts/bars';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { CauseBar } from './cause_bar';
import { Headline } from './headline';
import { Remarks } from './remarks';
import { GapTable } from './table';
import { WaitTree } from './tree';

/** Who kept the GPU waiting: all idle time by cause, as a tree, and gap by gap. */
export function Causes({ info }: { info: Info }): JSX.Element {
  const asked = filterParameters(filter.value);
  const remote = useTable('gaps', asked);
  const causes = useTable('idle', { by: 'cause', ...asked });
  const devices = useTable('devices', {});
  const gaps = useMemo(() => (remote.data ? readGaps(remote.data) : null), [remote.data]);
  const problem = remote.problem ?? causes.problem;
  if (problem) return <ProblemBox problem={problem} />;
  if (!gaps || !remote.data || !causes.data) return <Busy what="Looking for gaps…" />;
  const per = perOf(info, causes.data);
  const totals = causeTotals(causes.data, idleDevice.value);
  return (
    <>
      <Headline gaps={gaps} devices={devices.data} idle={sum(totals.map((one) => one.total))} per={per} />
      <CauseBar totals={totals} per={per} />
      <Remarks notes={[...causes.data.notes, ...remote.data.notes]} />
      <div class="idle-columns">
        <WaitTree per={per} summed={causes.data} />
        <GapsOf gaps={gaps} table={remote.data} />
      </div>
    </>
  );
}

function perOf(info: Info, causes: Table): Per {
  const devices = idleDevice.value === null ? new Set(numbers(causes, 'device')).size : 1;
  return perStep(info.steps.length, devices, filter.value);
}

function select(gaps: Gaps, device: number | null, query: string): number[] {
  const passes = wordFilter(query);
  const order: number[] = [];
  for (let row = 0; row < gaps.rows; row++) {
    if (device !== null && gaps.device[row] !== device) continue;
    if (!query || passes(textOf(gaps, row))) order.push(row);
  }
  return order;
}

function textOf(gaps: Gaps, row: number): string {
  const around = `${gaps.next[row]}\n${gaps.launch[row]}\n${gaps.previous[row]}\n${gaps.endedBy[row]}`;
  return `${around}\n${gaps.cause[row]}\n${gaps.op[row]}\n${gaps.module[row]}\n${gaps.source[row]}\n${gaps.event[row]}`;
}

const NONE: ReadonlyMap<number, number> = new Map();

/** The gaps that have time in the chosen row of the tree, with that time; null without such a row. */
function useChosen(): { times: ReadonlyMap<number, number> | null; busy: boolean } {
  const key = idleKey.value;
  const parameters = key && segmentParameters(key, idleDevice.value, filter.value);
  const { data, busy } = useTable('idle_segments', parameters);
  const looking = busy && key !== null;
  // The answer before belongs to another row: until this one's comes, no gap is known to be of it.
  const times = useMemo(() => (key && data ? timeByGap(data, key) : null), [key, data]);
  return { times: looking ? NONE : times, busy: looking };
}

function GapsOf({ gaps, table }: { gaps: Gaps; table: Table }): JSX.Element {
  const [by, setBy] = useState<'count' | 'total'>('total');
  const [bin, setBin] = useState<Bin | null>(null);
  const { times, busy } = useChosen();
  // A row of the tree says which gaps; words of the search would narrow the same twice.
  const query = times ? '' : gapQuery.value;
  const order = useMemo(() => {
    const rows = select(gaps, idleDevice.value, query);
    return times ? rows.filter((row) => times.has(gaps.gap[row] ?? -1)) : rows;
  }, [gaps, idleDevice.value, query, times]);
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
    <div class="idle-gaps">
      <Section title="Lengths of the gaps" class="short" aside={aside}>
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
      <GapTable
        gaps={gaps}
        table={table}
        order={shown}
        times={times}
        busy={busy}
        bin={bin}
        clearBin={() => setBin(null)}
      />
    </div>
  );
}
