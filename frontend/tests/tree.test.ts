import { describe, expect, it } from 'vitest';
import { above, layOut, MOST_LEVELS, subtreeSums, treeOf, unfold, withinReach } from '../src/model/tree';
import { tableOf } from './helpers';

// a(10) → b(7) → d(7); a → c(2); e(30)
const table = tableOf({
  id: [0, 1, 2, 3, 4],
  parent: [null, 0, 1, 0, null],
  value: [10, 7, 7, 2, 30],
});
const tree = treeOf(table);
const values = [10, 7, 7, 2, 30];

describe('trees', () => {
  it('come from parents', () => {
    expect(tree.roots).toEqual([0, 4]);
    expect(tree.children).toEqual([[1, 3], [2], [], [], []]);
    expect(tree.depth).toEqual([0, 1, 2, 1, 0]);
    expect(above(tree, 2)).toEqual([0, 1]);
    expect(subtreeSums(tree, [1, 2, 3, 4, 5])).toEqual([10, 5, 3, 4, 5]);
  });

  it('have no circles, whatever the table says', () => {
    const odd = treeOf(tableOf({ id: [0, 1, 2], parent: [1, 0, 2] }));
    expect(odd.roots).toEqual([0, 2]);
    expect(odd.children).toEqual([[1], [], []]);
  });

  it('unfold row by row, in the order asked for', () => {
    const descending = (rows: number[]) => [...rows].sort((a, b) => values[b] - values[a]);
    const rows = (open: number[], passes: ((row: number) => boolean) | null = null) =>
      unfold(tree, { open: new Set(open), sort: descending, passes }).map((one) => one.row);
    expect(rows([])).toEqual([4, 0]);
    expect(rows([0])).toEqual([4, 0, 1, 3]);
    expect(rows([0, 1])).toEqual([4, 0, 1, 2, 3]);
    // A search shows what leads to a row, open.
    expect(rows([], (row) => row === 2)).toEqual([0, 1, 2]);
    expect(rows([], () => false)).toEqual([]);
  });

  it('are laid out widest first, children within their parent', () => {
    const blocks = layOut(tree, values, null);
    const place = (row: number) => {
      const { level, from, to } = blocks.find((block) => block.row === row) ?? { level: -1, from: 0, to: 0 };
      return [level, Math.round(from * 40), Math.round(to * 40)];
    };
    expect([0, 1, 2, 3, 4].map(place)).toEqual([
      [0, 30, 40],
      [1, 30, 37],
      [2, 30, 37],
      [1, 37, 39],
      [0, 0, 30],
    ]);
  });

  it('give all the width to what is zoomed to and what is above it', () => {
    const blocks = layOut(tree, values, 1);
    expect(blocks).toEqual([
      { row: 0, level: 0, from: 0, to: 1 },
      { row: 1, level: 1, from: 0, to: 1 },
      { row: 2, level: 2, from: 0, to: 1 },
    ]);
  });

  it('keep children that come to more than their parent inside it', () => {
    const blocks = layOut(tree, [10, 8, 0, 12, 0], null);
    const inner = blocks.filter((block) => block.level === 1);
    expect(inner.map((block) => block.row)).toEqual([3, 1]);
    expect(Math.max(...inner.map((block) => block.to))).toBeCloseTo(1, 12);
  });
});

describe('a picture of very deep stacks', () => {
  const chain = (levels: number) => Array.from({ length: levels }, (_, row) => ({ row, level: row, from: 0, to: 1 }));

  it('is whole as far as a canvas holds it', () => {
    const blocks = chain(MOST_LEVELS);
    expect(withinReach(blocks, null)).toEqual({ blocks, left: 0 });
  });

  it('begins a little above what is zoomed to, and tells of the rest', () => {
    const blocks = chain(MOST_LEVELS + 1300);
    const top = withinReach(blocks, null);
    expect([top.blocks.length, top.blocks[0].row, top.left]).toEqual([MOST_LEVELS, 0, 1300]);
    const deep = withinReach(blocks, 1500);
    expect(deep.blocks[0]).toMatchObject({ row: 1480, level: 0 });
    expect(deep.blocks.find((block) => block.row === 1500)?.level).toBe(20);
  });
});
