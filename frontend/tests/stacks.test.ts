import { batch } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import {
  editorLink,
  flameOf,
  followSelection,
  frameKind,
  frameLabel,
  hidesStackless,
  placeSums,
  resolve,
  sumsOfFrame,
  weightExact,
  wholes,
  withoutStackless,
} from '../src/model/stacks';
import * as state from '../src/model/state';
import { layOut, treeOf } from '../src/model/tree';
import { tableOf } from './helpers';

// main → step → step (recursion) and relu; by hand, device: step 3 + inner 2, relu 5
const table = tableOf({
  id: [0, 1, 2, 3],
  parent: [null, 0, 1, 0],
  name: ['/a/t.py(1): main', '/a/t.py(9): step', '/a/t.py(9): step', 'aten::relu'],
  file: ['/a/t.py', '/a/t.py', '/a/t.py', null],
  line: [1, 9, 9, null],
  host_self_us: [1, 1, 1, 1],
  host_total_us: [4, 2, 1, 1],
  device_self_us: [0, 3, 2, 5],
  device_total_us: [10, 5, 2, 5],
  idle_self_us: [0, 0, 0, 0],
  idle_total_us: [0, 0, 0, 0],
  allocated_self_bytes: [0, 0, 64, 0],
  allocated_total_bytes: [64, 64, 64, 0],
});

describe('call stacks', () => {
  it('are as wide as their device work where there is some', () => {
    expect(resolve(table, 'auto')).toBe('device');
    const flame = flameOf(table, 'top_down', 'auto');
    expect(flame.values).toEqual([10_000, 5000, 2000, 5000]);
    expect(flame.whole).toBe(10_000);
    expect(flame.known).toEqual(['device', 'host', 'allocated']);
  });

  it('by file are as wide as what is their own', () => {
    expect(flameOf(table, 'file', 'host').values).toEqual([4000, 2000, 1000, 1000]);
    expect(flameOf(table, 'file', 'allocated').values).toEqual([64, 64, 64, 0]);
  });

  it('count a frame in its like once', () => {
    const { self, total, rows, file, line } = sumsOfFrame({ table, tree: treeOf(table) }, '/a/t.py(9): step');
    expect([self.device, total.device, total.host, total.allocated]).toEqual([5000, 5000, 2000, 64]);
    expect([rows, file, line]).toEqual([[1, 2], '/a/t.py', 9]);
  });

  it('have a place with figures of its own', () => {
    const flame = flameOf(table, 'top_down', 'auto');
    expect(placeSums(flame, 2, 'top_down')).toEqual({
      self: { device: 2000, host: 1000, idle: 0, allocated: 64 },
      total: { device: 2000, host: 1000, idle: 0, allocated: 64 },
    });
    expect(placeSums(flame, 1, 'top_down').self.device).toBe(3000);
    // A file's own time is that of its frames.
    expect(placeSums(flame, 0, 'file').self.device).toBe(8000);
    expect(wholes(table)).toEqual({ device: 10_000, host: 4000, idle: 0, allocated: 64 });
  });

  it('have frames that say first what is called', () => {
    expect(frameLabel('/a/b/train.py(81): main')).toBe('main (train.py:81)');
    expect(frameLabel('<built-in function linear>')).toBe('<built-in function linear>');
    expect(frameLabel('aten::relu')).toBe('aten::relu');
    expect(frameLabel('nn.Module: Linear_0')).toBe('Linear_0');
    expect([0, 3].map((row) => frameKind(table, row))).toEqual(['python', 'kernel']);
  });

  it('lead to an editor by whole paths only', () => {
    expect(editorLink('/home/a b/t.py', 3)).toBe('vscode://file/home/a%20b/t.py:3');
    expect(editorLink('C:\\x\\t.py', 3)).toBe('vscode://file/C:/x/t.py:3');
    expect(editorLink('torch/nn/module.py', 3)).toBeNull();
    expect(editorLink('//host/share.py', 3)).toBeNull();
    expect(editorLink('/a/"><img src=x>.py', 3)).toBe('vscode://file/a/%22%3E%3Cimg%20src%3Dx%3E.py:3');
  });
});

describe('what has no stack', () => {
  const with_ = (microseconds: number) =>
    flameOf(
      tableOf({
        id: [0, 1, 2],
        parent: [null, 0, null],
        name: ['/a/t.py(1): main', '/a/t.py(9): step', null],
        device_self_us: [0, 10, microseconds],
        device_total_us: [10, 10, microseconds],
      }),
      'top_down',
      'device',
    );

  it('is shown while it is the smaller part, and as asked for', () => {
    expect([10, 10.001].map((part) => hidesStackless(with_(part), 'auto'))).toEqual([false, true]);
    expect(hidesStackless(with_(1), 'hidden')).toBe(true);
    expect(hidesStackless(with_(99), 'shown')).toBe(false);
  });

  it('is not hidden where there is none, or nothing else', () => {
    expect(with_(0).stackless).toBeNull();
    expect(hidesStackless(with_(0), 'hidden')).toBe(false);
    const all = tableOf({ id: [0], parent: [null], name: [null], device_self_us: [5], device_total_us: [5] });
    expect(hidesStackless(flameOf(all, 'top_down', 'device'), 'hidden')).toBe(false);
  });

  it('comes last however wide it is, and leaves the whole alone when it goes', () => {
    const flame = with_(30);
    const rows = (last: number | null) =>
      layOut(flame.tree, flame.values, null, (row) => Number(row === last)).map((block) => block.row);
    expect(rows(null)).toEqual([2, 0, 1]);
    expect(rows(flame.stackless)).toEqual([0, 2, 1]);
    const rest = withoutStackless(flame);
    expect([rest.tree.roots, rest.values, rest.whole, rest.stackless]).toEqual([
      [0],
      [10_000, 10_000, 0],
      40_000,
      null,
    ]);
    expect(layOut(rest.tree, rest.values, null).map(({ row, from, to }) => [row, from, to])).toEqual([
      [0, 0, 1],
      [1, 0, 1],
    ]);
  });
});

it('forgets places when another time is chosen, unless an address brings both', () => {
  const place = (node: number) => ({ node, under: null });
  state.filter.value = null;
  state.flameZoom.value = place(4);
  state.selection.value = { kind: 'frame', name: 'main', node: 4 };
  state.eventTime.value = { t0: 1, t1: 2 };
  const stop = followSelection();
  state.filter.value = { t0: 1, t1: 2, step: 1 };
  expect(state.flameZoom.value).toBeNull();
  expect(state.selection.value).toEqual({ kind: 'frame', name: 'main' });
  expect(state.eventTime.value).toBeNull();
  state.flameZoom.value = place(3);
  expect(state.flameZoom.value).toEqual(place(3));
  batch(() => {
    state.filter.value = null;
    state.flameZoom.value = place(7);
    state.selection.value = { kind: 'frame', name: 'main', node: 7 };
    state.eventTime.value = { t0: 3, t1: 4 };
  });
  expect(state.flameZoom.value).toEqual(place(7));
  expect(state.selection.value).toEqual({ kind: 'frame', name: 'main', node: 7 });
  expect(state.eventTime.value).toEqual({ t0: 3, t1: 4 });
  state.within.value = 'run';
  expect(state.flameZoom.value).toBeNull();
  stop();
  state.within.value = 'start';
});

it('tells sizes of memory exactly, in bytes', () => {
  expect(weightExact('allocated', 1_048_576)).toBe('1\u202f048\u202f576 bytes');
});
