import { describe, expect, it } from 'vitest';
import { matcher, matchesOf } from '../src/model/stack_matches';
import {
  type Answer,
  flameOfAnswer,
  gather,
  pictureOf,
  rowKeys,
  rowOfZoom,
  zoomOf,
  zoomQuestion,
  zoomToSee,
} from '../src/model/stack_zoom';
import { chosenRow, type Flame } from '../src/model/stacks';
import type { FlameZoom } from '../src/model/state';
import { layOut } from '../src/model/tree';
import { tableOf } from './helpers';

type Row = [parent: number | null, node: number | null, name: string | null, self: number, nodes?: number];

/** Stacks of device work from `[parent row, node, name, own µs]`, as the library answers them. */
function answerOf(rows: Row[], asked = {}): Answer {
  const total = rows.map(([, , , self]) => self);
  for (let row = rows.length - 1; row >= 0; row--) {
    const above = rows[row][0];
    if (above !== null) total[above] += total[row];
  }
  const table = tableOf({
    id: rows.map((_, row) => row),
    parent: rows.map(([parent]) => parent),
    node: rows.map(([, node]) => node),
    name: rows.map(([, , name]) => name),
    nodes: rows.map(([, , , , nodes]) => nodes ?? 1),
    device_self_us: rows.map(([, , , self]) => self),
    device_total_us: total,
  });
  return { asked: { form: 'top_down', weight: 'device', min_share_pct: 10, ...asked }, table };
}

// 1000 µs. main: 600 in step (big 500, 60 in three small ones, own 40), 90 too small for a row; 300 without a stack, 10 too small at the top.
const WHOLE = answerOf([
  [null, 0, 'main', 0],
  [0, 1, 'step', 40],
  [1, 2, 'big', 500],
  [1, 1, '(smaller)', 60, 3],
  [0, 0, '(smaller)', 90, 4],
  [null, null, '(smaller)', 10, 2],
  [null, null, null, 300],
]);

// The same, asked for step alone: what is below 10 % of its 600 µs.
const STEP = answerOf([
  [null, 0, 'main', 0],
  [0, 1, 'step', 40],
  [1, 2, 'big', 500],
  [1, 3, 'a', 35],
  [1, 4, 'b', 20],
  [1, 1, '(smaller)', 5, 1],
  [0, 0, '(smaller)', 90, 4],
  [null, null, '(smaller)', 10, 2],
  [null, null, null, 300],
]);

const whole = flameOfAnswer(WHOLE, null);
const into = (node: number | null, under: number | null = null): FlameZoom => ({ node, under });
const names = (flame: Flame, rows: number[]) => rows.map((row) => flame.names[row]);

