import { describe, expect, it } from 'vitest';
import { wordFilter } from '../src/lib/names';
import {
  buildTree,
  causeTotals,
  type IdleNode,
  keyId,
  levelsOf,
  nodeLabel,
  perStep,
  SORTS,
  segmentParameters,
  timeByGap,
  unfold,
  withStretches,
} from '../src/model/idle';
import { tableOf } from './helpers';

const LEAVES = tableOf({
  device: [0, 0, 0, 0, 1],
  cause: ['host work', 'host work', 'synchronization', 'host work', 'host work'],
  module: [null, null, null, null, null],
  op: ['aten::add', 'aten::mul', 'aten::item', 'aten::add', 'aten::add'],
  source: ['a.py(1): f', 'a.py(1): f', 'b.py(2): g', null, 'a.py(1): f'],
  count: [3, 2, 1, 4, 5],
  total_us: [30, 20.5, 10, 4.25, 100],
  longest_us: [20, 15, 10, 2, 60],
  longest_gap: [7, 8, 9, 10, 11],
  longest_start_us: [100, 200, 300, 400, 500],
});
const all = { order: 'cause', device: 0, passes: null } as const;

function outline(nodes: IdleNode[]): unknown[] {
  return nodes.map((node) => [nodeLabel(node), node.total, ...(node.children.length ? [outline(node.children)] : [])]);
}

describe('the tree of idle time', () => {
  it('adds up from the leaves, and leaves out a level that tells nothing', () => {
    expect(levelsOf(LEAVES, 'cause')).toEqual(['cause', 'op', 'source']);
    const tree = buildTree(LEAVES, all);
    expect(tree.total).toBe(64_750);
    expect(outline(tree.roots)).toEqual([
      [
        'Host work',
        54_750,
        [
          [
            'aten::add',
            34_250,
            [
              ['a.py:1 (f)', 30_000],
              ['no source line', 4_250],
            ],
          ],
          ['aten::mul', 20_500, [['a.py:1 (f)', 20_500]]],
        ],
      ],
      ['Synchronization', 10_000, [['aten::item', 10_000, [['b.py:2 (g)', 10_000]]]]],
    ]);
    expect(tree.roots[0]).toMatchObject({ count: 9, longest: 20_000, longestGap: 7, longestStart: 100_000 });
  });

  it('sums the devices where all are asked for', () => {
    expect(buildTree(LEAVES, { ...all, device: null }).total).toBe(164_750);
  });

  it('reads the other way round, with the causes of each row', () => {
    const tree = buildTree(LEAVES, { ...all, order: 'source' });
    expect(tree.levels).toEqual(['source', 'op', 'cause']);
    const [first] = tree.roots;
    expect([first.value, first.total]).toEqual(['a.py(1): f', 50_500]);
    expect([...first.causes]).toEqual([['host work', 50_500]]);
    expect(first.children[0].key).toEqual({ source: 'a.py(1): f', op: 'aten::add' });
  });

  it('takes count and longest of the outermost rows from their own sums', () => {
    const summed = tableOf({
      device: [0, 0, 1],
      cause: ['host work', 'synchronization', 'host work'],
      count: [2, 1, 5],
      total_us: [54.75, 10, 100],
      longest_us: [40, 10, 60],
      longest_gap: [7, 9, 11],
      longest_start_us: [100, 300, 500],
    });
    const [first] = withStretches(buildTree(LEAVES, all), summed, 0).roots;
    expect(first).toMatchObject({ total: 54_750, count: 2, longest: 40_000, longestGap: 7 });
    const [both] = withStretches(buildTree(LEAVES, { ...all, device: null }), summed, null).roots;
    expect(both).toMatchObject({ total: 154_750, count: 7, longest: 60_000, longestGap: 11 });
  });

  const labels = (rows: ReturnType<typeof unfold>) => rows.map(({ row, depth }) => `${depth} ${nodeLabel(row)}`);
  const how = { open: new Set<string>(), sort: SORTS.total, descending: true, passes: null };

  it('is folded up at first, and sorts brothers only', () => {
    const tree = buildTree(LEAVES, all);
    expect(labels(unfold(tree, how))).toEqual(['0 Host work', '0 Synchronization']);
    const open = new Set([keyId({ cause: 'host work' })]);
    const up = unfold(tree, { ...how, open, descending: false });
    expect(labels(up)).toEqual(['0 Synchronization', '0 Host work', '1 aten::mul', '1 aten::add']);
    expect(up.map(({ place, siblings }) => [place, siblings])).toEqual([
      [1, 2],
      [2, 2],
      [1, 2],
      [2, 2],
    ]);
  });

  it('shows what was searched for, with sums of that alone', () => {
    const passes = wordFilter('mul');
    const tree = buildTree(LEAVES, { ...all, passes });
    expect(tree.total).toBe(20_500);
    expect(labels(unfold(tree, { ...how, passes }))).toEqual(['0 Host work', '1 aten::mul']);
    const without = buildTree(LEAVES, { ...all, passes: wordFilter('-add') });
    expect(without.total).toBe(30_500);
    expect(buildTree(LEAVES, { ...all, passes: wordFilter('a.py -mul') }).total).toBe(30_000);
  });

  it('keeps names apart that differ, whatever is in them', () => {
    const odd = tableOf({
      ...LEAVES.data,
      op: ['a","source":"x', 'a', '', null, 'z'],
      source: [null, null, null, null, null],
    });
    const [first, second] = buildTree(odd, all).roots;
    expect(first.children.map((node) => node.value)).toEqual(['a","source":"x', 'a', null]);
    expect(second.children.map(nodeLabel)).toEqual(['(no name)']);
  });
});

describe('gaps of a row', () => {
  it('are asked for by what the row agrees in; long and empty names are left to the page', () => {
    const long = 'x'.repeat(3000);
    expect(segmentParameters({ cause: 'host work', op: null, source: long, module: '' }, 1, null)).toEqual({
      cause: 'host work',
      op: '',
      device: 1,
    });
    const segments = tableOf({
      gap: [4, 4, 5, 5],
      source: [long, 'y', long, long],
      duration_us: [1.5, 9, 2, 0.25],
    });
    expect([...timeByGap(segments, { source: long })]).toEqual([
      [4, 1500],
      [5, 2250],
    ]);
  });

  it('add up to the row', () => {
    const segments = tableOf({ gap: [1, 2], op: [null, null], duration_us: [3, 4] });
    expect([...timeByGap(segments, { op: null }).values()]).toEqual([3000, 4000]);
    expect(timeByGap(segments, { op: 'a' }).size).toBe(0);
  });
});

describe('sums by cause', () => {
  it('come most first, of one device or of all', () => {
    expect(causeTotals(LEAVES, 0)).toEqual([
      { cause: 'host work', total: 54_750, count: 9 },
      { cause: 'synchronization', total: 10_000, count: 1 },
    ]);
    expect(causeTotals(LEAVES, null)[0].total).toBe(154_750);
  });

  it('are told per step and GPU where there are several', () => {
    expect(perStep(6, 1, null)).toEqual({ divisor: 6, words: 'a step' });
    expect(perStep(6, 8, null)).toEqual({ divisor: 48, words: 'a step and a GPU' });
    expect(perStep(6, 1, { t0: 0, t1: 1, step: 3 })).toEqual({ divisor: 1, words: '' });
    expect(perStep(0, 0, null)).toEqual({ divisor: 1, words: '' });
  });
});
