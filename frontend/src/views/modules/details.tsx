import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactBytes, exactTime, memorySize, percent } from '../../lib/format';
import { keyOf, likeOf } from '../../model/kernels';
import { deviceWork, type Modules, moduleName, moduleRow, modulesOf } from '../../model/modules';
import { defaultSort, type Merged, mergeRows, relative, rowsBelow } from '../../model/operators';
import { useTable } from '../../model/remote';
import { filter, filterWords, findEvents, go, moduleBy, selection, selectionParameters } from '../../model/state';
import { allRows, column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Block, Fact } from '../drawer/event';
import { OPERATOR_FIELDS } from '../operators/parts';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';
import type { Field } from '../parts/fields';
import { Part } from '../parts/part';
import { hostHover } from './columns';

const KERNELS: Field[] = [
  { key: 'name', title: 'Kernel', as: 'name' },
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'total_us', title: 'Total', as: 'time' },
  { key: 'category', title: 'Category', as: 'text', width: '116px' },
];

/** Where below the module it is. */
const PLACE: Field = { key: 'module', title: 'In', as: 'name', width: '92px', none: 'itself' };

/** A module, or all of a class: its figures, the operators and kernels that are its own. */
export function ModuleDetails({ of }: { of: number | string | null }): JSX.Element {
  const by = typeof of === 'string' ? 'class' : typeof of === 'number' ? 'tree' : moduleBy.value;
  const { data, problem } = useTable('modules', { by, ...selectionParameters(filter.value) });
  const modules = useMemo(() => data && modulesOf(data), [data]);
  const row = data && moduleRow(data, of);
  if (problem) return <ProblemBox problem={problem} />;
  if (!modules) return <Busy what="Reading the module…" />;
  if (row === null) {
    return <p class="hint">This module did not run{filter.value ? ` ${filterWords(filter.value)}` : ''}.</p>;
  }
  return <Details modules={modules} row={row} />;
}

function Details({ modules, row }: { modules: Modules; row: number }): JSX.Element {
  const { table, outside } = modules;
  const name = moduleName(modules, row);
  const path = column(table, 'path')[row];
  const own = row === outside || typeof path !== 'string' ? null : path;
  return (
    <div class="details" data-testid="module-details">
      <header class="details-title">
        <Swatch kind="op" />
        <h2 title={typeof path === 'string' ? path : name}>{name}</h2>
        {typeof path === 'string' && <CopyButton text={path} label="Copy path" />}
        {row !== outside && <FindAll modules={modules} row={row} />}
      </header>
      <div class="details-columns operator-details wide">
        <Figures modules={modules} row={row} />
        {(typeof path === 'string' || row === outside) && (
          <>
            <Within
              title="Operators in it"
              view="operators"
              path={own}
              fields={OPERATOR_FIELDS}
              sums={['device_self_us', 'host_self_us', 'calls']}
              open={(inner, at) => {
                const key = keyOf(inner, at);
                selection.value = { kind: 'operator', by: 'name,module', key, like: likeOf(inner, at) };
              }}
            />
            <Within
              title="Kernels launched in it"
              view="kernels"
              path={own}
              fields={KERNELS}
              sums={['total_us', 'calls']}
              none="It launched none."
              open={(inner, at) => {
                const key = keyOf(inner, at);
                selection.value = { kind: 'kernel', by: 'name,module', key, like: likeOf(inner, at) };
              }}
            />
          </>
        )}
      </div>
    </div>
  );
}

interface WithinProps {
  title: string;
  view: 'operators' | 'kernels';
  /** Path of the module; null is what is outside all. */
  path: string | null;
  fields: Field[];
  /** Figures that add up; the first tells which place is the main one. */
  sums: string[];
  none?: string;
  open: (table: Table, row: number) => void;
}

