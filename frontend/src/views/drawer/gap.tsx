import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { causeTerm } from '../../lib/causes';
import { causeColour } from '../../lib/colours';
import { duration, exactTime, instant, MISSING, medianScale, percent, scaled } from '../../lib/format';
import { sourceLabel } from '../../lib/names';
import { type Gaps, openGap, readGaps, spoken, storyOf, type Told } from '../../model/gaps';
import { useTable } from '../../model/remote';
import { type Bar, selection } from '../../model/state';
import { allRows, column, nanoseconds, numbers, sortRows, texts } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, Name, ProblemBox } from '../parts/bits';
import { Grid } from '../parts/grid';
import type { GridColumn } from '../parts/sheet';
import { Block, Fact } from './event';

/** A gap: its story, what it was spent on, and the events around it. */
export function GapDetails({ gap }: { gap: number }): JSX.Element {
  const { data, problem } = useTable('gaps', {});
  const segments = useTable('idle_segments', { gap });
  const gaps = useMemo(() => (data ? readGaps(data) : null), [data]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!gaps) return <Busy what="Reading the gap…" />;
  const row = gaps.gap.indexOf(gap);
  if (row < 0) return <p class="hint">There is no gap {gap} in this trace.</p>;
  const own = segments.data && numbers(segments.data, 'gap').every((one) => one === gap) ? segments.data : null;
  return (
    <div class="details">
      <header class="details-title">
        <span class="swatch" style={{ background: causeColour(gaps.cause[row]) }} />
        <h2>
          GPU {gaps.device[row]} idle for {duration(gaps.duration[row])}
        </h2>
        <button type="button" class="quiet" onClick={() => openGap(gaps, row)}>
          Show in timeline
        </button>
      </header>
      <p class="story" data-testid="gap-story">
        <b title={exactTime(gaps.duration[row])}>{duration(gaps.duration[row])}</b>:{' '}
        {storyOf(gaps, row).map((part, i) => (
          <StoryPart key={i} part={part} />
        ))}
        .
      </p>
      {segments.problem && <ProblemBox problem={segments.problem} />}
      {own && <SegmentBar table={own} />}
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
          <Around gaps={gaps} row={row} />
        </Block>
        {own && <Segments table={own} start={gaps.start[row]} />}
      </div>
    </div>
  );
}

function Around({ gaps, row }: { gaps: Gaps; row: number }): JSX.Element {
  return (
    <>
      <Neighbour title="Work before" name={gaps.previous[row]} id={gaps.previousId[row]} />
      {gaps.event[row] !== '' && gaps.eventId[row] !== gaps.launchId[row] && (
        <Neighbour title="Kept waiting by" name={gaps.event[row]} id={gaps.eventId[row]} />
      )}
      <Neighbour title="Launched by" name={gaps.launch[row]} id={gaps.launchId[row]} />
      <Neighbour title="Next work" name={gaps.next[row]} id={gaps.nextId[row]} />
    </>
  );
}

function selectEvent(id: number | null): void {
  if (id !== null) selection.value = { kind: 'event', id };
}

function StoryPart({ part }: { part: Told }): JSX.Element {
  if (typeof part === 'string') return <>{part}</>;
  if (part.id === null) return <span title={part.name}>{short(part.name)}</span>;
  return (
    <button type="button" class="figure" title={part.name} onClick={() => selectEvent(part.id)}>
      {short(part.name)}
    </button>
  );
}

const LONGEST = 96;

