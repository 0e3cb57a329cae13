import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { wholePercent } from '../src/lib/format';
import { callParameters, kernelKind, keyColumns, keyOf } from '../src/model/kernels';
import { printAddress, takeAddress } from '../src/model/location';
import { deviceWork, firstOpen, moduleKey, moduleName, moduleRow, modulesOf } from '../src/model/modules';
import * as operators_ from '../src/model/operators';
import { defaultSort, operatorTitle, relative, rowOf, rowsBelow, sumsOf } from '../src/model/operators';
import { flameOf } from '../src/model/stacks';
import * as state from '../src/model/state';
import { column } from '../src/model/tables';
import type { Table } from '../src/model/wire';
import { hostHover } from '../src/views/modules/columns';
import { matrixHover, matrixText } from '../src/views/operators/columns';
import { tableOf } from './helpers';

const operators = tableOf({
  name: ['aten::mm', null, 'aten::add'],
  module: ['Net_0/Linear_0', null, 'Net_0'],
  owned: [true, false, true],
  calls: [2, 0, 3],
  host_self_us: [1.5, 0, 2.25],
  device_self_us: [10, 4, 6],
  longest_id: [7, null, 9],
});

describe('operators', () => {
  it('have the keys that stand before the figures', () => {
    expect(keyColumns(operators)).toEqual(['name', 'module']);
    const kernels = tableOf({ name: ['k'], calls: [1], tensor_cores: ['yes'], colour: ['red'], longest_id: [3] });
    expect(keyOf(kernels, 0)).toEqual({ name: 'k' });
    expect(callParameters(keyOf(kernels, 0), 'name', 3)).toEqual({ like: 3 });
  });

  it('add up, with the work that none owns', () => {
    expect(sumsOf(operators)).toEqual({ calls: 5, host: 3750, device: 20_000, unowned: 4000 });
    expect(sumsOf(operators, [2])).toEqual({ calls: 3, host: 2250, device: 6000, unowned: 0 });
    expect(operatorTitle({ name: null }, false)).toBe('unattributed device work');
    expect(operatorTitle({ module: null }, true)).toBe('outside all modules');
  });

  it('come with most device work first, or host time where there is none', () => {
    expect(defaultSort(operators)).toEqual({ column: 'device_self_us', descending: true });
    const host = tableOf({ name: ['a'], calls: [1], device_self_us: [0], host_self_us: [1] });
    expect(defaultSort(host).column).toBe('host_self_us');
  });

  it('are found by their key, or by the longest call of a key that was cut', () => {
    expect(rowOf(operators, { name: 'aten::add', module: 'Net_0' }, null)).toBe(2);
    expect(rowOf(operators, { module: 'Net_0/Linear_0' }, 7)).toBe(0);
    expect(rowOf(operators, { name: 'aten::mm', module: 'Other' }, 7)).toBeNull();
  });

  it('of a module are those at and below its path', () => {
    expect(rowsBelow(operators, 'module', 'Net_0')).toEqual([0, 2]);
    expect(rowsBelow(operators, 'module', 'Net')).toEqual([]);
    expect(relative(operators, 'module', 'Net_0').data.module).toEqual(['Linear_0', null, null]);
  });
});

describe('a row of operators', () => {
  it('without a name is not the work of no operator', () => {
    expect(operators_.operatorTitle({ name: '' }, true)).toBe('(no name)');
    expect(operators_.operatorTitle({ name: null }, false)).toBe('unattributed device work');
  });

  it('asks for its ops by one of them', () => {
    expect(operators_.alikeParameters('shapes', 3210)).toEqual({ op_like: 3210, alike: 'shapes' });
  });

  it.each([
    ['module', 'name,module'],
    ['source', 'name,source'],
    ['phase', 'name,phase'],
    ['name,thread', 'name,thread'],
    ['shapes', 'shapes'],
  ])('by %s has operators by %s in it', (by, inner) => expect(operators_.innerBy(by)).toBe(inner));

  it('has kernels of which the calls can be listed', () => {
    const { by, key } = operators_.kernelKey('k', 'shapes', 7);
    expect(callParameters(key, by, 3)).toEqual({ like: 3, op_like: 7, alike: 'shapes' });
  });

  it('leaves out those around its ops', () => {
    const table = tableOf({ name: ['own', 'around', 'late'], calls: [2, 0, 0], device_self_us: [0, 0, 3] });
    expect(operators_.ownRows(table)).toEqual([0, 2]);
  });
});

