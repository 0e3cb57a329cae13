import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactTime, MISSING, percent } from '../../lib/format';
import { sourceLabel, tame } from '../../lib/names';
import { keyOf, likeOf } from '../../model/kernels';
import { useTable } from '../../model/remote';
import { filter, filterWords, type Selection, selection, selectionParameters } from '../../model/state';
import { allRows, column, nanoseconds, numbers, sum, takeRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';
import type { Field } from '../parts/fields';
import { Part } from '../parts/part';
import { SourcePlace } from '../parts/place';
import { Block, Fact } from './event';

type Selected = Extract<Selection, { kind: 'kernel' }>;

const FIGURES: Field[] = [
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'total_us', title: 'Total', as: 'time' },
  { key: 'mean_us', title: 'Mean', as: 'time' },
];
const KERNELS: Field[] = [{ key: 'name', title: 'Kernel', as: 'name' }, ...FIGURES];
const LINES: Field[] = [
  { key: 'source', title: 'Source line', as: 'source', none: 'no source line known' },
  ...FIGURES,
];
const LONGEST_FIRST = { column: 'total_us', descending: true };

/** Kernels of a line of source, or one kernel of a line: its figures, and what else there is of either. */
export function LineDetails({ selected }: { selected: Selected }): JSX.Element {
  const { data, problem } = useTable('kernels', { by: 'name,source', ...selectionParameters(filter.value) });
  const line = typeof selected.key.source === 'string' ? selected.key.source : null;
  const name = typeof selected.key.name === 'string' ? selected.key.name : null;
  return (
    <div class="details" data-testid="line-details">
      <Title line={line} name={name} />
      {problem && <ProblemBox problem={problem} />}
      {!data && !problem && <Busy what="Reading the kernels…" />}
      {data && <Parts table={data} line={line} name={name} />}
    </div>
  );
}

interface LineProps {
  /** Null of what no line is known of. */
  line: string | null;
  /** Null stands for all kernels of the line. */
  name: string | null;
}

function Title({ line, name }: LineProps): JSX.Element {
  const place = line === null ? 'No source line known' : (sourceLabel(line) ?? line);
  const full = name ?? line ?? place;
  return (
    <header class="details-title">
      <Swatch kind="kernel" />
      <h2 title={full}>{name === null ? place : tame(name)}</h2>
      <CopyButton text={full} label={name === null ? 'Copy line' : 'Copy name'} />
      {name !== null && <span class="muted">launched from {line === null ? 'a line not known' : place}</span>}
    </header>
  );
}

function Parts({ table, line, name }: LineProps & { table: Table }): JSX.Element {
  const onLine = useMemo(() => rowsOf(table, 'source', line), [table, line]);
  const own = useMemo(() => (name === null ? onLine : rowsOf(onLine, 'name', name)), [onLine, name]);
  const listed = useMemo(() => (name === null ? onLine : rowsOf(table, 'name', name)), [table, onLine, name]);
  return (
    <div class="details-columns operator-details">
      <Block title={filter.value ? `Figures ${filterWords(filter.value)}` : 'Figures'} scrolls>
        <Sums table={own} />
        {line !== null && <SourcePlace source={line} />}
      </Block>
      <Part
        title={name === null ? 'Kernels launched from it' : 'This kernel, by source line'}
        testId={name === null ? 'part-kernels' : 'part-lines'}
        table={listed}
        problem={null}
        fields={name === null ? KERNELS : LINES}
        sort={LONGEST_FIRST}
        open={(row) => {
          selection.value = { kind: 'kernel', by: 'name,source', key: keyOf(listed, row), like: likeOf(listed, row) };
        }}
      />
    </div>
  );
}

function rowsOf(table: Table, key: string, value: string | null): Table {
  const values = column(table, key);
  return takeRows(
    table,
    allRows(table).filter((row) => values[row] === value),
  );
}

function Sums({ table }: { table: Table }): JSX.Element {
  const total = sum(nanoseconds(table, 'total_us'));
  const calls = sum(numbers(table, 'calls'));
  const share = sum(numbers(table, 'share_pct'));
  return (
    <dl class="facts">
      <Fact name="Calls" value={count(calls)} />
      <Fact name="Total" value={duration(total)} hover={exactTime(total)} />
      <Fact name="Mean" value={calls > 0 ? duration(Math.round(total / calls)) : MISSING} />
      <Fact name="Share" value={percent(share)} hover={`${share} % of all kernel time`} />
    </dl>
  );
}
