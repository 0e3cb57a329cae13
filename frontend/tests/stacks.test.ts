import { describe, expect, it } from 'vitest';
import { editorLink, flameOf, frameKind, frameLabel, resolve, sumsOfFrame } from '../src/model/stacks';
import { treeOf } from '../src/model/tree';
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

  it('have frames that say first what is called', () => {
    expect(frameLabel('/a/b/train.py(81): main')).toBe('main (train.py:81)');
    expect(frameLabel('<built-in function linear>')).toBe('<built-in function linear>');
    expect(frameLabel('aten::relu')).toBe('aten::relu');
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
