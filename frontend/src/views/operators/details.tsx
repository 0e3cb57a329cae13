import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactTime, MISSING, percent, plural, significant } from '../../lib/format';
import { median } from '../../lib/histogram';
import { tame } from '../../lib/names';
import { keyOf, likeOf } from '../../model/kernels';
import { defaultSort, isOwned, operatorTitle, relative, rowOf, rowsBelow, rowsWith } from '../../model/operators';
import { keyOf as questionOf, useRemote, useSource, useTable } from '../../model/remote';
import type { Subject } from '../../model/source';
import {
  filter,
  filterWords,
  findEvents,
  go,
  operatorQuery,
  type Selection,
  selection,
  selectionParameters,
  showInTimeline,
  subject,
} from '../../model/state';
import { column, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { parseQuery, search } from '../../timeline/search';
import { Block, Fact } from '../drawer/event';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';
import type { Field } from '../parts/fields';
import { Scatter } from '../parts/scatter';
import { ViewGrid } from '../parts/view_grid';

type Selected = Extract<Selection, { kind: 'operator' }>;

/** A row of the operators: its figures, and what it is made of. */
export function OperatorDetails({ selected }: { selected: Selected }): JSX.Element {
  const asked = selectionParameters(filter.value);
  const { data, problem } = useTable('operators', { by: selected.by, ...asked });
  const row = useMemo(() => data && rowOf(data, selected.key, selected.like), [data, selected]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!data) return <Busy what="Reading the operator…" />;
  if (row === null) {
    const words = filter.value ? ` ${filterWords(filter.value)}` : '';
    return <p class="hint">This row has nothing{words}.</p>;
  }
  return <Details table={data} row={row} />;
}

function Details({ table, row }: { table: Table; row: number }): JSX.Element {
  const key = keyOf(table, row);
  const owned = isOwned(table, row);
  const title = operatorTitle(key, owned);
  const name = owned && typeof key.name === 'string' && key.name !== '' ? key.name : null;
  return (
    <div class="details">
      <header class="details-title">
        <Swatch kind={owned ? 'op' : 'kernel'} />
        <h2 title={title}>{tame(title)}</h2>
        <CopyButton text={title} label="Copy name" />
        {name !== null && <Links name={name} />}
      </header>
      <div class="details-columns operator-details">
        <Figures table={table} row={row} />
        {name !== null && <CallsOf name={name} />}
        {name === null ? <Inside table={table} row={row} /> : <PartsOf name={name} />}
      </div>
    </div>
  );
}

function Links({ name }: { name: string }): JSX.Element {
  const find = () => {
    findEvents(`"${name}"`);
    go('timeline');
  };
  return (
    <>
      <button type="button" class="quiet" onClick={find}>
        Show in timeline
      </button>
      <button type="button" class="quiet" onClick={() => (operatorQuery.value = name)}>
        Only this
      </button>
    </>
  );
}

function Figures({ table, row }: { table: Table; row: number }): JSX.Element {
  const time = (name: string) => nanoseconds(table, name)[row];
  const figure = (name: string) => numbers(table, name)[row];
  const show = (label: string, value: number | null, print: (value: number) => string, exact?: string) =>
    value !== null && <Fact name={label} value={print(value)} hover={exact ?? String(value)} />;
  const timed = (label: string, name: string) => show(label, time(name), duration, exactTime(time(name)));
  const formula = column(table, 'flops_formula')[row];
  return (
    <Block title={filter.value ? `Figures ${filterWords(filter.value)}` : 'Figures'} scrolls>
      <dl class="facts">
        {isOwned(table, row) && (
          <>
            {show('Calls', figure('calls'), count)}
            {timed('Host self', 'host_self_us')}
            {timed('· in API calls', 'launch_us')}
            {timed('· without them', 'host_self_no_api_us')}
            {timed('Host total', 'host_total_us')}
          </>
        )}
        {timed('Device self', 'device_self_us')}
        {timed('Device total', 'device_total_us')}
        {show('Device share', figure('device_self_pct'), percent)}
        <Matrix table={table} row={row} />
        {show(
          'FLOPs known',
          figure('flops'),
          (value) => `${significant(value / 1e9)} G, ${plural(figure('flops_calls') ?? 0, 'call')}`,
        )}
        {typeof formula === 'string' && <Fact name="· counted as" value={formula} />}
        {show('Achieved', figure('tflop_per_s'), (value) => `${significant(value)} TFLOP/s`)}
        {show('· of the peak', figure('peak_pct'), percent)}
        {show('Copies', figure('copied_gb_per_s'), (value) => `${significant(value)} GB/s`)}
      </dl>
    </Block>
  );
}

/** Matrix units: a share only of the time of which kernels' names tell. */
function Matrix({ table, row }: { table: Table; row: number }): JSX.Element | null {
  const share = numbers(table, 'tensor_cores_pct')[row];
  const unknown = nanoseconds(table, 'tensor_cores_unknown_us')[row];
  if (share === null && !unknown) return null;
  const eligible = column(table, 'tensor_cores_eligible')[row];
  return (
    <>
      <Fact name="Tensor cores" value={percent(share)} hover={share === null ? 'not known' : `${share} %`} />
      {unknown !== null && unknown > 0 && (
        <Fact name="· unknown" value={duration(unknown)} hover={exactTime(unknown)} />
      )}
      {typeof eligible === 'boolean' && <Fact name="· eligible" value={eligible ? 'yes' : 'no'} />}
    </>
  );
}

interface Hits {
  /** Events of the name on all rows, and how many of them the search lists: the first ones. */
  total: number;
  listed: number;
  id: number[];
  starts: number[];
  lengths: number[];
}

/** Host events of a name in the chosen time: kernels may be called the same. */
function useCalls(name: string) {
  const source = useSource();
  const of = subject.value;
  const range = filter.value;
  const key = of && questionOf(of, 'calls', name, range?.t0, range?.t1);
  return useRemote<Hits>(key, async (signal) => {
    const [found, { lanes }] = await Promise.all([
      search(source, of as Subject, parseQuery(`"${name}"`), signal),
      source.lanes(of as Subject, signal),
    ]);
    const threads = lanes.filter((lane) => lane.kind === 'thread');
    const onHost = (row: number) => threads.some((lane) => lane.first_row <= row && row < lane.first_row + lane.rows);
    const { id, start_ns, duration_ns, row } = found.hits;
    const kept = id
      .map((_, i) => i)
      .filter((i) => onHost(row[i]) && (!range || (range.t0 <= start_ns[i] && start_ns[i] < range.t1)));
    const pick = (values: number[]) => kept.map((i) => values[i]);
    return {
      total: found.total,
      listed: id.length,
      id: pick(id),
      starts: pick(start_ns),
      lengths: pick(duration_ns),
    };
  });
}

/** A search lists the first events of a name, in the order of time. */
export function cutWords({ listed, total }: Pick<Hits, 'listed' | 'total'>): string {
  return `Of the first ${count(listed)} of ${count(total)} events of this name, by time.`;
}

function CallsOf({ name }: { name: string }): JSX.Element {
  const { data, problem } = useCalls(name);
  const show = (i: number) => {
    if (data) showInTimeline(data.starts[i], data.lengths[i], { kind: 'event', id: data.id[i] });
  };
  const middle = data && data.id.length > 0 ? duration(median(data.lengths)) : MISSING;
  return (
    <section class="block plot" data-testid="operator-calls" data-count={data?.id.length}>
      <h3>Host time of calls, median {middle}</h3>
      {problem && <ProblemBox problem={problem} />}
      {data && data.listed < data.total && (
        <p class="hint" data-testid="operator-calls-cut">
          {cutWords(data)}
        </p>
      )}
      {!data && !problem && <Busy what="Looking for the calls…" />}
      {data && data.id.length > 0 && (
        <Scatter
          label={`Duration of ${count(data.id.length)} calls over time, median ${middle}`}
          starts={data.starts}
          lengths={data.lengths}
          kind="op"
          onPick={show}
        />
      )}
    </section>
  );
}

const KERNEL_FIELDS: Field[] = [
  { key: 'name', title: 'Kernel', as: 'name' },
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'total_us', title: 'Total', as: 'time' },
  { key: 'tensor_cores', title: 'Tensor cores', as: 'text', width: '96px' },
];
const SHAPE_FIELDS: Field[] = [
  { key: 'shapes', title: 'Input shapes', as: 'name', none: 'no shapes recorded' },
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'device_self_us', title: 'Device self', as: 'time', width: '116px' },
  { key: 'host_self_us', title: 'Host self', as: 'time', width: '104px' },
];
const STACK_FIELDS: Field[] = [
  { ...SHAPE_FIELDS[0], key: 'stack', title: 'Stack', none: 'no stack recorded' },
  ...SHAPE_FIELDS.slice(1),
];
const OPERATOR_FIELDS: Field[] = [{ ...SHAPE_FIELDS[0], key: 'name', title: 'Operator' }, ...SHAPE_FIELDS.slice(1)];