describe('the share of matrix units', () => {
  const table = tableOf({
    name: ['all', 'half', 'none', 'copies', 'idle'],
    device_self_us: [10, 100, 10, 10, 0],
    tensor_cores_pct: [100, 100, null, 0, null],
    tensor_cores_unknown_us: [0, 48, 10, 5, 0],
    tensor_cores_eligible: [true, true, true, false, true],
    copied_gb_per_s: [null, null, null, 12, null],
  });
  const share = (row: number) => operators_.matrixShare(table, row);
  const plain = (text: string) => text.replaceAll('\u202f', ' ');

  it('says of how much it is one', () => {
    expect(share(0)).toEqual({ pct: 100, of: 100, unknown: 0 });
    expect(share(1)).toEqual({ pct: 100, of: 52, unknown: 48_000 });
    expect(share(2)).toEqual({ pct: null, of: 0, unknown: 10_000 });
    expect([0, 1, 3].map((row) => plain(matrixText(share(row))))).toEqual([
      '100.0 %',
      '100 % of 52 %',
      '0 % of a part',
    ]);
    expect(plain(matrixHover(share(1)))).toContain('48.000 µs are in kernels whose name does not tell');
    expect(plain(matrixHover(share(1)))).toContain('52.0 % of its own device work');
    expect(matrixHover(share(4))).toBe('not known');
  });

  it('is never called whole where it is not', () => {
    expect([99.7, 0.2, 52.4].map((value) => plain(wholePercent(value)))).toEqual(['>99 %', '<1 %', '52 %']);
  });
});

describe('operations', () => {
  const table = tableOf({
    calls: [4, 4, 4, 4],
    flops: [8e9, 4e9, null, null],
    flops_calls: [4, 2, 0, 0],
    tensor_cores_eligible: [true, true, true, false],
  });

  it('that are not known say why', () => {
    expect(operators_.whyNoFlops(table, 0, true)).toBeNull();
    expect(operators_.whyNoFlops(table, 1, true)).toContain('other calls');
    expect(operators_.whyNoFlops(table, 2, true)).toContain('such as the stride');
    expect(operators_.whyNoFlops(table, 3, true)).toContain('no formula');
    expect(operators_.whyNoFlops(table, 2, false)).toContain('record_shapes=True');
  });
});

it('rows of one name are one, in how many places they are, and where most', () => {
  const table = tableOf({
    name: ['aten::mm', 'aten::add', 'aten::mm'],
    module: ['a', null, 'b'],
    calls: [2, 1, 3],
    device_self_us: [5, 1, 7.5],
    longest_id: [1, 2, 3],
  });
  const { table: merged, main } = operators_.mergeRows(table, [0, 1, 2], 'name', 'module', ['device_self_us', 'calls']);
  expect(main).toEqual([2, 1]);
  expect(merged.data).toEqual({
    name: ['aten::mm', 'aten::add'],
    module: ['2 places', null],
    calls: [5, 1],
    device_self_us: [12.5, 1],
    longest_id: [3, 2],
  });
  expect(operators_.mergeRows(table, [], 'name', 'module', ['calls']).table.rows).toBe(0);
});

describe('modules', () => {
  const table = tableOf({
    id: [0, 1, 2, null],
    parent: [null, 0, 0, null],
    name: ['Net_0', 'Linear_0', 'ReLU_0', null],
    device_total_us: [9, 6, 1, 4],
    device_self_us: [2, 6, 1, 4],
    host_total_us: [20, 5, 5, 0],
  });

  it('hold all device work, with what is outside', () => {
    const modules = modulesOf(table);
    expect(deviceWork(table)).toBe(13_000);
    expect(modules.outside).toBe(3);
    expect(moduleName(modules, 3)).toBe('outside all modules');
    expect([...firstOpen(modules.tree)]).toEqual([0, 3]);
    expect(moduleRow(table, moduleKey(table, 2))).toBe(2);
    expect(moduleRow(table, null)).toBe(3);
  });

  it('that took longer than the one above say why', () => {
    const host = [20_000, 25_000, 5000, 0];
    const modules = modulesOf(table);
    expect(hostHover(modules, host, 1)).toContain('What host_total_us means.');
    expect([0, 2, 3].map((row) => hostHover(modules, host, row)).join()).not.toContain('means');
  });

  it('are as wide as their host time where no device works', () => {
    const host = modulesOf(tableOf({ ...table.data, device_total_us: [0, 0, 0, 5] }));
    expect(host.weight).toBe('host_total_us');
    expect(host.values).toEqual([20_000, 5000, 5000, 0]);
  });
});

