import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hiddenColumns, hiddenOfView, hideColumn, showAllColumns, shownColumns } from '../src/model/columns';
import { allRows, dropColumns, toCsv, toJson } from '../src/model/tables';
import { tableOf } from './helpers';

const COLUMNS = [{ key: 'name' }, { key: 'calls' }, { key: 'total', of: ['total_us', 'share_pct'] }];
const keys = (list: { key: string }[]) => list.map((one) => one.key);

describe('columns of a table', () => {
  beforeEach(() => {
    for (const table of ['kernels', 'gaps']) showAllColumns(table);
    localStorage.clear();
  });
  afterEach(() => vi.restoreAllMocks());

  it('are all shown until some are hidden, and again when that is taken back', () => {
    expect(shownColumns('kernels', COLUMNS)).toEqual(COLUMNS);
    hideColumn('kernels', 'calls', true);
    hideColumn('kernels', 'total', true);
    hideColumn('kernels', 'calls', true);
    expect(hiddenColumns('kernels')).toEqual(['total', 'calls']);
    expect(keys(shownColumns('kernels', COLUMNS))).toEqual(['name']);
    hideColumn('kernels', 'total', false);
    expect(keys(shownColumns('kernels', COLUMNS))).toEqual(['name', 'total']);
    showAllColumns('kernels');
    expect(shownColumns('kernels', COLUMNS)).toEqual(COLUMNS);
  });

  it('may be extra: hidden until somebody asks for them, and in exports all the same', () => {
    const columns = [...COLUMNS, { key: 'copies', extra: true }];
    expect(keys(shownColumns('kernels', columns))).toEqual(['name', 'calls', 'total']);
    expect(hiddenOfView('kernels', columns)).toEqual([]);
    hideColumn('kernels', 'copies', false);
    expect(localStorage.getItem('kinetoscope.columns.kernels')).toBe('+copies');
    expect(shownColumns('kernels', columns)).toEqual(columns);
    hideColumn('kernels', 'copies', true);
    expect(hiddenColumns('kernels')).toEqual(['copies']);
    expect(hiddenOfView('kernels', columns)).toEqual(['copies']);
    showAllColumns('kernels', columns);
    expect(shownColumns('kernels', columns)).toEqual(columns);
  });

  it('are hidden table by table, and never where there is nothing to choose', () => {
    hideColumn('kernels', 'calls', true);
    expect(shownColumns('gaps', COLUMNS)).toEqual(COLUMNS);
    expect(shownColumns(undefined, COLUMNS)).toEqual(COLUMNS);
  });

  it('keep the first one, whatever was hidden in another grouping', () => {
    hideColumn('kernels', 'name', true);
    expect(shownColumns('kernels', COLUMNS)).toEqual(COLUMNS);
  });

  it('are remembered by the browser', async () => {
    hideColumn('kernels', 'calls', true);
    expect(localStorage.getItem('kinetoscope.columns.kernels')).toBe('calls');
    vi.resetModules();
    const again = await import('../src/model/columns');
    expect(keys(again.shownColumns('kernels', COLUMNS))).toEqual(['name', 'total']);
  });

  it('are hidden for the visit where the browser refuses to remember', () => {
    const refuse = () => {
      throw new DOMException('refused', 'SecurityError');
    };
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(refuse);
    vi.spyOn(Storage.prototype, 'getItem').mockImplementation(refuse);
    expect(hiddenColumns('never seen')).toEqual([]);
    hideColumn('kernels', 'calls', true);
    expect(keys(shownColumns('kernels', COLUMNS))).toEqual(['name', 'total']);
  });
});

describe('an export', () => {
  const table = tableOf({ name: ['a'], calls: [3], total_us: [1.5], share_pct: [100], longest_id: [7] });
  beforeEach(() => showAllColumns('kernels'));

  it('has all of the view where nothing is hidden', () => {
    expect(hiddenOfView('kernels', COLUMNS)).toEqual([]);
    expect(dropColumns(table, [])).toBe(table);
  });

  it('leaves out what is hidden', () => {
    hideColumn('kernels', 'total', true);
    const hidden = hiddenOfView('kernels', COLUMNS);
    expect(hidden).toEqual(['total_us', 'share_pct']);
    const left = dropColumns(table, hidden);
    expect(toCsv(left, allRows(left))).toBe('name,calls,longest_id\r\na,3,7\r\n');
    expect(JSON.parse(toJson(left, [0])).rows).toEqual([{ name: 'a', calls: 3, longest_id: 7 }]);
    expect(JSON.parse(toJson(left, [0])).columns).toHaveLength(3);
  });

  it('keeps what another column that is shown is made of', () => {
    hideColumn('kernels', 'total', true);
    expect(hiddenOfView('kernels', [...COLUMNS, { key: 'share_pct' }])).toEqual(['total_us']);
  });
});