/** What an operator was called with, what it launched, and from where it was called. */
function PartsOf({ name }: { name: string }): JSX.Element {
  return (
    <>
      <Part
        title="Kernels it launched"
        view="kernels"
        by="name,op"
        match={['op', name]}
        fields={KERNEL_FIELDS}
        none="It launched none."
        open={(table, row) => {
          selection.value = { kind: 'kernel', by: 'name,op', key: keyOf(table, row), like: likeOf(table, row) };
        }}
      />
      <Part title="Input shapes" view="operators" by="shapes" match={['name', name]} fields={SHAPE_FIELDS} />
      <Part title="Stacks" view="operators" by="stack" match={['name', name]} fields={STACK_FIELDS} />
    </>
  );
}

/** The operators of a module, thread or phase. */
function Inside({ table, row }: { table: Table; row: number }): JSX.Element | null {
  const [level, value] = Object.entries(keyOf(table, row))[0] ?? [];
  if (level === undefined || !isOwned(table, row) || level === 'name') return <UnownedHint />;
  return (
    <Part
      title="Operators in it"
      view="operators"
      by={`name,${level}`}
      match={[level, value]}
      fields={OPERATOR_FIELDS}
      open={(inner, at) => {
        selection.value = { kind: 'operator', by: `name,${level}`, key: keyOf(inner, at), like: likeOf(inner, at) };
      }}
    />
  );
}