describe('zooming into stacks', () => {
  it('asks for the node alone, and finer for what is too small', () => {
    const asked = { form: 'top_down', min_share_pct: 0.5 };
    expect(zoomQuestion(asked, into(7))).toEqual({ form: 'top_down', root: 7, min_share_pct: 0.5 });
    expect(zoomQuestion(asked, into(7, 4))).toEqual({ form: 'top_down', root: 7, min_share_pct: 0.1 });
    expect(zoomQuestion(asked, into(null, 0.5)).root).toBeNull();
  });

  it('leads to a frame by its node, and to small ones by what they are smaller than', () => {
    expect(whole.least).toBe(100_000);
    expect(zoomOf(whole, 1)).toEqual(into(1));
    // 100 µs are a sixth of step, a seventh of main, and a tenth of all.
    expect(zoomOf(whole, 3)?.node).toBe(1);
    expect(zoomOf(whole, 3)?.under).toBeCloseTo(100 / 6, 6);
    expect(zoomOf(whole, 4)?.under).toBeCloseTo(100 / 6.9, 6);
    expect(zoomOf(whole, 5)).toEqual(into(null, 10));
    expect(zoomOf(whole, 6)).toBeNull();
  });

  it('finds its row again, in finer stacks too', () => {
    const fine = flameOfAnswer(STEP, into(1));
    expect(fine.least).toBe(60_000);
    expect([whole, fine].map((flame) => rowOfZoom(flame, into(1)))).toEqual([1, 1]);
    expect(rowOfZoom(whole, into(99))).toBeNull();
    expect(rowOfZoom(whole, zoomOf(whole, 3) as FlameZoom)).toBe(3);
    const keys = [rowKeys(whole), rowKeys(fine)];
    expect(keys[0](4)).toBe(keys[1](6));
    expect(keys[0](3)).not.toBe(keys[0](1));
  });

  it('gathers what is too small in a row that has all of it', () => {
    const zoom = zoomOf(whole, 3) as FlameZoom;
    const fine = flameOfAnswer(STEP, zoom);
    const row = rowOfZoom(fine, zoom) as number;
    expect(fine.group?.row).toBe(row);
    // As much as in the picture before, and the rest is as it was.
    expect(fine.values[row]).toBe(whole.values[3]);
    expect(fine.whole).toBe(whole.whole);
    expect(names(fine, fine.tree.children[row])).toEqual(['a', 'b', '(smaller)']);
    expect(names(fine, fine.tree.children[fine.tree.parent[row]])).toEqual(['(smaller)', 'big']);
    expect(zoomOf(fine, row)).toEqual(zoom);
    const drawn = layOut(fine.tree, fine.values, row).filter((block) => block.level > 2);
    expect(
      names(
        fine,
        drawn.map((block) => block.row),
      ),
    ).toEqual(['a', 'b', '(smaller)']);
    expect(drawn[drawn.length - 1].to).toBeCloseTo(1, 12);
  });

  it('gathers at the top what is no frame of any, without what has no stack', () => {
    const group = gather(WHOLE.table, 'device', into(null, 10));
    const flame = flameOfAnswer(WHOLE, into(null, 10));
    expect(group?.row).toBe(0);
    expect(names(flame, flame.tree.children[0])).toEqual(['(smaller)']);
    expect(flame.values[0]).toBe(10_000);
    expect(gather(WHOLE.table, 'device', into(99, 10))).toBeNull();
    expect(gather(WHOLE.table, 'device', into(2, 10))).toBeNull();
  });

  it('goes on into what is still too small', () => {
    const zoom = zoomOf(whole, 3) as FlameZoom;
    const fine = flameOfAnswer({ ...STEP, asked: zoomQuestion(STEP.asked, zoom) }, zoom);
    const inner = fine.tree.children[fine.group?.row ?? -1].at(-1) as number;
    expect(fine.names[inner]).toBe('(smaller)');
    const next = zoomOf(fine, inner) as FlameZoom;
    expect(next.node).toBe(1);
    expect(next.under).toBeCloseTo((zoom.under as number) / 40, 6);
    // Until the answer is there, the sum is what is known of it.
    expect(rowOfZoom(fine, next)).toBe(inner);
  });
});

describe('the picture', () => {
  const fine = flameOfAnswer(STEP, into(1));
  const first = pictureOf({ base: 'q', zoom: null, whole, fine: null, before: null });

  it('keeps what is known until the answer is there', () => {
    const coarse = pictureOf({ base: 'q', zoom: into(1), whole, fine: null, before: first });
    expect([coarse?.flame, coarse?.row]).toEqual([whole, 1]);
    const refined = pictureOf({ base: 'q', zoom: into(1), whole, fine, before: coarse });
    expect([refined?.flame, refined?.row]).toEqual([fine, 1]);
    // Deeper: what was asked for step alone knows more of it than the whole.
    const deeper = pictureOf({ base: 'q', zoom: into(3), whole, fine: null, before: refined });
    expect([deeper?.flame, deeper?.row]).toEqual([fine, 3]);
    // Back up: of main the answer for step knows sums only.
    const up = pictureOf({ base: 'q', zoom: into(0), whole, fine: null, before: deeper });
    expect([up?.flame, up?.row]).toEqual([whole, 0]);
    const out = pictureOf({ base: 'q', zoom: null, whole, fine: null, before: up });
    expect([out?.flame, out?.row]).toEqual([whole, null]);
  });

  it('stays as it was where nothing is known of what is asked', () => {
    const other = pictureOf({ base: 'other', zoom: into(1), whole: null, fine: null, before: first });
    expect(other).toBe(first);
    expect(pictureOf({ base: 'q', zoom: into(77), whole, fine: null, before: first })).toBe(first);
  });

  it('stays fine while another search is asked for the same place', () => {
    const refined = pictureOf({ base: 'q', zoom: into(1), whole, fine, before: first });
    expect(pictureOf({ base: 'other', zoom: into(1), whole, fine: null, before: refined })).toBe(refined);
    const coarse = pictureOf({ base: 'other', zoom: into(0), whole, fine: null, before: refined });
    expect([coarse?.flame, coarse?.row]).toEqual([whole, 0]);
  });

  it('is all of it where there is no such node', () => {
    const none = pictureOf({ base: 'q', zoom: into(77), whole, fine: whole, before: null });
    expect([none?.flame, none?.row, none?.zoom]).toEqual([whole, null, null]);
  });

  it('does not jump when it gets finer: what is too small comes last', () => {
    const edge = (flame: Flame, name: string) => {
      const rank = (row: number) => Number(flame.small.has(row));
      const block = layOut(flame.tree, flame.values, 1, rank).find(({ row }) => flame.names[row] === name);
      return block && [block.from, block.to].map((at) => at.toFixed(9));
    };
    expect(edge(fine, 'big')).toEqual(edge(whole, 'big'));
  });
});