/** A sentence stays one, whatever a name is like; the hover has all of it. */
function short(name: string): string {
  const text = spoken(name);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

interface Run {
  cause: string;
  length: number;
}

/** Neighbours of one cause as one stretch of the bar. */
function runsOf(table: Table): Run[] {
  const causes = texts(table, 'cause');
  const lengths = nanoseconds(table, 'duration_us');
  const runs: Run[] = [];
  causes.forEach((cause, row) => {
    const last = runs[runs.length - 1];
    if (last?.cause === cause) last.length += lengths[row] ?? 0;
    else runs.push({ cause, length: lengths[row] ?? 0 });
  });
  return runs;
}

function SegmentBar({ table }: { table: Table }): JSX.Element {
  const runs = useMemo(() => runsOf(table), [table]);
  return (
    <div class="cause-bar thin" data-testid="segment-bar" aria-hidden="true">
      {runs.map((run, i) => (
        <span
          key={i}
          style={{ flexGrow: run.length, background: causeColour(run.cause) }}
          title={`${causeTerm(run.cause).title}: ${exactTime(run.length)}\n${causeTerm(run.cause).help}`}
        />
      ))}
    </div>
  );
}

/** What the gap was spent on, stretch by stretch; a row leads to its event. */
function Segments({ table, start }: { table: Table; start: number }): JSX.Element {
  const [sort, setSort] = useState<Bar>({ column: 'start_us', descending: false });
  const order = useMemo(() => sortRows(allRows(table), column(table, sort.column), sort.descending), [table, sort]);
  const columns = useMemo(() => segmentColumns(table, start), [table, start]);
  const ids = numbers(table, 'event_id');
  return (
    <section class="block segments">
      <h3>What it was spent on</h3>
      <Grid
        label="Stretches of the gap"
        columns={columns}
        order={order}
        sort={sort}
        onSort={setSort}
        onOpen={(row) => selectEvent(ids[row])}
        rowAttributes={(row) => ({ 'data-testid': 'segment-row', 'data-cause': String(column(table, 'cause')[row]) })}
      />
    </section>
  );
}

function segmentColumns(table: Table, start: number): GridColumn[] {
  const starts = nanoseconds(table, 'start_us').map((value) => (value ?? 0) - start);
  const lengths = nanoseconds(table, 'duration_us');
  const scale = medianScale(lengths);
  const whole = lengths.reduce<number>((sum, value) => sum + (value ?? 0), 0) || 1;
  const causes = texts(table, 'cause');
  const ops = texts(table, 'op');
  const opIds = numbers(table, 'op_id');
  const sources = texts(table, 'source');
  const events = texts(table, 'event_name');
  return [
    {
      key: 'start_us',
      title: `At, ${scale.unit}`,
      help: 'From the start of the gap',
      width: '72px',
      number: true,
      cell: (row) => scaled(starts[row], scale),
      hover: (row) => exactTime(starts[row]),
    },
    {
      key: 'duration_us',
      title: `Length, ${scale.unit}`,
      width: '84px',
      number: true,
      cell: (row) => scaled(lengths[row], scale),
      hover: (row) => `${exactTime(lengths[row])}, ${percent((100 * (lengths[row] ?? 0)) / whole)}`,
    },
    {
      key: 'cause',
      title: 'Cause',
      width: '136px',
      cell: (row) => (
        <>
          <span class="swatch" style={{ background: causeColour(causes[row]) }} /> {causeTerm(causes[row]).title}
        </>
      ),
      hover: (row) => causeTerm(causes[row]).help,
    },
    { key: 'event_name', title: 'Spent in', width: 'auto', cell: (row) => <Name name={events[row]} /> },
    { key: 'op', title: 'Operator', width: '128px', cell: (row) => <OpLink name={ops[row]} id={opIds[row]} /> },
    {
      key: 'source',
      title: 'Source line',
      width: '148px',
      cell: (row) =>
        sources[row] ? (sourceLabel(sources[row]) ?? sources[row]) : <span class="muted">{MISSING}</span>,
      hover: (row) => sources[row],
    },
  ];
}

function OpLink({ name, id }: { name: string; id: number | null }): JSX.Element {
  if (id === null || name === '') return <Name name={name || null} />;
  const open = (event: Event) => {
    event.stopPropagation();
    selectEvent(id);
  };
  return (
    <button type="button" class="ref inline-ref" title={name} onClick={open}>
      <Name name={name} />
    </button>
  );
}

function Neighbour({ title, name, id }: { title: string; name: string; id: number | null }): JSX.Element {
  return (
    <div class="link">
      <span class="muted">{title}</span>
      {id === null ? (
        <Name name={name || null} />
      ) : (
        <button type="button" class="ref" title={name} onClick={() => selectEvent(id)}>
          <Name name={name} />
        </button>
      )}
    </div>
  );
}