/** What is in a module or below it, a row for each name; a row opens it where it takes most. */
function Within({ title, view, path, fields, sums, none, open }: WithinProps): JSX.Element {
  const { data, problem } = useTable(view, { by: 'name,module', ...selectionParameters(filter.value) });
  const merged = useMemo(() => data && rowsIn(data, path, sums), [data, path]);
  const below = path !== null && (merged?.table.data.module ?? []).some((value) => value !== null);
  return (
    <Part
      title={title}
      testId={`part-${view}-name-module`}
      table={merged?.table ?? null}
      problem={problem}
      fields={below ? [...fields, PLACE] : fields}
      sort={data && view === 'operators' ? defaultSort(data) : { column: sums[0], descending: true }}
      none={none}
      open={(row) => data && merged && open(data, merged.main[row])}
    />
  );
}

function rowsIn(table: Table, path: string | null, sums: string[]): Merged {
  const places = column(table, 'module');
  const rows = path === null ? allRows(table).filter((row) => places[row] === null) : rowsBelow(table, 'module', path);
  const owned = rows.filter((row) => column(table, 'owned')[row] !== false);
  const seen = path === null ? table : relative(table, 'module', path);
  return mergeRows(seen, owned, 'name', 'module', sums);
}

/** Modules of frames are events of that name; those that TorchScript recorded are parts of others'. */
function FindAll({ modules, row }: { modules: Modules; row: number }): JSX.Element {
  const { table } = modules;
  const name = moduleName(modules, row);
  const framed = !table.notes.some((note) => note.startsWith('No nn.Module frames'));
  const module = column(table, 'sort')[row] === 'module' || table.data.sort === undefined;
  const find = () => {
    if (!module) findEvents(`"${name}"`);
    else if (table.data.sort === undefined) findEvents(`nn.Module: ${name}_`);
    else findEvents(framed ? `"nn.Module: ${name}"` : name);
    go('timeline');
  };
  return (
    <button type="button" class="quiet" onClick={find}>
      Show in timeline
    </button>
  );
}

const TIMES: [label: string, key: string][] = [
  ['Device total', 'device_total_us'],
  ['· forward', 'forward_total_us'],
  ['· backward', 'backward_total_us'],
  ['Device self', 'device_self_us'],
  ['· forward', 'forward_us'],
  ['· backward', 'backward_us'],
  ['Host total', 'host_total_us'],
  ['Host self', 'host_self_us'],
];

function Figures({ modules, row }: { modules: Modules; row: number }): JSX.Element {
  const { table, outside } = modules;
  const text = (key: string) => column(table, key)[row];
  const share = numbers(table, 'device_total_pct')[row];
  const peak = numbers(table, 'peak_memory_bytes')[row];
  const works = deviceWork(table) > 0;
  const times = TIMES.filter(([, key]) => (key.startsWith('host') ? row !== outside : works));
  return (
    <Block title={filter.value ? `Figures ${filterWords(filter.value)}` : 'Figures'} scrolls>
      <dl class="facts">
        {typeof text('path') === 'string' && <Fact name="Path" value={String(text('path'))} />}
        {typeof text('class') === 'string' && <Fact name="Class" value={String(text('class'))} />}
        {typeof text('sort') === 'string' && text('sort') !== 'module' && (
          <Fact name="Kind" value={String(text('sort'))} />
        )}
        {row !== outside && <Fact name="Calls" value={count(numbers(table, 'calls')[row])} />}
        {times.map(([label, key]) => {
          const values = nanoseconds(table, key);
          const value = values[row];
          const hover = key === 'host_total_us' ? hostHover(modules, values, row) : exactTime(value);
          return <Fact key={key} name={label} value={duration(value)} hover={hover} />;
        })}
        {peak !== null && (
          <Fact
            name="Peak memory"
            value={`${memorySize(peak)} on ${text('memory_device')}`}
            hover={`${exactBytes(peak)}. ${describe(table, 'peak_memory_bytes')}`}
          />
        )}
        {works && (
          <Fact name="Device share" value={percent(share)} hover={share === null ? 'no device work' : `${share} %`} />
        )}
      </dl>
    </Block>
  );
}
