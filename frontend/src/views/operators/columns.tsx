import type { JSX } from 'preact';
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
  wholePercent,
} from '../../lib/format';
import { sourceLabel } from '../../lib/names';
import { keyColumns } from '../../model/kernels';
import { isOwned, type MatrixShare, MISSING_KEYS, matrixShare, UNOWNED } from '../../model/operators';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Kind, Table } from '../../model/wire';
import { Copyable, Name, ShareBar } from '../parts/bits';
import { SourceName } from '../parts/place';
import type { GridColumn } from '../parts/sheet';

const TITLES: Record<string, string> = {
  name: 'Operator',
  dtype: 'Data types',
  shapes: 'Input shapes',
  source: 'Source line',
};
export function keyTitle(name: string): string {
  return TITLES[name] ?? humanise(name);
}

const NARROW = ['phase', 'dtype'];

function keyColumn(table: Table, name: string, first: boolean, least: number): GridColumn {
  const values = column(table, name);
  const none = (row: number) => (isOwned(table, row) ? (MISSING_KEYS[name] ?? MISSING) : first ? UNOWNED : '');
  return {
    key: name,
    title: keyTitle(name),
    help: describe(table, name),
    width: NARROW.includes(name) ? '150px' : 'auto',
    least,
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
    <Copyable text={value}>
      {name === 'phase' && <span class="swatch" style={{ background: phaseColour(value) }} />}
      {name === 'stack' ? (
        <StackName stack={value} />
      ) : name === 'source' ? (
        <SourceName source={value} />
      ) : (
        <Name name={value} />
      )}
    </Copyable>
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
  { key: 'device_self_pct', title: 'Of device', width: '78px', print: percent },
  { key: 'host_self_pct', title: 'Of host', width: '72px', print: percent },
  { key: 'tflop_per_s', title: 'TFLOP/s', width: '80px', print: (value) => significant(value) },
  { key: 'peak_pct', title: 'Of peak', width: '76px', print: percent },
  { key: 'copied_gb_per_s', title: 'Copies, GB/s', width: '104px', print: (value) => significant(value) },
];

/** What has two texts to say what a row is leaves little room: these wait until they are asked for. */
const LESS = ['host_total_us', 'host_self_pct', 'copied_gb_per_s'];

/** Columns that say nothing in any row are left out, but for the shares. */
function tells(table: Table, { key }: NumberColumn): boolean {
  return numbers(table, key).some((value) => value !== null);
}

function numberColumn(table: Table, { key, title, width, print }: NumberColumn): GridColumn {
  const values = numbers(table, key);
  const cell = (row: number) => {
    const value = values[row];
    return value === null ? MISSING : print(value);
  };
  const hover = (row: number) => (values[row] === null ? 'not known' : `${values[row]}`);
  return { key, title, help: describe(table, key), width, number: true, cell, hover };
}

/** A share of a part: `100 % of 52 %` where the names of kernels of the other 48 % do not tell. */
function matrixColumn(table: Table): GridColumn {
  const eligible = column(table, 'tensor_cores_eligible');
  return {
    key: 'tensor_cores_pct',
    title: 'Tensor cores',
    help: `${describe(table, 'tensor_cores_pct')} Where some names do not tell: the share, and of how much of its own device work.`,
    of: ['tensor_cores_pct', 'tensor_cores_unknown_us'],
    width: '112px',
    number: true,
    cell: (row) => {
      const share = matrixShare(table, row);
      if (share.pct !== null) return matrixText(share);
      if (eligible[row] === false) return <span class="muted">not eligible</span>;
      return share.unknown > 0 ? <span class="muted">unknown</span> : MISSING;
    },
    hover: (row) => matrixHover(matrixShare(table, row)),
  };
}

export function matrixText({ pct, of }: MatrixShare): string {
  if (pct === null) return MISSING;
  if (of === null) return `${wholePercent(pct)} of a part`;
  return of < 100 ? `${wholePercent(pct)} of ${wholePercent(of)}` : percent(pct);
}

export function matrixHover({ pct, of, unknown }: MatrixShare): string {
  const rest = unknown > 0 ? `${exactTime(unknown)} are in kernels whose name does not tell` : '';
  if (pct === null) return rest || 'not known';
  const share = `${significant(pct)} % of the time in kernels whose name tells uses them`;
  const part = of !== null && of < 100 ? `, and that is ${significant(of)} % of its own device work` : '';
  return rest ? `${share}${part}; ${rest}` : `${pct} %`;
}

export function operatorColumns(table: Table, order: number[]): GridColumn[] {
  const calls = numbers(table, 'calls');
  const figures = FIGURES.filter((one) => tells(table, one)).map((one) => numberColumn(table, one));
  const matrix = ['tensor_cores_pct', 'tensor_cores_unknown_us'].some((name) =>
    numbers(table, name).some((value) => value !== null),
  );
  const keys = keyColumns(table);
  const wide = keys.filter((name) => !NARROW.includes(name)).length;
  const shares = figures.filter(({ key }) => key.endsWith('_self_pct'));
  const columns: GridColumn[] = [
    ...keys.map((name, i) => keyColumn(table, name, i === 0, wide > 1 ? 170 : 216)),
    {
      key: 'calls',
      title: 'Calls',
      help: describe(table, 'calls'),
      width: '64px',
      number: true,
      cell: (row) => count(calls[row]),
    },
    ...TIMES.flatMap((group) => timeColumns(table, order, group)),
    ...shares,
    ...(matrix ? [matrixColumn(table)] : []),
    ...figures.filter((one) => !shares.includes(one)),
  ];
  return wide > 1 ? columns.map((one) => ({ ...one, extra: LESS.includes(one.key) })) : columns;
}
