import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { causeTerm } from '../../lib/causes';
import { causeColour } from '../../lib/colours';
import {
  exactTime,
  instantIn,
  largest,
  MISSING,
  medianScale,
  percent,
  plural,
  scaled,
  timeScale,
} from '../../lib/format';
import type { Bin } from '../../lib/histogram';
import { briefStory, type Gaps, openGap, plainStory } from '../../model/gaps';
import { LEVEL_WORDS, type Level, valueLabel } from '../../model/idle';
import { type Bar, idleKey } from '../../model/state';
import { sortRows, sum } from '../../model/tables';
import type { Cell, Table } from '../../model/wire';
import { Section, ShareBar } from '../parts/bits';
import { Export } from '../parts/export';
import { Grid } from '../parts/grid';
import type { GridColumn } from '../parts/sheet';

interface GapTableProps {
  gaps: Gaps;
  table: Table;
  order: number[];
  /** Time of the chosen row of the tree by gap. */
  times: ReadonlyMap<number, number> | null;
  busy: boolean;
  bin: Bin | null;
  clearBin: () => void;
}

export function GapTable(props: GapTableProps): JSX.Element {
  const { gaps, order, times } = props;
  const [sort, setSort] = useState<Bar>({ column: 'duration', descending: true });
  const part = useMemo(() => times && gaps.gap.map((gap) => times.get(gap ?? -1) ?? null), [gaps, times]);
  const by = !part && sort.column === 'part' ? 'duration' : sort.column;
  const columns = useMemo(() => gapColumns(gaps, order, part), [gaps, order, part]);
  const sorted = useMemo(
    () => sortRows(order, by === 'part' && part ? part : sortValues(gaps, by), sort.descending),
    [order, gaps, by, part, sort],
  );
  return (
    <Section title="Gaps" class="grow" aside={<Aside {...props} order={sorted} columns={columns} />}>
      <Grid
        label="Gaps"
        name="gaps"
        columns={columns}
        order={sorted}
        sort={{ ...sort, column: by }}
        onSort={setSort}
        onOpen={(row) => openGap(gaps, row)}
        empty={props.busy ? 'Looking for its gaps…' : 'No gap matches.'}
        rowAttributes={(row) => ({
          'data-testid': 'gap-row',
          'data-gap': gaps.gap[row],
          'data-start-ns': gaps.start[row],
          'data-duration-ns': gaps.duration[row],
          'data-part-ns': part ? part[row] : null,
        })}
      />
    </Section>
  );
}

function Aside(props: GapTableProps & { columns: GridColumn[] }): JSX.Element {
  const { gaps, table, order, busy, bin, clearBin } = props;
  return (
    <>
      <span class="muted" role="status">
        {busy ? 'Looking…' : plural(order.length, 'gap')}
        {!busy && order.length < gaps.rows && ` of ${gaps.rows}`}
      </span>
      <ChosenChip />
      {bin && (
        <button type="button" class="chip" onClick={clearBin}>
          one length only <span aria-hidden="true">✕</span>
        </button>
      )}
      <Export table={table} order={order} name="gaps" grid="gaps" columns={props.columns} />
    </>
  );
}

/** The row of the tree that the gaps are narrowed to. */
function ChosenChip(): JSX.Element | null {
  const key = idleKey.value;
  if (!key) return null;
  const words = Object.entries(key).map(([level, value]) =>
    value === null ? LEVEL_WORDS[level as Level].none : valueLabel(level as Level, value),
  );
  const label = words[words.length - 1] ?? '';
  return (
    <button
      type="button"
      class="chip"
      data-testid="idle-chip"
      title={`Only gaps with time in: ${words.join(' → ')}`}
      onClick={() => (idleKey.value = null)}
    >
      <span class="chip-text">{label}</span> <span aria-hidden="true">✕</span>
    </button>
  );
}

function sortValues(gaps: Gaps, key: string): Cell[] {
  const values: Record<string, Cell[]> = {
    device: gaps.device,
    start: gaps.start,
    duration: gaps.duration,
    story: gaps.cause,
    launchDelay: gaps.launchDelay,
    step: gaps.step,
  };
  return values[key] ?? gaps.duration;
}

/** Room for the telling part; the other columns scroll where there is less. */
const STORY = '440px';
/** Columns of the view that each is made of. */
const MADE_OF: Record<string, string[]> = {
  duration: ['duration_us'],
  part: [],
  story: ['cause', 'cause_us', 'op', 'module', 'source', 'event_name', 'event_id', 'event_us'],
  start: ['start_us'],
  launchDelay: ['launch_delay_us'],
};

function gapColumns(gaps: Gaps, order: number[], part: (number | null)[] | null): GridColumn[] {
  const scale = timeScale(largest(order.map((row) => gaps.duration[row])));
  const clock = timeScale(largest(order.map((row) => gaps.start[row])));
  const delays = medianScale(order.map((row) => gaps.launchDelay[row]));
  const whole = sum(order.map((row) => gaps.duration[row])) || 1;
  const many = new Set(gaps.device).size > 1;
  const columns: (GridColumn | false)[] = [
    many && { key: 'device', title: 'GPU', width: '56px', number: true, cell: (row) => gaps.device[row] ?? MISSING },
    {
      key: 'duration',
      title: `Length, ${scale.unit}`,
      help: 'The bar is its share of the idle time listed',
      width: '100px',
      number: true,
      cell: (row) => (
        <ShareBar share={(100 * gaps.duration[row]) / whole} text={scaled(gaps.duration[row], scale)} kind="idle" />
      ),
      hover: (row) =>
        `${exactTime(gaps.duration[row])}, ${percent((100 * gaps.duration[row]) / whole)} of the idle time listed`,
    },
    part !== null && {
      key: 'part',
      title: `In it, ${scale.unit}`,
      help: 'Time of the gap that belongs to the chosen row of the tree',
      width: '80px',
      number: true,
      cell: (row) => scaled(part[row], scale),
      hover: (row) => exactTime(part[row]),
    },
    {
      key: 'story',
      title: 'What kept it waiting',
      help: 'Its main cause, who was at work, and when the next launch came',
      width: STORY,
      cell: (row) => (
        <>
          <span class="swatch" style={{ background: causeColour(gaps.cause[row]) }} /> {briefStory(gaps, row)}
        </>
      ),
      hover: (row) => `${causeTerm(gaps.cause[row]).title}: ${plainStory(gaps, row)}.`,
    },
    {
      key: 'start',
      title: `Start, ${clock.unit}`,
      help: 'From the start of the recording',
      width: '100px',
      number: true,
      cell: (row) => instantIn(gaps.start[row], clock),
      hover: (row) => exactTime(gaps.start[row]),
    },
    { key: 'step', title: 'Step', width: '56px', number: true, cell: (row) => gaps.step[row] ?? MISSING },
    {
      key: 'launchDelay',
      title: `Delay, ${delays.unit}`,
      help: 'From the start of the launching call to the start of the next work',
      width: '88px',
      number: true,
      cell: (row) => scaled(gaps.launchDelay[row], delays),
      hover: (row) => exactTime(gaps.launchDelay[row]),
    },
  ];
  return columns.filter((column) => column !== false).map((column) => ({ ...column, of: MADE_OF[column.key] }));
}
