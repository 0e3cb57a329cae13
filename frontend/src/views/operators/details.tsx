import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactTime, MISSING, percent, plural, significant } from '../../lib/format';
import { sourcePlace, tame } from '../../lib/names';
import { keyOf, likeOf } from '../../model/kernels';
import { isOwned, MISSING_KEYS, matrixShare, operatorTitle, rowOf, whyNoFlops } from '../../model/operators';
import { useTable } from '../../model/remote';
import {
  filter,
  filterWords,
  findEvents,
  go,
  info,
  operatorQuery,
  type Selection,
  selectionParameters,
} from '../../model/state';
import { column, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Block, Fact } from '../drawer/event';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';
import { SourcePlace } from '../parts/place';
import { keyTitle, matrixHover, matrixText } from './columns';
import { CallsOf, PartsOf } from './parts';

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
  return <Details table={data} row={row} by={selected.by} />;
}

function Details({ table, row, by }: { table: Table; row: number; by: string }): JSX.Element {
  const key = keyOf(table, row);
  const owned = isOwned(table, row);
  const title = operatorTitle(key, owned);
  const name = owned && typeof key.name === 'string' && key.name !== '' ? key.name : null;
  const like = owned ? likeOf(table, row) : null;
  const device = nanoseconds(table, 'device_self_us')[row] ?? 0;
  const of = useMemo(() => like !== null && { by, key, like, device }, [table, row, by]);
  // Nothing of the row before may stand below the title of this one.
  const told = `${by}:${like}`;
  return (
    <div class="details" data-testid="operator-details">
      <header class="details-title">
        <Swatch kind={owned ? 'op' : 'kernel'} />
        <h2 title={title}>{tame(title)}</h2>
        <CopyButton text={title} label="Copy name" />
        {name !== null && <Links name={name} />}
      </header>
      <div class="details-columns operator-details">
        <Figures table={table} row={row} />
        {!of && <UnownedHint />}
        {of && key.name !== undefined && <CallsOf key={`calls:${told}`} row={of} />}
        {of && <PartsOf key={`parts:${told}`} row={of} />}
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
  const source = column(table, 'source')[row];
  return (
    <Block title={filter.value ? `Figures ${filterWords(filter.value)}` : 'Figures'} scrolls>
      {typeof source === 'string' && <SourcePlace source={source} />}
      <dl class="facts" data-testid="operator-figures">
        <Keys table={table} row={row} />
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
        <Flops table={table} row={row} />
        {typeof formula === 'string' && <Fact name="· counted as" value={formula} />}
        {show('Achieved', figure('tflop_per_s'), (value) => `${significant(value)} TFLOP/s`)}
        {show('· of the peak', figure('peak_pct'), percent)}
        {show('Copies', figure('copied_gb_per_s'), (value) => `${significant(value)} GB/s`)}
      </dl>
    </Block>
  );
}

/** What tells the row apart, beside the first part of its key, which is its title. */
function Keys({ table, row }: { table: Table; row: number }): JSX.Element {
  const more = Object.entries(keyOf(table, row))
    .slice(1)
    .filter(([, value]) => !(typeof value === 'string' && sourcePlace(value)));
  return (
    <>
      {more.map(([name, value]) => (
        <Fact key={name} name={keyTitle(name)} value={keyText(name, value)} hover={String(value ?? '')} />
      ))}
    </>
  );
}

function keyText(name: string, value: string | number | null): string {
  return value === null || value === '' ? (MISSING_KEYS[name] ?? MISSING) : String(value);
}

/** How many operations, or why that is not known. */
function Flops({ table, row }: { table: Table; row: number }): JSX.Element | null {
  if (!isOwned(table, row) || table.data.tensor_cores_eligible === undefined) return null;
  const flops = numbers(table, 'flops')[row];
  const works = (nanoseconds(table, 'device_self_us')[row] ?? 0) > 0;
  // Of what computes nothing there is nothing to say.
  if (flops === null && !works && column(table, 'tensor_cores_eligible')[row] !== true) return null;
  const why = whyNoFlops(table, row, info.value?.switches.shapes ?? false);
  const [calls, known] = ['calls', 'flops_calls'].map((name) => numbers(table, name)[row] ?? 0);
  const of = known < calls ? `${count(known)} of ${plural(calls, 'call')}` : plural(calls, 'call');
  const text = flops === null ? `not known. ${why}` : `${significant(flops / 1e9)} G, ${of}`;
  const exact = flops === null ? 'not known' : `${flops}${why ? `. ${why}` : ''}`;
  return <Fact name="FLOPs" value={<span data-testid="operator-flops">{text}</span>} hover={exact} />;
}

/** Matrix units: a share only of the time of which kernels' names tell. */
function Matrix({ table, row }: { table: Table; row: number }): JSX.Element | null {
  const share = matrixShare(table, row);
  if (share.pct === null && share.unknown === 0) return null;
  const eligible = column(table, 'tensor_cores_eligible')[row];
  return (
    <>
      <Fact name="Tensor cores" value={share.pct === null ? 'unknown' : matrixText(share)} hover={matrixHover(share)} />
      {share.unknown > 0 && <Fact name="· unknown" value={duration(share.unknown)} hover={exactTime(share.unknown)} />}
      {typeof eligible === 'boolean' && <Fact name="· eligible" value={eligible ? 'yes' : 'no'} />}
    </>
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
