import { count, exactTime, humanise, largest, MISSING, medianScale, percent, scaled } from '../../lib/format';
import { keyColumns } from '../../model/kernels';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { CopyButton, Name, ShareBar } from '../parts/bits';
import type { GridColumn } from '../parts/grid';

const TITLES: Record<string, string> = { total_us: 'Total', mean_us: 'Mean', min_us: 'Min', max_us: 'Max' };
const WIDE = ['name', 'op', 'category'];
const KEY_TITLES: Record<string, string> = { name: 'Kernel', op: 'Operator' };

/** Mean, shortest and longest share a unit, so that they compare at a glance. */
function timeColumns(table: Table, order: number[]): GridColumn[] {
  const unitOf = (name: string) => medianScale(order.map((row) => nanosecondsOf(table, name)[row]));
  const each = unitOf('mean_us');
  const total = unitOf('total_us');
  return Object.keys(TITLES).map((key) => {
    const values = nanosecondsOf(table, key);
    const scale = key === 'total_us' ? total : each;
    return {
      key,
      title: `${TITLES[key]}, ${scale.unit}`,
      help: describe(table, key),
      width: '92px',
      number: true,
      cell: (row) => scaled(values[row], scale),
      hover: (row) => exactTime(values[row]),
    };
  });
}

const cache = new WeakMap<Table, Map<string, (number | null)[]>>();

function nanosecondsOf(table: Table, name: string): (number | null)[] {
  const columns = cache.get(table) ?? new Map<string, (number | null)[]>();
  cache.set(table, columns);
  const values = columns.get(name) ?? nanoseconds(table, name);
  columns.set(name, values);
  return values;
}

function keyColumn(table: Table, name: string): GridColumn {
  const values = column(table, name);
  const kind = table.columns.find((one) => one.name === name)?.type;
  const wide = WIDE.includes(name);
  return {
    key: name,
    title: KEY_TITLES[name] ?? humanise(name),
    help: describe(table, name),
    width: wide ? 'auto' : `${Math.max(84, 8 * name.length + 24)}px`,
    number: kind === 'integer' || kind === 'number',
    cell: (row) =>
      wide ? (
        <NameCell value={values[row]} missing={name === 'op' ? 'unattributed' : MISSING} />
      ) : (
        (values[row] ?? MISSING)
      ),
  };
}

function NameCell({ value, missing }: { value: unknown; missing: string }) {
  if (typeof value !== 'string' || value === '') return <span class="muted">{missing}</span>;
  return (
    <span class="name-cell">
      <Name name={value} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keeps a click on the button from opening the row */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <span class="on-hover" onClick={(event) => event.stopPropagation()}>
        <CopyButton text={value} />
      </span>
    </span>
  );
}

export function kernelColumns(table: Table, order: number[]): GridColumn[] {
  const calls = numbers(table, 'calls');
  const shares = numbers(table, 'share_pct');
  const most = largest(shares) || 1;
  return [
    ...keyColumns(table).map((name) => keyColumn(table, name)),
    {
      key: 'calls',
      title: 'Calls',
      help: describe(table, 'calls'),
      width: '76px',
      number: true,
      cell: (row) => count(calls[row]),
    },
    ...timeColumns(table, order),
    {
      key: 'share_pct',
      title: 'Share',
      help: describe(table, 'share_pct'),
      width: '112px',
      number: true,
      cell: (row) => <ShareBar share={(100 * (shares[row] ?? 0)) / most} text={percent(shares[row])} kind="kernel" />,
      hover: (row) => (shares[row] === null ? 'not recorded' : `${shares[row]} %`),
    },
  ];
}