describe('the address of the program pages', () => {
  beforeEach(() => {
    state.notices.value = [];
    takeAddress('');
  });

  const back = () => {
    const hash = printAddress('#kinetoscope');
    takeAddress('');
    takeAddress(hash);
    expect(printAddress('#kinetoscope')).toBe(hash);
    expect(state.notices.value).toEqual([]);
    return hash;
  };

  it.each<state.Selection>([
    { kind: 'operator', by: 'name,module', key: { name: 'aten::mm', module: null }, like: 7 },
    { kind: 'module', key: 12 },
    { kind: 'module', key: 'Linear' },
    { kind: 'module', key: null },
    { kind: 'frame', name: '/a/t.py(9): <lambda>' },
  ])('holds the selection %j', (selection) => {
    state.selection.value = selection;
    back();
    expect(state.selection.value).toEqual(selection);
  });

  it('leaves a long stack to the longest call', () => {
    const key = { name: 'aten::mm', stack: 'x'.repeat(5000) };
    state.selection.value = { kind: 'operator', by: 'stack', key, like: 7 };
    expect(back().length).toBeLessThan(200);
    expect(state.selection.value).toEqual({ kind: 'operator', by: 'stack', key: { name: 'aten::mm' }, like: 7 });
  });

  it('holds what the pages show', () => {
    state.page.value = 'flame';
    state.operatorBy.value = 'phase';
    state.operatorSort.value = { column: 'calls', descending: false };
    state.within.value = 'run';
    state.flameForm.value = 'inverted';
    state.flameWeight.value = 'idle';
    state.flameZoom.value = { node: 4, under: null };
    back();
    expect(state.page.value).toBe('flame');
    expect(state.operatorSort.value).toEqual({ column: 'calls', descending: false });
    expect([state.within.value, state.flameForm.value, state.flameWeight.value]).toEqual(['run', 'inverted', 'idle']);
    expect(state.flameZoom.value).toEqual({ node: 4, under: null });
    expect(state.selectionParameters({ t0: 1000, t1: 2000, step: null })).toEqual({
      start_us: '1.000',
      end_us: '2.000',
      within: 'run',
    });
  });

  it.each(['module:[1]', 'module:1.5', 'frame:7', 'frame:x:"a"', 'operator:name:7', 'operator:name:{"a":[1]}'])(
    'takes no selection from %s',
    (text) => {
      takeAddress(`#kinetoscope&p.kinetoscope.select=${encodeURIComponent(text)}`);
      expect(state.selection.value).toBeNull();
      expect(state.notices.value).toHaveLength(1);
    },
  );
});

describe('the samples of the wire', () => {
  const sample = (name: string): Table =>
    JSON.parse(readFileSync(join(import.meta.dirname, `../../tests/wire/view.${name}.json`), 'utf8'));

  it.each([
    ['kernels.name', ['name']],
    ['kernels.config', ['name', 'grid', 'block', 'registers', 'shared_memory']],
    ['kernels.stream', ['device', 'stream']],
    ['kernels.family', ['family']],
    ['operators', ['name']],
    ['operators.shapes', ['name', 'shapes']],
    ['operators.phase', ['phase']],
  ])('%s has the keys %j', (name, keys) => {
    expect(keyColumns(sample(name))).toEqual(keys);
  });

  it('agree on all device work', () => {
    const works = sumsOf(sample('operators')).device;
    expect(sumsOf(sample('operators.phase')).device).toBe(works);
    expect(deviceWork(sample('modules'))).toBe(works);
    expect(deviceWork(sample('modules.class'))).toBe(works);
    expect(flameOf(sample('stacks'), 'top_down', 'device').whole).toBe(works);
  });

  it('tell the category of kernels, beside the key', () => {
    for (const name of ['kernels.name', 'kernels.family', 'kernel_calls']) {
      const values = column(sample(name), 'category');
      expect(values.every((value) => typeof value === 'string')).toBe(true);
    }
    expect(kernelKind('communication')).toBe('communication');
    expect(kernelKind('matrix multiply')).toBe('kernel');
  });

  it('have the columns that the pages of modules and memory show', () => {
    const names = (name: string) => sample(name).columns.map((one) => one.name);
    expect(names('modules')).toEqual(expect.arrayContaining(['peak_memory_bytes', 'memory_device']));
    expect(names('modules.class')).toEqual(expect.arrayContaining(['peak_memory_bytes', 'memory_device']));
    expect(names('memory')).toEqual(expect.arrayContaining(['unmatched_frees', 'jumps']));
    expect(names('phase_ranges')).toEqual(['phase', 'start_us', 'end_us', 'step']);
  });
});
