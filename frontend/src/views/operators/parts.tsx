import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactTime, MISSING, plural } from '../../lib/format';
import { median } from '../../lib/histogram';
import { type KernelKey, keyOf, likeOf } from '../../model/kernels';
import { alikeParameters, defaultSort, innerBy, kernelKey, ownRows } from '../../model/operators';
import { useTable } from '../../model/remote';
import { filter, selection, selectionParameters, showInTimeline } from '../../model/state';
import { column, nanoseconds, numbers, sum, takeRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox } from '../parts/bits';
import type { Field } from '../parts/fields';
import { Part } from '../parts/part';
import { Scatter } from '../parts/scatter';

/** A row of the operators: what its ops have in common, and one of them. */
export interface OperatorRow {
  by: string;
  key: KernelKey;
  like: number;
  /** Its own device work, ns. */
  device: number;
}

function asked({ by, like }: OperatorRow) {
  return { ...alikeParameters(by, like), ...selectionParameters(filter.value) };
}

/** When its ops ran, and for how long. */
export function CallsOf({ row }: { row: OperatorRow }): JSX.Element {
  const { data, problem } = useTable('operator_calls', asked(row));
  const starts = useMemo(() => (data ? nanoseconds(data, 'start_us').map((value) => value ?? 0) : []), [data]);
  const lengths = useMemo(() => (data ? nanoseconds(data, 'duration_us').map((value) => value ?? 0) : []), [data]);
  const ids = data ? numbers(data, 'id') : [];
  const show = (i: number) => {
    const id = ids[i];
    showInTimeline(starts[i], lengths[i], id === null ? null : { kind: 'event', id });
  };
  const middle = lengths.length > 0 ? duration(median(lengths)) : MISSING;
  return (
    <section class="block plot" data-testid="operator-calls" data-count={data?.rows}>
      <h3>
        Host time of {data ? plural(data.rows, 'call') : 'calls'}, median {middle}
      </h3>
      {problem && <ProblemBox problem={problem} />}
      {data?.notes.map((note) => (
        <p class="hint" data-testid="operator-calls-note" key={note}>
          {note}
        </p>
      ))}
      {!data && !problem && <Busy what="Looking for the calls…" />}
      {lengths.length > 0 && (
        <Scatter
          label={`Duration of ${count(lengths.length)} calls over time, median ${middle}`}
          starts={starts}
          lengths={lengths}
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
  { key: 'tensor_cores', title: 'Tensor cores', as: 'text', width: '108px' },
];
const FIGURES: Field[] = [
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'device_self_us', title: 'Device self', as: 'time', width: '112px' },
  { key: 'host_self_us', title: 'Host self', as: 'time', width: '104px' },
];
const SHAPE_FIELDS: Field[] = [
  { key: 'shapes', title: 'Input shapes', as: 'name', none: 'no shapes recorded' },
  ...FIGURES,
];
const STACK_FIELDS: Field[] = [{ key: 'stack', title: 'Stack', as: 'name', none: 'no stack recorded' }, ...FIGURES];
const SOURCE_FIELDS: Field[] = [
  { key: 'source', title: 'Source line', as: 'source', none: 'no source line recorded' },
  ...FIGURES,
];
export const OPERATOR_FIELDS: Field[] = [{ key: 'name', title: 'Operator', as: 'name', none: '(no name)' }, ...FIGURES];

/** What the ops of a row launched themselves, were called with, and from where. */
export function PartsOf({ row }: { row: OperatorRow }): JSX.Element {
  const named = row.key.name !== undefined;
  return (
    <>
      {!named && <Operators row={row} />}
      <Kernels row={row} />
      {named && row.by !== 'shapes' && <Breakdown title="Input shapes" by="shapes" fields={SHAPE_FIELDS} row={row} />}
      {named && row.by !== 'stack' && <Breakdown title="Stacks" by="stack" fields={STACK_FIELDS} row={row} />}
      {!named && row.by !== 'source' && <Breakdown title="Source lines" by="source" fields={SOURCE_FIELDS} row={row} />}
    </>
  );
}

function Kernels({ row }: { row: OperatorRow }): JSX.Element {
  const { data, problem } = useTable('kernels', { by: 'name', ...asked(row) });
  const rest = data ? row.device - sum(nanoseconds(data, 'total_us')) : 0;
  return (
    <Part
      title="Kernels it launched"
      testId="part-kernels"
      table={data}
      problem={problem}
      fields={KERNEL_FIELDS}
      sort={{ column: 'total_us', descending: true }}
      none="It launched none itself."
      rest={rest > 0 && <KernelsRest rest={rest} />}
      open={(at) => {
        if (!data) return;
        const { name } = keyOf(data, at);
        selection.value = { kind: 'kernel', ...kernelKey(name, row.by, row.like), like: likeOf(data, at) };
      }}
    />
  );
}

function KernelsRest({ rest }: { rest: number }): JSX.Element {
  return (
    <p class="hint" data-testid="part-kernels-rest" title={exactTime(rest)}>
      The other {duration(rest)} of its device work are copies and memory sets.
    </p>
  );
}

interface BreakdownProps {
  title: string;
  by: string;
  fields: Field[];
  row: OperatorRow;
}

/** Rows of the ops themselves: a table about some ops lists those around them too, with what they contain as their total. */
function useOwn(by: string, row: OperatorRow) {
  const { data, problem } = useTable('operators', { by, ...asked(row) });
  const own = useMemo(() => data && takeRows(data, ownRows(data)), [data]);
  return { data: own, problem };
}

function Breakdown({ title, by, fields, row }: BreakdownProps): JSX.Element {
  const { data, problem } = useOwn(by, row);
  // Nothing but a row without a value says nothing.
  const known = data === null || column(data, by).some((value) => value !== null);
  return (
    <Part
      title={title}
      testId={`part-operators-${by}`}
      table={known ? data : takeRows(data, [])}
      problem={problem}
      fields={fields}
      sort={data ? defaultSort(data) : { column: 'device_self_us', descending: true }}
      none="None were recorded."
    />
  );
}

/** The operators of a module, thread, phase or source line. */
function Operators({ row }: { row: OperatorRow }): JSX.Element {
  const { data, problem } = useOwn('name', row);
  return (
    <Part
      title="Operators in it"
      testId="part-operators-name"
      table={data}
      problem={problem}
      fields={OPERATOR_FIELDS}
      sort={data ? defaultSort(data) : { column: 'device_self_us', descending: true }}
      open={(at) => data && open(data, at, row)}
    />
  );
}

function open(table: Table, at: number, row: OperatorRow): void {
  const name = column(table, 'name')[at];
  const key = { name: typeof name === 'string' ? name : null, ...row.key };
  selection.value = { kind: 'operator', by: innerBy(row.by), key, like: likeOf(table, at) };
}
