import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
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
import { type Gaps, openGap } from '../../model/gaps';
import type { Bar } from '../../model/state';
import { sortRows, sum } from '../../model/tables';
import type { Cell } from '../../model/wire';
import { Name, Section, ShareBar, Swatch } from '../parts/bits';
import { Grid, type GridColumn } from '../parts/grid';

interface GapTableProps {
  gaps: Gaps;
  order: number[];
  bin: Bin | null;
  clearBin: () => void;
}

export function GapTable({ gaps, order, bin, clearBin }: GapTableProps): JSX.Element {
  const [sort, setSort] = useState<Bar>({ column: 'duration', descending: true });
  const columns = useMemo(() => gapColumns(gaps, order), [gaps, order]);
  const sorted = useMemo(() => sortRows(order, sortValues(gaps, sort.column), sort.descending), [order, gaps, sort]);
  const aside = (
    <>
      <span class="muted">
        {plural(order.length, 'gap')}
        {order.length < gaps.rows && ` of ${gaps.rows}`}. A row opens the timeline.
      </span>
      {bin && (
        <button type="button" class="chip" onClick={clearBin}>
          one length only <span aria-hidden="true">✕</span>
        </button>
      )}
    </>
  );
  return (
    <Section title="Gaps" class="grow" aside={aside}>
      <Grid
        label="Gaps"
        columns={columns}
        order={sorted}
        sort={sort}
        onSort={setSort}
        onOpen={(row) => openGap(gaps, row)}
        empty="No gap matches."
        rowAttributes={(row) => ({
          'data-testid': 'gap-row',
          'data-gap': gaps.gap[row],
          'data-start-ns': gaps.start[row],
          'data-duration-ns': gaps.duration[row],
        })}
      />
    </Section>
  );
}

function sortValues(gaps: Gaps, key: string): Cell[] {
  const values: Record<string, Cell[]> = {
    device: gaps.device,
    start: gaps.start,
    duration: gaps.duration,
    endedBy: gaps.endedBy,
    next: gaps.next,
    launch: gaps.launch,
    launchDelay: gaps.launchDelay,
    previous: gaps.previous,
    step: gaps.step,
  };
  return values[key] ?? gaps.duration;
}

function gapColumns(gaps: Gaps, order: number[]): GridColumn[] {
  const scale = medianScale(order.map((row) => gaps.duration[row]));
  const clock = timeScale(largest(order.map((row) => gaps.start[row])));
  const delays = medianScale(order.map((row) => gaps.launchDelay[row]));
  const whole = sum(order.map((row) => gaps.duration[row])) || 1;
  const many = new Set(gaps.device).size > 1;
  const columns: GridColumn[] = [
    { key: 'device', title: 'GPU', width: '56px', number: true, cell: (row) => gaps.device[row] ?? MISSING },
    {
      key: 'start',
      title: `Start, ${clock.unit}`,
      help: 'From the start of the recording',
      width: '112px',
      number: true,
      cell: (row) => instantIn(gaps.start[row], clock),
      hover: (row) => exactTime(gaps.start[row]),
    },
    {
      key: 'duration',
      title: `Length, ${scale.unit}`,
      help: 'The bar is its share of the idle time listed',
      width: '112px',
      number: true,
      cell: (row) => (
        <ShareBar share={(100 * gaps.duration[row]) / whole} text={scaled(gaps.duration[row], scale)} kind="idle" />
      ),
      hover: (row) =>
        `${exactTime(gaps.duration[row])}, ${percent((100 * gaps.duration[row]) / whole)} of the idle time listed`,
    },
    { key: 'step', title: 'Step', width: '56px', number: true, cell: (row) => gaps.step[row] ?? MISSING },
    {
      key: 'endedBy',
      title: 'Ended by',
      width: '104px',
      cell: (row) => (
        <>
          <Swatch kind={gaps.endedBy[row]} /> {gaps.endedBy[row] || MISSING}
        </>
      ),
    },
    { key: 'next', title: 'Next work', width: 'auto', cell: (row) => <Name name={gaps.next[row]} /> },
    { key: 'launch', title: 'Launched by', width: '148px', cell: (row) => <Name name={gaps.launch[row]} /> },
    {
      key: 'launchDelay',
      title: `Delay, ${delays.unit}`,
      help: 'From the start of the launching call to the start of the next work',
      width: '88px',
      number: true,
      cell: (row) => scaled(gaps.launchDelay[row], delays),
      hover: (row) => exactTime(gaps.launchDelay[row]),
    },
    { key: 'previous', title: 'Work before', width: '22%', cell: (row) => <Name name={gaps.previous[row]} /> },
  ];
  return many ? columns : columns.slice(1);
}
