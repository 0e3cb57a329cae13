import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { duration, exactTime, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { useTable } from '../../model/remote';
import { filter, filterParameters, filterWords, gapQuery, heldBy, heldReason, showInTimeline } from '../../model/state';
import { allRows, filterRows, nanoseconds, numbers, sum, texts } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { Field } from '../parts/fields';
import { ViewGrid } from '../parts/view_grid';
import { Remarks } from './remarks';

interface Side {
  view: string;
  parameters: Record<string, string>;
  /** What groups are called by: a column of both tables. */
  key: string;
  groups: Field[];
  calls: Field[];
  title: string;
  noun: string;
  empty: string;
  searched: string[];
}

const CALL: Field = { key: 'name', title: 'Call', as: 'name', width: '190px' };
const WHERE: Field[] = [
  { key: 'op', title: 'Operator', as: 'name', none: 'outside operators' },
  { key: 'source', title: 'Source line', as: 'source' },
  { key: 'start_us', title: 'Start', as: 'instant' },
  { key: 'step', title: 'Step', as: 'count', width: '56px' },
];

const SIDES: Record<'blocking' | 'allocation', Side> = {
  blocking: {
    view: 'syncs',
    parameters: {},
    key: 'reason',
    title: 'Why the host waited for the device',
    noun: 'blocking call',
    empty: 'No blocking call was recorded: the host never waited for the device.',
    groups: [
      { key: 'reason', title: 'Reason', as: 'name', none: 'unknown' },
      { key: 'calls', title: 'Calls', as: 'count', width: '60px' },
      { key: 'total_us', title: 'Waited', as: 'time' },
      { key: 'idle_us', title: 'Device idle', as: 'time', width: '108px' },
      { key: 'longest_us', title: 'Longest', as: 'time' },
    ],
    calls: [
      CALL,
      { key: 'duration_us', title: 'Waited', as: 'time' },
      { key: 'idle_us', title: 'Device idle', as: 'time', width: '112px' },
      ...WHERE,
      { key: 'waited_for', title: 'Waited for', as: 'name' },
    ],
    searched: ['name', 'reason', 'path', 'waited_for', 'op', 'source'],
  },
  allocation: {
    view: 'api_calls',
    parameters: { kind: 'allocation' },
    key: 'name',
    title: 'Allocations and frees in the driver',
    noun: 'call',
    empty: 'No allocation or free was recorded: the caching allocator was served from what it had.',
    groups: [
      { key: 'name', title: 'Call', as: 'name' },
      { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
      { key: 'total_us', title: 'In the calls', as: 'time', width: '112px' },
      { key: 'max_us', title: 'Longest', as: 'time' },
    ],
    calls: [CALL, { key: 'duration_us', title: 'Took', as: 'time' }, ...WHERE],
    searched: ['name', 'op', 'source'],
  },
};

/** Where the host waits for the device, or manages its memory: by reason, and call by call. */
export function Blocking(): JSX.Element {
  const side = SIDES[heldBy.value];
  const asked = { ...side.parameters, ...filterParameters(filter.value) };
  const groups = useTable(side.view, { ...asked, by: side.key });
  const calls = useTable(side.view, { ...asked, by: 'call' });
  const problem = groups.problem ?? calls.problem;
  // An answer of the other side stays until this one is there.
  const ready = groups.data?.data[side.key] && calls.data?.data.id && calls.data.view === side.view;
  return (
    <>
      <div class="headline">
        <p class="verdict">{ready && calls.data && <Sentence side={side} calls={calls.data} />}</p>
        <Choice
          label="Calls"
          value={heldBy.value}
          options={[
            { value: 'blocking', label: 'Blocking calls', help: 'The host waited for the device' },
            { value: 'allocation', label: 'Allocations', help: 'The host allocated or freed memory in the driver' },
          ]}
          onChange={(value) => {
            heldBy.value = value;
            heldReason.value = null;
          }}
        />
      </div>
      {problem && <ProblemBox problem={problem} />}
      {!problem && !ready && <Busy what="Looking for calls that hold the host up…" />}
      {ready && groups.data && calls.data && (
        <>
          <Remarks notes={calls.data.rows > 0 ? [...groups.data.notes, ...calls.data.notes] : []} />
          <div class="idle-columns narrow-left">
            <Groups side={side} table={groups.data} />
            <Calls side={side} table={calls.data} />
          </div>
        </>
      )}
    </>
  );
}

function Sentence({ side, calls }: { side: Side; calls: Table }): JSX.Element {
  const when = filter.value ? ` ${filterWords(filter.value)}` : '';
  if (calls.rows === 0) return <>{filter.value ? `No ${side.noun}${when}.` : side.empty}</>;
  const time = sum(nanoseconds(calls, 'duration_us'));
  const idle = calls.data.idle_us ? sum(nanoseconds(calls, 'idle_us')) : null;
  return (
    <>
      {plural(calls.rows, side.noun)} took the host <b title={exactTime(time)}>{duration(time)}</b>
      {when}
      {idle !== null && (
        <>
          ; the device stood idle for <b title={exactTime(idle)}>{duration(idle)}</b> of that
        </>
      )}
      .
    </>
  );
}

function Groups({ side, table }: { side: Side; table: Table }): JSX.Element {
  const keys = texts(table, side.key);
  const current = heldReason.value === null ? null : keys.indexOf(heldReason.value);
  return (
    <Section
      title={side.title}
      class="grow"
      aside={
        <Export
          table={table}
          order={allRows(table)}
          name={`${side.view}-by-${side.key}`}
          grid={`${side.view}-by-${side.key}`}
          columns={side.groups}
        />
      }
    >
      <ViewGrid
        key={side.view}
        label={side.title}
        name={`${side.view}-by-${side.key}`}
        table={table}
        fields={side.groups}
        sort={{ column: 'total_us', descending: true }}
        testId="held-group"
        current={current}
        onOpen={(row) => (heldReason.value = heldReason.value === keys[row] ? null : keys[row])}
        empty={side.empty}
      />
    </Section>
  );
}

function Calls({ side, table }: { side: Side; table: Table }): JSX.Element {
  const reason = heldReason.value;
  const order = useMemo(() => {
    const keys = texts(table, side.key);
    const rows = allRows(table).filter((row) => reason === null || keys[row] === reason);
    return filterRows(table, rows, side.searched, wordFilter(gapQuery.value));
  }, [table, side, reason, gapQuery.value]);
  const starts = nanoseconds(table, 'start_us');
  const lengths = nanoseconds(table, 'duration_us');
  const ids = numbers(table, 'id');
  const aside = (
    <>
      <span class="muted">{plural(order.length, 'call')}. A row opens the timeline.</span>
      {reason !== null && (
        <button type="button" class="chip" onClick={() => (heldReason.value = null)}>
          <span class="chip-text">{reason || 'unknown'}</span> <span aria-hidden="true">✕</span>
        </button>
      )}
      <Export
        table={table}
        order={order}
        name={`${side.view}-calls`}
        grid={`${side.view}-calls`}
        columns={side.calls}
      />
    </>
  );
  return (
    <Section title="Calls" class="grow" aside={aside}>
      <ViewGrid
        key={side.view}
        label="Calls"
        name={`${side.view}-calls`}
        table={table}
        fields={side.calls}
        order={order}
        sort={{ column: 'duration_us', descending: true }}
        testId="held-call"
        onOpen={(row) => showInTimeline(starts[row] ?? 0, lengths[row] ?? 0, { kind: 'event', id: ids[row] ?? 0 })}
        empty={table.rows === 0 ? side.empty : 'No call matches.'}
      />
    </Section>
  );
}
