import type { JSX } from 'preact';
import {
  count,
  exactBytes,
  exactTime,
  largest,
  MISSING,
  medianScale,
  memorySize,
  percent,
  scaled,
} from '../../lib/format';
import { deviceWork, type Modules, moduleName, OUTSIDE } from '../../model/modules';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Kind } from '../../model/wire';
import { ShareBar } from '../parts/bits';
import type { GridColumn } from '../parts/sheet';

const SORT_WORDS: Record<string, string> = {
  'compiled region': 'compiled',
  graph: 'graph',
  annotation: 'annotation',
};

interface TimeColumn {
  key: string;
  title: string;
  kind: Kind;
  bar: boolean;
  width?: string;
}

const DEVICE: TimeColumn[] = [
  { key: 'device_total_us', title: 'Device total', kind: 'kernel', bar: true },
  { key: 'device_self_us', title: 'Device self', kind: 'kernel', bar: false },
  { key: 'forward_total_us', title: 'Forward', kind: 'kernel', bar: false, width: '112px' },
  { key: 'backward_total_us', title: 'Backward', kind: 'kernel', bar: false, width: '112px' },
];
const HOST: TimeColumn[] = [
  { key: 'host_total_us', title: 'Host total', kind: 'op', bar: true },
  { key: 'host_self_us', title: 'Host self', kind: 'op', bar: false },
];

/** What backward runs again can make a module's host time more than that of the one above: said where it does. */
export function hostHover({ table, tree }: Modules, values: (number | null)[], row: number): string {
  const above = tree.parent[row] ?? -1;
  const more = above >= 0 && (values[row] ?? 0) > (values[above] ?? 0);
  return more ? `${exactTime(values[row])}. ${describe(table, 'host_total_us')}` : exactTime(values[row]);
}

function timeColumns(modules: Modules, columns: TimeColumn[]): GridColumn[] {
  const { table, outside } = modules;
  const first = nanoseconds(table, columns[0].key);
  const scale = medianScale(first.filter((_, row) => row !== outside));
  const most = largest(first) || 1;
  return columns.map(({ key, title, kind, bar, width = '124px' }) => {
    const values = nanoseconds(table, key);
    return {
      key,
      title: `${title}, ${scale.unit}`,
      help: describe(table, key),
      width,
      number: true,
      cell: (row) => (
        <ShareBar share={bar ? (100 * (values[row] ?? 0)) / most : 0} text={scaled(values[row], scale)} kind={kind} />
      ),
      hover: (row) => (key === 'host_total_us' ? hostHover(modules, values, row) : exactTime(values[row])),
    };
  });
}

export function ModuleName({ modules, row }: { modules: Modules; row: number }): JSX.Element {
  const { table } = modules;
  const sorts = column(table, 'sort');
  // Where all are of a sort, a note says which.
  const mixed = new Set(sorts.filter((sort) => sort !== null)).size > 1;
  const sort = mixed && SORT_WORDS[String(sorts[row] ?? '')];
  if (row === modules.outside) return <span class="name muted">{OUTSIDE}</span>;
  return (
    <>
      <span class="name">{moduleName(modules, row)}</span>
      {sort && <span class="tag">{sort}</span>}
    </>
  );
}

export function moduleColumns(modules: Modules, first: string): GridColumn[] {
  const { table } = modules;
  const calls = numbers(table, 'calls');
  const shares = numbers(table, 'device_total_pct');
  const share: GridColumn = {
    key: 'device_total_pct',
    title: 'Of device',
    help: describe(table, 'device_total_pct'),
    width: '80px',
    number: true,
    cell: (row) => percent(shares[row]),
    hover: (row) => (shares[row] === null ? 'no device work' : `${shares[row]} %`),
  };
  const peak = numbers(table, 'peak_memory_bytes');
  const device = column(table, 'memory_device');
  const memory: GridColumn = {
    key: 'peak_memory_bytes',
    title: 'Peak memory',
    help: describe(table, 'peak_memory_bytes'),
    of: ['peak_memory_bytes', 'memory_device'],
    width: '108px',
    number: true,
    cell: (row) => memorySize(peak[row]),
    hover: (row) => (peak[row] === null ? 'not recorded' : `${exactBytes(peak[row])} on ${device[row]}`),
  };
  const path = column(table, table.data.path ? 'path' : 'class');
  return [
    {
      key: 'name',
      title: first,
      help: describe(table, table.data.name ? 'name' : 'class'),
      width: 'auto',
      least: 220,
      cell: (row) => <ModuleName modules={modules} row={row} />,
      hover: (row) => String(path[row] ?? OUTSIDE),
    },
    {
      key: 'calls',
      title: 'Calls',
      help: describe(table, 'calls'),
      width: '64px',
      number: true,
      cell: (row) => (row === modules.outside ? MISSING : count(calls[row])),
    },
    ...(deviceWork(table) > 0 ? [...timeColumns(modules, DEVICE), share] : []),
    ...timeColumns(modules, HOST).map(
      (one): GridColumn => ({ ...one, cell: (row) => (row === modules.outside ? MISSING : one.cell(row)) }),
    ),
    ...(peak.some((value) => value !== null) ? [memory] : []),
  ];
}
