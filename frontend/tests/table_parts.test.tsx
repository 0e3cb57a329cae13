/** Tables as people use them by keyboard: choosing columns, walking a tree. */
import { type ComponentChild, render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { showAllColumns } from '../src/model/columns';
import { within } from '../src/model/state';
import type { VisibleRow } from '../src/model/tree';
import { Copyable } from '../src/views/parts/bits';
import { Grid } from '../src/views/parts/grid';
import { TableNotes } from '../src/views/parts/notes';
import { fitting, type GridColumn } from '../src/views/parts/sheet';
import { TreeTable } from '../src/views/parts/tree_table';

const COLUMNS: GridColumn[] = [
  { key: 'name', title: 'Kernel', width: 'auto', cell: (row) => `k${row}` },
  { key: 'calls', title: 'Calls', width: '76px', number: true, cell: (row) => row },
  { key: 'total_us', title: 'Total, ms', width: '92px', number: true, cell: (row) => 10 * row },
];

let root: HTMLElement;

async function show(what: ComponentChild): Promise<void> {
  await act(() => render(what, root));
}

const find = <E extends HTMLElement>(selector: string) => {
  const found = root.querySelector<E>(selector);
  if (!found) throw new Error(`no ${selector}`);
  return found;
};
const titles = () => [...root.querySelectorAll('thead th')].map((one) => one.textContent);
const press = (key: string, on: Element | null = document.activeElement) =>
  act(() => void on?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })));
const click = (selector: string) => act(() => find(selector).click());
const focused = () => (document.activeElement as HTMLElement).dataset;

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
  showAllColumns('kernels');
});
afterEach(() => {
  render(null, root);
  root.remove();
});

describe('the choice of columns', () => {
  const grid = () => show(<Grid label="Kernels" name="kernels" columns={COLUMNS} order={[1, 2]} />);

  it('hides and shows columns by arrows and boxes, without the units in their titles', async () => {
    await grid();
    await click('[data-testid=columns]');
    const list = find('[data-testid=column-list]');
    expect([...list.querySelectorAll('label')].map((one) => one.textContent)).toEqual(['Kernel', 'Calls', 'Total']);
    expect(focused().column).toBe('calls');
    await press('ArrowDown');
    expect(focused().column).toBe('total_us');
    await act(() => (document.activeElement as HTMLInputElement).click());
    expect(titles()).toEqual(['Kernel', 'Calls']);
    expect([...root.querySelectorAll('tbody tr')].map((row) => row.children.length)).toEqual([2, 2]);
    expect(find('[data-testid=columns]').title).toBe('Columns: 1 hidden');
    await press('End');
    expect(focused().testid).toBe('columns-reset');
    await click('[data-testid=columns-reset]');
    expect(titles()).toEqual(['Kernel', 'Calls', 'Total, ms']);
    expect(focused().column).toBe('calls');
  });

  it('never hides the column that says what a row is', async () => {
    await grid();
    await click('[data-testid=columns]');
    expect(find<HTMLInputElement>('[data-column=name]').disabled).toBe(true);
  });

  it('closes by Escape, which gives the keys back, and by a press outside', async () => {
    await grid();
    await click('[data-testid=columns]');
    await press('Escape');
    expect(root.querySelector('[data-testid=column-list]')).toBeNull();
    expect(focused().testid).toBe('columns');
    await click('[data-testid=columns]');
    await act(() => void document.body.dispatchEvent(new Event('pointerdown', { bubbles: true })));
    expect(root.querySelector('[data-testid=column-list]')).toBeNull();
  });

  it('is not offered by tables of a drawer', async () => {
    await show(<Grid label="Calls" columns={COLUMNS} order={[1]} />);
    expect(root.querySelector('[data-testid=columns]')).toBeNull();
  });
});

describe('a tree of any rows', () => {
  type Node = { title: string };
  const row = (title: string, of: Partial<VisibleRow<Node>>): VisibleRow<Node> => ({
    row: { title },
    id: title,
    depth: 0,
    open: false,
    unfolds: false,
    place: 1,
    siblings: 1,
    ...of,
  });
  const ROWS = [row('a', { open: true, unfolds: true, siblings: 2 }), row('b', { depth: 1 }), row('c', { place: 2 })];
  const did: unknown[] = [];
  const tree = () =>
    show(
      <TreeTable
        label="Tree"
        name="kernels"
        enter="chooses"
        rows={ROWS}
        columns={[{ key: 'name', title: 'Name', width: 'auto', cell: (node: Node) => node.title }]}
        sort={{ column: 'name', descending: false }}
        onSort={() => undefined}
        onTurn={(id, open) => did.push([id, open])}
        chosen="c"
        onChoose={(node) => did.push(node.title)}
        footer={() => null}
        rowAttributes={(node) => ({ 'data-title': node.title })}
        empty="Nothing."
      />,
    );
  const active = () =>
    document.getElementById(find('[role=treegrid]').getAttribute('aria-activedescendant') ?? '')?.dataset.title;

  it('says how its rows are nested', async () => {
    await tree();
    const told = [...root.querySelectorAll('tbody tr')].map((one) =>
      ['aria-level', 'aria-posinset', 'aria-setsize', 'aria-expanded', 'aria-selected'].map((name) =>
        one.getAttribute(name),
      ),
    );
    expect(told).toEqual([
      ['1', '1', '2', 'true', 'false'],
      ['2', '1', '1', null, 'false'],
      ['1', '2', '1', null, 'true'],
    ]);
    expect(find('[role=treegrid]').getAttribute('aria-label')).toBe('Tree: arrows move and unfold, Enter chooses');
    expect(find('[role=treegrid]').getAttribute('aria-rowcount')).toBe('4');
  });

  it('is walked, folded and chosen from by keys', async () => {
    await tree();
    did.length = 0;
    const box = find('[role=treegrid]');
    const steps = [
      ['ArrowDown', 'a'],
      ['ArrowRight', 'b'],
      ['ArrowLeft', 'a'],
      ['ArrowLeft', 'a'],
      ['End', 'c'],
      ['Enter', 'c'],
      ['Home', 'a'],
      [' ', 'a'],
    ];
    for (const [key, at] of steps) {
      await press(key, box);
      expect([key, active()]).toEqual([key, at]);
    }
    expect(did).toEqual([['a', false], 'c', 'a']);
  });
});

describe('notes', () => {
  const NOTE = 'Most work has no known launch. within=launch counts what was launched in this time.';

  it('offer a button for what the command line has an option for', async () => {
    within.value = 'start';
    await show(<TableNotes notes={[NOTE, 'No ops were recorded.']} />);
    expect([...root.querySelectorAll('p')].map((one) => one.textContent)).toEqual([
      'Most work has no known launch. Show what was launched in it',
      'No ops were recorded.',
    ]);
    await click('[data-testid=note-launched]');
    expect(within.value).toBe('launch');
  });
});

it('a name is copied by its button alone', async () => {
  const did: string[] = [];
  const columns = [
    { key: 'name', title: 'Kernel', width: 'auto', cell: () => <Copyable text="k">k</Copyable> },
  ] satisfies GridColumn[];
  await show(<Grid label="Kernels" columns={columns} order={[1]} onOpen={() => did.push('opened')} />);
  await click('.copy');
  expect(did).toEqual([]);
  await click('tbody tr');
  expect(did).toEqual(['opened']);
});

it('tables of few rows take no more room than they need', () => {
  expect([0, 5, 6].map(fitting)).toEqual(['grow few', 'grow few', 'grow fits']);
});