function UnownedHint(): JSX.Element {
  return (
    <Block title="Why">
      <p class="hint">
        Device work whose launch call was not recorded, or lay in no operator. Kernels by operator list it as
        unattributed.
      </p>
    </Block>
  );
}

interface PartProps {
  title: string;
  view: string;
  by: string;
  match: [column: string, value: unknown];
  /** For paths: what is below belongs to it too, and is told by the rest of its path. */
  below?: boolean;
  fields: Field[];
  none?: string;
  open?: (table: Table, row: number) => void;
}

/** Rows of a view that agree with the row in the drawer. */
export function Part({ title, view, by, match, below = false, fields, none, open }: PartProps): JSX.Element {
  const { data, problem } = useTable(view, { by, ...selectionParameters(filter.value) });
  const rows = useMemo(() => {
    if (!data) return null;
    const found = below ? rowsBelow(data, match[0], String(match[1])) : rowsWith(data, ...match);
    return found.filter((row) => column(data, 'owned')[row] !== false);
  }, [data, match[1], below]);
  const shown = useMemo(
    () => data && (below ? relative(data, match[0], String(match[1])) : data),
    [data, match[1], below],
  );
  const told: ComponentChildren = rows && rows.length > 0 ? `${title} (${count(rows.length)})` : title;
  return (
    <section class="block part" data-testid={`part-${view}-${by.replace(',', '-')}`} data-count={rows?.length}>
      <h3>{told}</h3>
      {problem && <ProblemBox problem={problem} />}
      {!rows && !problem && <Busy what="Reading…" />}
      {rows?.length === 0 && <p class="hint">{none ?? 'None.'}</p>}
      {data && shown && rows && rows.length > 0 && (
        <ViewGrid
          label={title}
          table={shown}
          fields={fields}
          order={rows}
          sort={view === 'kernels' ? { column: 'total_us', descending: true } : defaultSort(data)}
          testId="part-row"
          onOpen={open && ((row) => open(data, row))}
          empty="None."
        />
      )}
    </section>
  );
}
