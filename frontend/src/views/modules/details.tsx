import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactBytes, exactTime, memorySize, percent } from '../../lib/format';
import { keyOf, likeOf } from '../../model/kernels';
import { deviceWork, type Modules, moduleName, moduleRow, modulesOf } from '../../model/modules';
import { useTable } from '../../model/remote';
import { filter, filterWords, findEvents, go, moduleBy, selection, selectionParameters } from '../../model/state';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import { Block, Fact } from '../drawer/event';
import { Part } from '../operators/details';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';
import type { Field } from '../parts/fields';

const OPERATORS: Field[] = [
  { key: 'name', title: 'Operator', as: 'name', none: 'unattributed' },
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'device_self_us', title: 'Device self', as: 'time', width: '116px' },
  { key: 'host_self_us', title: 'Host self', as: 'time', width: '104px' },
];
const KERNELS: Field[] = [
  { key: 'name', title: 'Kernel', as: 'name' },
  { key: 'calls', title: 'Calls', as: 'count', width: '64px' },
  { key: 'total_us', title: 'Total', as: 'time' },
  { key: 'category', title: 'Category', as: 'text', width: '148px' },
];

/** Where below the module it is. */
const PLACE: Field = { key: 'module', title: 'In', as: 'name', none: 'itself' };

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
  const own = row === outside ? null : path;
  return (
    <div class="details" data-testid="module-details">
      <header class="details-title">
        <Swatch kind="op" />
        <h2 title={typeof path === 'string' ? path : name}>{name}</h2>
        {typeof path === 'string' && <CopyButton text={path} label="Copy path" />}
        {row !== outside && <FindAll modules={modules} row={row} />}
      </header>
      <div class="details-columns operator-details">
        <Figures modules={modules} row={row} />
        {(typeof path === 'string' || row === outside) && (
          <>
            <Part
              title="Operators in it"
              view="operators"
              by="name,module"
              match={['module', own]}
              below={own !== null}
              fields={own === null ? OPERATORS : [...OPERATORS, PLACE]}
              open={(inner, at) => {
                const key = keyOf(inner, at);
                selection.value = { kind: 'operator', by: 'name,module', key, like: likeOf(inner, at) };
              }}
            />
            <Part
              title="Kernels launched in it"
              view="kernels"
              by="name,module"
              match={['module', own]}
              below={own !== null}
              fields={own === null ? KERNELS : [...KERNELS, PLACE]}
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
          const value = nanoseconds(table, key)[row];
          return <Fact key={key} name={label} value={duration(value)} hover={exactTime(value)} />;
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