describe('a search in stacks', () => {
  const flame = flameOfAnswer(
    answerOf([
      [null, 0, 'a.py(1): linear', 10],
      [0, 1, 'b.py(2): Linear', 20],
      [0, 2, 'c.py(3): other', 30],
      [0, 0, '(smaller)', 5, 2],
      [null, 3, 'd.py(4): linear_too', 35],
      [null, null, null, 100],
    ]),
    null,
  );

  it('counts what is found within something found once', () => {
    const found = matchesOf(flame, 'linear');
    expect(found?.rows).toEqual([0, 1, 4]);
    expect(found?.value).toBe(100_000);
    expect(matchesOf(flame, 'linear -too')?.value).toBe(65_000);
    expect(matchesOf(flame, 'linear -a.py')?.value).toBe(55_000);
    expect(matchesOf(flame, 'nowhere')).toEqual({ rows: [], value: 0, all: null });
    expect(matchesOf(flame, ' ')).toBeNull();
  });

  it('finds frames only, no sums', () => {
    expect(matchesOf(flame, 'smaller')?.rows).toEqual([]);
    expect(matchesOf(flame, '-linear')?.rows).toEqual([2]);
    expect(matcher(flame, 'other')?.(2)).toBe(true);
  });

  it('knows when there are more than are shown', () => {
    const cut = { ...flame, table: { ...flame.table, notes: ['2,841 frames fit; the largest 1,000 are shown.'] } };
    expect(matchesOf(cut, 'linear')?.all).toBe(2841);
  });

  it('zooms as little as it takes to see what was found', () => {
    // big has half of the width: it is seen as it is
    expect(zoomToSee(whole, 2, null, 1000)).toBeNull();
    const fine = flameOfAnswer(STEP, null);
    const seen = (now: FlameZoom | null, px: number) => zoomToSee(fine, 4, now, px);
    // b has 20 of 1000 µs: 26 px of 1300
    expect(seen(null, 1300)).toBeNull();
    // 20 px of 1000 are too few: in step, which has 600, there are 33
    expect(seen(null, 1000)).toEqual(into(1));
    expect(seen(into(1), 1000)).toEqual(into(1));
    // From elsewhere: 44 px in all of it, 63 in main
    expect(seen(into(2), 2200)).toEqual(into(0));
    // Not even its caller is narrow enough
    expect(seen(null, 100)).toEqual(into(4));
  });
});

describe('what is told about', () => {
  it('is the frame at its place, and nothing else of that number', () => {
    const at = (name: string | null, node?: number) => chosenRow(WHOLE.table, { kind: 'frame', name, node });
    expect([at('big', 2), at('big'), at('step', 2), at('big', 9), at(null)]).toEqual([2, 2, null, null, 6]);
    expect(chosenRow(WHOLE.table, { kind: 'event', id: 2 })).toBeNull();
  });
});
