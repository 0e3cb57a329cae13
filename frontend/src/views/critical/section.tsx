import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { causeOrder, pathTerm } from '../../lib/causes';
import { pathColour } from '../../lib/colours';
import { count, duration, exactTime, largest, percent, plural, scaled, timeScale } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { type PathRow, periodOf, readPath } from '../../model/critical';
import { useSource, useTable } from '../../model/remote';
import type { Subject } from '../../model/source';
import {
  type Bar,
  filter,
  filterStep,
  gapQuery,
  notice,
  pathKind,
  showCriticalPath,
  showInTimeline,
  subject,
  theme,
} from '../../model/state';
import { allRows, sortRows } from '../../model/tables';
import type { Cell, Info, Problem, Table } from '../../model/wire';
import { Remarks } from '../idle/remarks';
import { Busy, Name, ProblemBox, Section, ShareBar } from '../parts/bits';
import { Export } from '../parts/export';
import { Grid } from '../parts/grid';
import type { GridColumn } from '../parts/sheet';

const WHAT_IF =
  'How long that would be at least, if all this took no time. An upper bound of the gain: another chain of events may be nearly as long.';
const GAIN: Record<string, string> = {
  'A step': 'Time on the path, in the mean of the steps: the most that a step can gain if all of it took no time',
  Recording: 'Time on the path: the most that the recording can gain if all of it took no time',
};

/** What the time of a step was spent on, one thing after the other. */
export function CriticalPath({ info }: { info: Info }): JSX.Element {
  const step = filter.value?.step ?? null;
  const asked = step === null ? {} : { step };
  const kinds = useTable('critical_path', { by: 'kind', ...asked });
  const names = useTable('critical_path', pathKind.value === null ? null : { by: 'name', ...asked });
  if (kinds.problem) return <ProblemBox problem={kinds.problem} />;
  if (!kinds.data) return <Busy what="Walking back through the steps…" />;
  const whose = info.steps.length === 0 ? 'Recording' : 'A step';
  const range =
    filter.value && step === null
      ? ['The critical path is that of whole steps: the chosen time does not narrow it.']
      : [];
  return (
    <>
      <Headline info={info} rows={readPath(kinds.data)} step={step} />
      <Remarks notes={[...range, ...kinds.data.notes]} />
      <div class="idle-columns">
        <Kinds table={kinds.data} whose={whose} />
        {pathKind.value === null ? (
          <Section title="Events">
            <p class="hint">Pick a kind: its events by name, longest first, each with the way to the timeline.</p>
          </Section>
        ) : (
          <Events table={names.data} problem={names.problem} kind={pathKind.value} whose={whose} />
        )}
      </div>
    </>
  );
}

function Headline({ info, rows, step }: { info: Info; rows: PathRow[]; step: number | null }): JSX.Element {
  const period = periodOf(rows);
  const share = (side: string) =>
    (100 * rows.filter((row) => row.side === side).reduce((sum, row) => sum + row.gain, 0)) / (period || 1);
  const subject_ = info.steps.length === 0 ? 'The recording' : step === null ? 'A step' : `Step ${step}`;
  return (
    <div class="headline">
      <p class="verdict" data-testid="path-verdict">
        {subject_} takes <b title={exactTime(period)}>{duration(period)}</b>
        {info.steps.length > 1 && step === null && ' in the mean'}
        {share('device') > 0 ? (
          <>
            : for {percent(share('device'))} the device is what it waits for, for {percent(share('host'))} the host.
          </>
        ) : (
          ', all of it on the host.'
        )}
      </p>
      <div class="row">
        {info.steps.length > 1 && <StepPicker info={info} />}
        <button type="button" class="primary" data-testid="show-path" onClick={() => showCriticalPath(filter.value)}>
          Show in timeline
        </button>
      </div>
    </div>
  );
}

