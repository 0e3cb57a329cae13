import type { ComponentChildren, JSX } from 'preact';
import { phaseColour } from '../../lib/colours';
import {
  count,
  exactTime,
  humanise,
  largest,
  MISSING,
  medianScale,
  percent,
  scaled,
  significant,
} from '../../lib/format';
import { sourceLabel } from '../../lib/names';
import { keyColumns } from '../../model/kernels';
import { isOwned, MISSING_KEYS } from '../../model/operators';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Kind, Table } from '../../model/wire';
import { CopyButton, Name, ShareBar } from '../parts/bits';
import type { GridColumn } from '../parts/sheet';

const TITLES: Record<string, string> = { name: 'Operator', dtype: 'Data types', shapes: 'Input shapes' };
const NARROW = ['phase', 'dtype'];

function keyColumn(table: Table, name: string, first: boolean): GridColumn {
  const values = column(table, name);
  const none = (row: number) =>
    isOwned(table, row) ? (MISSING_KEYS[name] ?? MISSING) : first ? MISSING_KEYS.name : '';
  return {
    key: name,
    title: TITLES[name] ?? humanise(name),
    help: describe(table, name),
    width: NARROW.includes(name) ? '150px' : 'auto',
    least: 200,
    cell: (row) => <KeyCell name={name} value={values[row]} missing={none(row)} />,
  };
}

interface KeyCellProps {
  name: string;
  value: unknown;
  missing: string;
}

export function KeyCell({ name, value, missing }: KeyCellProps): JSX.Element {
  if (typeof value !== 'string' || value === '') return <span class="muted">{missing}</span>;
  return (
    <span class="name-cell">
      {name === 'phase' && <span class="swatch" style={{ background: phaseColour(value) }} />}
      {name === 'stack' ? <StackName stack={value} /> : <Name name={value} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keeps a click on the button from opening the row */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <span class="on-hover" onClick={(event) => event.stopPropagation()}>
        <CopyButton text={value} />
      </span>
    </span>
  );
}

/** The innermost frame tells most; all of them on hover. */
function StackName({ stack }: { stack: string }): JSX.Element {
  const frames = stack.split(/ > |[;\n]/).filter(Boolean);
  const inner = (frames[frames.length - 1] ?? stack).trim();
  return (
    <span class="name" title={frames.join('\n')}>
      {sourceLabel(inner) ?? inner}
      {frames.length > 1 && <span class="muted"> ← {count(frames.length - 1)} more</span>}
    </span>
  );
}

interface TimeGroup {
  kind: Kind;
  columns: [key: string, title: string, bar: boolean][];
}

/** Own and total times of a side share a unit, so that they compare at a glance. */
const TIMES: TimeGroup[] = [
  {
    kind: 'kernel',
    columns: [
      ['device_self_us', 'Device self', true],
      ['device_total_us', 'Device total', false],
    ],
  },
  {
    kind: 'op',
    columns: [
      ['host_self_us', 'Host self', true],
      ['host_total_us', 'Host total', false],
    ],
  },
];

function timeColumns(table: Table, order: number[], { kind, columns }: TimeGroup): GridColumn[] {
  const self = nanoseconds(table, columns[0][0]);
  const scale = medianScale(order.map((row) => self[row]));
  return columns.map(([key, title, bar]) => {
    const values = nanoseconds(table, key);
    const most = largest(values) || 1;
    const share = (row: number) => (bar ? (100 * (values[row] ?? 0)) / most : 0);
    return {
      key,
      title: `${title}, ${scale.unit}`,
      help: describe(table, key),
      width: '124px',
      number: true,
      cell: (row) => <ShareBar share={share(row)} text={scaled(values[row], scale)} kind={kind} />,
      hover: (row) => exactTime(values[row]),
    };
  });
}

interface NumberColumn {
  key: string;
  title: string;
  width: string;
  print: (value: number) => string;
}

const FIGURES: NumberColumn[] = [
  { key: 'device_self_pct', title: 'Of device', width: '84px', print: percent },
  { key: 'host_self_pct', title: 'Of host', width: '76px', print: percent },
  { key: 'tensor_cores_pct', title: 'Tensor cores', width: '104px', print: percent },
  { key: 'tflop_per_s', title: 'TFLOP/s', width: '84px', print: (value) => significant(value) },
  { key: 'peak_pct', title: 'Of peak', width: '76px', print: percent },
  { key: 'copied_gb_per_s', title: 'Copies, GB/s', width: '108px', print: (value) => significant(value) },
];

/** Columns that say nothing in any row are left out, but for the shares. */
function tells(table: Table, { key }: NumberColumn): boolean {
  return numbers(table, key).some((value) => value !== null);
}

function numberColumn(table: Table, { key, title, width, print }: NumberColumn): GridColumn {
  const values = numbers(table, key);
  const eligible = column(table, 'tensor_cores_eligible');
  const unknown = nanoseconds(table, 'tensor_cores_unknown_us');
  const cell = (row: number): ComponentChildren => {
    const value = values[row];
    if (value !== null) return print(value);
    return key === 'tensor_cores_pct' && eligible[row] === false ? <span class="muted">not eligible</span> : MISSING;
  };
  const hover = (row: number) => {
    const exact = values[row] === null ? 'not known' : `${values[row]}`;
    return key === 'tensor_cores_pct' && unknown[row]
      ? `${exact}; ${exactTime(unknown[row])} in kernels whose name does not tell`
      : exact;
  };
  return { key, title, help: describe(table, key), width, number: true, cell, hover };
}

export function operatorColumns(table: Table, order: number[]): GridColumn[] {
  const calls = numbers(table, 'calls');
  const shares = FIGURES.slice(0, 2).filter((one) => tells(table, one));
  const rest = FIGURES.slice(2).filter((one) => tells(table, one));
  return [
    ...keyColumns(table).map((name, i) => keyColumn(table, name, i === 0)),
    {
      key: 'calls',
      title: 'Calls',
      help: describe(table, 'calls'),
      width: '64px',
      number: true,
      cell: (row) => count(calls[row]),
    },
    ...TIMES.flatMap((group) => timeColumns(table, order, group)),
    ...[...shares, ...rest].map((one) => numberColumn(table, one)),
  ];
}
