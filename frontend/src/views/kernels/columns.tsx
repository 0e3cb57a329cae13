import {
  count,
  exactTime,
  humanise,
  largest,
  MISSING,
  medianScale,
  percent,
  plural,
  scaled,
  significant,
} from '../../lib/format';
import { kernelKind, keyColumns } from '../../model/kernels';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Copyable, Name, ShareBar } from '../parts/bits';
import { SourceName } from '../parts/place';
import type { GridColumn } from '../parts/sheet';

const TITLES: Record<string, string> = { total_us: 'Total', mean_us: 'Mean', min_us: 'Min', max_us: 'Max' };
const WIDE = ['name', 'op', 'category', 'module', 'family', 'source'];
const KEY_TITLES: Record<string, string> = { name: 'Kernel', op: 'Operator', source: 'Source line' };
const MISSING_KEYS: Record<string, string> = {
  op: 'unattributed',
  module: 'outside all modules',
  source: 'no source line known',
};

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
      width: key === 'total_us' ? '92px' : '84px',
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
    least: 240,
    number: kind === 'integer' || kind === 'number',
    cell: (row) =>
      wide ? (
        <NameCell name={name} value={values[row]} missing={MISSING_KEYS[name] ?? MISSING} />
      ) : (
        (values[row] ?? MISSING)
      ),
  };
}

function NameCell({ name, value, missing }: { name: string; value: unknown; missing: string }) {
  if (typeof value !== 'string' || value === '') {
    return <span class="muted">{value === '' ? '(no name)' : missing}</span>;
  }
  return <Copyable text={value}>{name === 'source' ? <SourceName source={value} /> : <Name name={value} />}</Copyable>;
}

/** What the launches were like; columns of which nothing is recorded are left out. */
function launchColumns(table: Table): GridColumn[] {
  const blocks = numbers(table, 'blocks_per_sm');
  const occupancy = numbers(table, 'occupancy_pct');
  const unknown = numbers(table, 'occupancy_unknown');
  const cores = column(table, 'tensor_cores');
  const columns: (GridColumn | false)[] = [
    occupancy.some((value) => value !== null) && {
      key: 'occupancy_pct',
      title: 'Occupancy',
      help: describe(table, 'occupancy_pct'),
      width: '96px',
      number: true,
      cell: (row) => percent(occupancy[row]),
      hover: (row) =>
        `${occupancy[row] === null ? 'not known' : `${occupancy[row]} %`}${unknown[row] ? `; not known of ${plural(unknown[row], 'call')}` : ''}`,
    },
    blocks.some((value) => value !== null) && {
      key: 'blocks_per_sm',
      title: 'Blocks/SM',
      help: describe(table, 'blocks_per_sm'),
      width: '92px',
      number: true,
      cell: (row) => (blocks[row] === null ? MISSING : significant(blocks[row])),
      hover: (row) => (blocks[row] === null ? 'not recorded' : String(blocks[row])),
    },
    table.data.tensor_cores !== undefined && {
      key: 'tensor_cores',
      title: 'Tensor cores',
      help: describe(table, 'tensor_cores'),
      width: '104px',
      cell: (row) => (cores[row] === 'unknown' ? <span class="muted">unknown</span> : (cores[row] ?? MISSING)),
    },
  ];
  return columns.filter((one) => one !== false);
}

/** What a kernel computes, by its name. */
function categoryColumn(table: Table): GridColumn {
  const values = column(table, 'category');
  return {
    key: 'category',
    title: 'Category',
    help: describe(table, 'category'),
    width: '128px',
    cell: (row) => values[row] ?? MISSING,
    hover: (row) => String(values[row] ?? ''),
  };
}

export function kernelColumns(table: Table, order: number[]): GridColumn[] {
  const calls = numbers(table, 'calls');
  const shares = numbers(table, 'share_pct');
  const most = largest(shares) || 1;
  const keys = keyColumns(table);
  const categories = column(table, 'category');
  return [
    ...keys.map((name) => keyColumn(table, name)),
    ...(table.data.category && !keys.includes('category') ? [categoryColumn(table)] : []),
    {
      key: 'calls',
      title: 'Calls',
      help: describe(table, 'calls'),
      width: '68px',
      number: true,
      cell: (row) => count(calls[row]),
    },
    ...timeColumns(table, order),
    {
      key: 'share_pct',
      title: 'Share',
      help: describe(table, 'share_pct'),
      width: '104px',
      number: true,
      cell: (row) => (
        <ShareBar
          share={(100 * (shares[row] ?? 0)) / most}
          text={percent(shares[row])}
          kind={kernelKind(categories[row])}
        />
      ),
      hover: (row) => (shares[row] === null ? 'not recorded' : `${shares[row]} %`),
    },
    ...launchColumns(table),
  ];
}