/** The step that every page is narrowed to. */
function StepPicker({ info }: { info: Info }): JSX.Element {
  const pick = (text: string) => {
    const step = info.steps.find((one) => String(one.step) === text);
    if (!step) filter.value = null;
    else if (filter.value?.step !== step.step) filterStep(step);
  };
  return (
    <label class="inline">
      Step{' '}
      <select
        data-testid="path-step"
        value={String(filter.value?.step ?? '')}
        onChange={(event) => pick(event.currentTarget.value)}
      >
        <option value="">all {count(info.steps.length)}</option>
        {info.steps.map((one) => (
          <option key={one.step} value={String(one.step)}>
            {one.step}
          </option>
        ))}
      </select>
    </label>
  );
}

function useSorted(rows: PathRow[], order: number[]) {
  const [sort, setSort] = useState<Bar>({ column: 'gain', descending: true });
  const sorted = useMemo(() => {
    const values = rows.map((row) => (row as unknown as Record<string, Cell>)[sort.column] ?? null);
    return sortRows(order, values, sort.descending);
  }, [rows, order, sort]);
  return { sort, setSort, sorted };
}

function Kinds({ table, whose }: { table: Table; whose: string }): JSX.Element {
  const rows = useMemo(
    () => readPath(table).sort((a, b) => b.gain - a.gain || causeOrder(a.kind) - causeOrder(b.kind)),
    [table],
  );
  const all = useMemo(() => rows.map((_, i) => i), [rows]);
  const { sort, setSort, sorted } = useSorted(rows, all);
  const columns = useMemo(() => kindColumns(rows, whose), [rows, whose, theme.value]);
  const current = rows.findIndex((row) => row.kind === pathKind.value);
  return (
    <Section
      title="Kinds"
      class="grow"
      aside={<Export table={table} order={allRows(table)} name="critical-path" grid="path-kinds" columns={columns} />}
    >
      <Grid
        label="Critical path by kind"
        name="path-kinds"
        columns={columns}
        order={sorted}
        sort={sort}
        onSort={setSort}
        current={current}
        onOpen={(row) => (pathKind.value = pathKind.value === rows[row].kind ? null : rows[row].kind)}
        rowAttributes={(row) => ({
          'data-testid': 'path-kind',
          'data-kind': rows[row].kind,
          'data-total-ns': rows[row].total,
        })}
        footer={(column) => <PathTotal column={column} rows={rows} />}
        empty="No critical path: nothing was recorded in the steps."
      />
    </Section>
  );
}

function PathTotal({ column, rows }: { column: GridColumn; rows: PathRow[] }): JSX.Element | null {
  if (column.key === 'kind') return <>Path</>;
  if (column.key === 'gain') return <>{duration(periodOf(rows))}</>;
  if (column.key === 'share') return <>{percent(rows.length > 0 ? 100 : null)}</>;
  if (column.key === 'count') return <>{count(rows.reduce((sum, row) => sum + row.count, 0))}</>;
  return null;
}

function kindColumns(rows: PathRow[], whose: string): GridColumn[] {
  const period = periodOf(rows);
  const whole = timeScale(period);
  const each = figures(rows, whose);
  return [
    {
      key: 'kind',
      title: 'Kind',
      width: 'auto',
      cell: (row) => (
        <>
          <span class="swatch" style={{ background: pathColour(rows[row].kind, theme.value) }} />{' '}
          {pathTerm(rows[row].kind).title}
        </>
      ),
      hover: (row) => pathTerm(rows[row].kind).help,
    },
    { key: 'side', title: 'Side', width: '64px', cell: (row) => rows[row].side },
    ...each.slice(0, 2),
    {
      key: 'rest',
      of: [],
      title: `Without it, ${whole.unit}`,
      help: WHAT_IF,
      width: '116px',
      number: true,
      sortable: false,
      cell: (row) => scaled(period - rows[row].gain, whole),
      hover: (row) => `${exactTime(period - rows[row].gain)}. ${WHAT_IF}`,
    },
    ...each.slice(2),
  ];
}

