import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import {
  count,
  duration,
  exactTime,
  instantIn,
  largest,
  MISSING,
  medianScale,
  percent,
  plural,
  scaled,
  significant,
  timeScale,
} from '../../lib/format';
import { durationBins, median } from '../../lib/histogram';
import { tame } from '../../lib/names';
import { callParameters, fittingCalls, isNamed, kernelKind, titleOf } from '../../model/kernels';
import { useEvent, useTable } from '../../model/remote';
import {
  type Bar,
  filter,
  filterWords,
  findEvents,
  go,
  type Selection,
  selectionParameters,
  showInTimeline,
} from '../../model/state';
import { allRows, column, nanoseconds, numbers, sortRows, sum, texts } from '../../model/tables';
import type { Kind, Table } from '../../model/wire';
import { Histogram } from '../parts/bars';
import { Busy, CopyButton, Name, ProblemBox, Swatch } from '../parts/bits';
import { Grid } from '../parts/grid';
import { Scatter } from '../parts/scatter';
import type { GridColumn } from '../parts/sheet';
import { Block, Fact } from './event';
import { LineDetails } from './line';

type Selected = Extract<Selection, { kind: 'kernel' }>;

/** A row of the kernel table: of a source line what runs for it, of others each call. */
export function KernelDetails({ selected }: { selected: Selected }): JSX.Element {
  return selected.key.source === undefined ? <CallDetails selected={selected} /> : <LineDetails selected={selected} />;
}

/** The calls of one row of the kernel table: how long, when, and each one. */
function CallDetails({ selected }: { selected: Selected }): JSX.Element {
  const { data, problem } = useTable('kernel_calls', {
    ...selectionParameters(filter.value),
    ...callParameters(selected.key, selected.by, selected.like),
  });
  const calls = useMemo(() => data && fittingCalls(selected.key, data), [selected.key, data]);
  const one = useEvent(selected.like).data;
  const like = one?.id === selected.like ? one : null;
  // An address leaves a very long name to a call that has it.
  const named = isNamed(selected.by);
  const name = named ? (selected.key.name ?? like?.name) : undefined;
  const title = titleOf(name === undefined ? selected.key : { ...selected.key, name });
  const category = selected.key.category ?? (calls && column(calls, 'category')[0]);
  const kind = named && like?.kind === 'communication' ? 'communication' : kernelKind(category);
  return (
    <div class="details">
      <header class="details-title">
        <Swatch kind={kind} />
        <h2 title={title}>{tame(title)}</h2>
        <CopyButton text={title} label="Copy name" />
        {named && <Of selected={selected} />}
        {typeof name === 'string' && name !== '' && <FindAll name={name} />}
      </header>
      {problem && <ProblemBox problem={problem} />}
      {!calls && !problem && <Busy what="Reading the calls…" />}
      {calls && <Calls table={calls} kind={kind} />}
    </div>
  );
}

/** Which calls of the kernel these are, where not all. */
function Of({ selected }: { selected: Selected }): JSX.Element | null {
  const { op, module, op_like } = selected.key;
  if (op_like !== undefined) return <span class="muted">launched by the chosen row of the operators</span>;
  if (op !== undefined) return <span class="muted">launched by {op === null ? 'no operator' : tame(String(op))}</span>;
  if (module !== undefined) {
    return <span class="muted">{module === null ? 'outside all modules' : `in ${lastNames(String(module))}`}</span>;
  }
  return null;
}

function FindAll({ name }: { name: string }): JSX.Element {
  const find = () => {
    findEvents(`"${name}"`);
    go('timeline');
  };
  return (
    <button type="button" class="quiet" onClick={find}>
      Find in timeline
    </button>
  );
}

function Calls({ table, kind }: { table: Table; kind: Kind }): JSX.Element {
  const lengths = useMemo(() => nanoseconds(table, 'duration_us').map((value) => value ?? 0), [table]);
  const starts = useMemo(() => nanoseconds(table, 'start_us').map((value) => value ?? 0), [table]);
  const bins = useMemo(() => durationBins(lengths), [lengths]);
  const ids = numbers(table, 'id');
  const show = (row: number) => {
    const id = ids[row];
    showInTimeline(starts[row], lengths[row], id === null ? null : { kind: 'event', id });
  };
  if (table.rows === 0) return <p class="hint">No call{filter.value ? ` ${filterWords(filter.value)}` : ''}.</p>;
  const middle = duration(median(lengths));
  return (
    <div class="details-columns calls">
      <Block title={`Durations: ${plural(table.rows, 'call')}, ${duration(sum(lengths))}, median ${middle}`}>
        <Histogram bins={bins} by="count" noun="call" label="Calls by duration" />
      </Block>
      <Launched table={table} />
      <Block title="Duration over time">
        <Scatter
          label={`Duration of ${count(table.rows)} calls over time, median ${middle}`}
          starts={starts}
          lengths={lengths}
          kind={kind}
          onPick={show}
        />
      </Block>
      <Block title="Calls: a row shows it in the timeline">
        <CallTable table={table} starts={starts} lengths={lengths} onOpen={show} />
      </Block>
    </div>
  );
}

/** What the calls were launched with, and by whom. */
function Launched({ table }: { table: Table }): JSX.Element {
  const occupancy = numbers(table, 'occupancy_pct');
  const unknown = occupancy.filter((value) => value === null).length;
  const fact = (name: string, key: string, label = tame) => <Fact name={name} value={severalOf(table, key, label)} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="block launched" data-testid="kernel-launched" tabIndex={0} aria-label="Launched with">
      <h3>Launched with</h3>
      <dl class="facts">
        {fact('Grid', 'grid')}
        {fact('Block', 'block')}
        {fact('Registers', 'registers')}
        {fact('Shared, B', 'shared_memory')}
        <Fact name="Blocks per SM" value={rangeOf(numbers(table, 'blocks_per_sm'), significant)} />
        <Fact
          name="Occupancy"
          value={`${rangeOf(occupancy, percent)}${unknown > 0 ? `, unknown of ${count(unknown)}` : ''}`}
        />
        {fact('Category', 'category')}
        {fact('Operator', 'op')}
        {fact('Module', 'module', lastNames)}
      </dl>
    </section>
  );
}

const LISTED = 3;

/** A module by the end of its path. */
function lastNames(path: string): string {
  const names = path.split('/');
  return names.length > 2 ? `…/${names.slice(-2).join('/')}` : path;
}

/** The values that occur, the most frequent first. */
function severalOf(table: Table, key: string, label: (text: string) => string): string {
  const found = new Map<string, number>();
  for (const value of column(table, key)) {
    const text = value === null ? MISSING : label(String(value));
    found.set(text, (found.get(text) ?? 0) + 1);
  }
  const values = [...found]
    .sort((a, b) => b[1] - a[1])
    .map(([text]) => (text.length > 120 ? `${text.slice(0, 120)}…` : text));
  const rest = values.length - LISTED;
  return values.slice(0, LISTED).join(' · ') + (rest > 0 ? ` · and ${count(rest)} more` : '');
}

function rangeOf(values: (number | null)[], print: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return MISSING;
  const [low, high] = known.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [known[0], known[0]]);
  return low === high ? print(low) : `${print(low)} – ${print(high)}`;
}

interface CallTableProps {
  table: Table;
  starts: number[];
  lengths: number[];
  onOpen: (row: number) => void;
}

function CallTable(props: CallTableProps): JSX.Element {
  const { table } = props;
  const [sort, setSort] = useState<Bar>({ column: 'duration_us', descending: true });
  const order = useMemo(() => sortRows(allRows(table), column(table, sort.column), sort.descending), [table, sort]);
  const columns = useMemo(() => callColumns(props), [table, props.starts, props.lengths]);
  return (
    <Grid
      label="Calls"
      columns={columns}
      order={order}
      sort={sort}
      onSort={setSort}
      onOpen={props.onOpen}
      rowAttributes={() => ({ 'data-testid': 'call-row' })}
    />
  );
}

function callColumns({ table, starts, lengths }: CallTableProps): GridColumn[] {
  const scale = medianScale(lengths);
  const clock = timeScale(largest(starts));
  const delays = nanoseconds(table, 'launch_delay_us');
  const delayScale = medianScale(delays);
  const ops = texts(table, 'op');
  const plain = (key: string, title: string): GridColumn => {
    const values = column(table, key);
    return { key, title, width: '60px', number: true, cell: (row) => values[row] ?? MISSING };
  };
  return [
    {
      key: 'start_us',
      title: `Start, ${clock.unit}`,
      width: '104px',
      number: true,
      cell: (row) => instantIn(starts[row], clock),
      hover: (row) => exactTime(starts[row]),
    },
    {
      key: 'duration_us',
      title: `Duration, ${scale.unit}`,
      width: '112px',
      number: true,
      cell: (row) => scaled(lengths[row], scale),
      hover: (row) => exactTime(lengths[row]),
    },
    {
      key: 'launch_delay_us',
      title: `Delay, ${delayScale.unit}`,
      help: 'From the start of the launching call to the start of the kernel',
      width: '84px',
      number: true,
      cell: (row) => scaled(delays[row], delayScale),
      hover: (row) => exactTime(delays[row]),
    },
    plain('step', 'Step'),
    plain('stream', 'Stream'),
    { key: 'op', title: 'Operator', width: 'auto', cell: (row) => <Name name={ops[row]} /> },
  ];
}