function figures(rows: PathRow[], whose: string): GridColumn[] {
  const each = timeScale(largest(rows.map((row) => row.gain)));
  const longest = timeScale(largest(rows.map((row) => row.longest)));
  const most = largest(rows.map((row) => row.share)) || 1;
  return [
    {
      key: 'gain',
      title: `${whose}, ${each.unit}`,
      of: ['gain_us', 'total_us'],
      help: GAIN[whose],
      width: '96px',
      number: true,
      cell: (row) => scaled(rows[row].gain, each),
      hover: (row) => `${exactTime(rows[row].gain)}, ${exactTime(rows[row].total)} in all`,
    },
    {
      key: 'share',
      title: 'Share',
      of: ['share_pct'],
      help: 'Part of the path',
      width: '96px',
      number: true,
      cell: (row) => <PathShare row={rows[row]} most={most} />,
    },
    { key: 'count', title: 'Stretches', width: '84px', number: true, cell: (row) => count(rows[row].count) },
    {
      key: 'longest',
      of: ['longest_us', 'longest_id'],
      title: `Longest, ${longest.unit}`,
      width: '100px',
      number: true,
      cell: (row) => scaled(rows[row].longest, longest),
      hover: (row) => exactTime(rows[row].longest),
    },
  ];
}

function PathShare({ row, most }: { row: PathRow; most: number }): JSX.Element {
  return (
    <ShareBar
      share={(100 * (row.share ?? 0)) / most}
      text={percent(row.share)}
      colour={pathColour(row.kind, theme.value)}
    />
  );
}

interface EventsProps {
  table: Table | null;
  problem: Problem | null;
  kind: string;
  whose: string;
}

function Events({ table, problem, kind, whose }: EventsProps): JSX.Element {
  const title = `${pathTerm(kind).title}, by event`;
  if (problem) return <ProblemBox problem={problem} />;
  if (!table) return <Busy what="Adding up its events…" />;
  return <EventTable table={table} kind={kind} title={title} whose={whose} />;
}

interface EventTableProps {
  table: Table;
  kind: string;
  title: string;
  whose: string;
}

function EventTable({ table, kind, title, whose }: EventTableProps): JSX.Element {
  const rows = useMemo(() => readPath(table), [table]);
  const show = useShowEvent();
  const order = useMemo(() => {
    const passes = wordFilter(gapQuery.value);
    return rows.map((_, i) => i).filter((i) => rows[i].kind === kind && passes(rows[i].name));
  }, [rows, kind, gapQuery.value]);
  const { sort, setSort, sorted } = useSorted(rows, order);
  const columns = useMemo(() => {
    const own = order.map((i) => rows[i]);
    const name: GridColumn = {
      key: 'name',
      title: 'Event',
      width: 'auto',
      cell: (row) =>
        rows[row].name === '' ? <span class="muted">nothing recorded</span> : <Name name={rows[row].name} />,
    };
    // Units and bars by the rows of this kind, cells by the row of the whole table.
    const at = new Map(order.map((row, i) => [row, i]));
    const moved = figures(own, whose).map((column) => ({
      ...column,
      cell: (row: number) => column.cell(at.get(row) ?? 0),
      hover: column.hover && ((row: number) => column.hover?.(at.get(row) ?? 0) ?? ''),
    }));
    return [name, ...moved];
  }, [rows, order, whose, theme.value]);
  const aside = (
    <>
      <span class="muted">{plural(order.length, 'row')}. A row opens the longest.</span>
      <Export table={table} order={sorted} name="critical-path-by-name" grid="path-events" columns={columns} />
    </>
  );
  return (
    <Section title={title} class="grow" aside={aside}>
      <Grid
        label={title}
        name="path-events"
        columns={columns}
        order={sorted}
        sort={sort}
        onSort={setSort}
        onOpen={(row) => show(rows[row].longestId)}
        rowAttributes={() => ({ 'data-testid': 'path-event' })}
        empty="No event of this kind is on the path."
      />
    </Section>
  );
}

/** Opens the timeline at an event of which only the id is known. */
function useShowEvent(): (id: number | null) => void {
  const source = useSource();
  return (id) => {
    const of = subject.value as Subject;
    if (id === null) return;
    source.event(of, id).then(
      (event) => showInTimeline(event.start_ns, event.duration_ns, { kind: 'event', id: event.id }),
      (error) => notice(`The event could not be read: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
}
