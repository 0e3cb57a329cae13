import { describe, expect, it } from 'vitest';
import { frameName, queryOf } from '../src/model/stack_events';
import { eventAt, eventOf } from '../src/model/stacks';
import type { SearchResult } from '../src/model/wire';
import { within } from '../src/timeline/search';
import { tableOf } from './helpers';

describe('the event of a place', () => {
  it('is the longest call that the table names', () => {
    const table = tableOf({ name: ['t.py', 'f', 'g', null], longest_id: [7, 3, null, null] });
    expect(eventAt(table, 1)).toBe(3);
    expect(eventOf(table, 'f')).toBe(3);
    expect(eventOf(table, 'g')).toBeNull();
    expect(eventOf(table, 'h')).toBeNull();
  });

  it('is searched for by its whole name', () => {
    expect(queryOf('t.py(9): step', 't.py(9): step')).toBe('"t.py(9): step"');
  });

  it('is found without the address that its frame has lost', () => {
    const name = '<built-in method to of Tensor object>';
    const event = '<built-in method to of Tensor object at 0x7f00>';
    expect(frameName(event)).toBe(name);
    expect(queryOf(name, event)).toBe('<built-in method to of Tensor object');
  });

  it('of a file is one of its frames; of a stack written on an operator, the operator', () => {
    expect(queryOf('/a/t.py', '/a/t.py(9): step')).toBe('/a/t.py(');
    expect(queryOf('t.py(9): step', 'aten::mm')).toBe('"aten::mm"');
  });
});

describe('a search in a part of the time', () => {
  const found: SearchResult = {
    total: 5000,
    names: [1],
    hits: { id: [1, 2, 3], name: [1, 1, 1], start_ns: [10, 20, 30], duration_ns: [1, 1, 1], row: [0, 0, 0] },
  };

  it('has what starts in it', () => {
    expect(within(found, { t0: 15, t1: 30 })).toMatchObject({ total: 1, hits: { id: [2] } });
    expect(within(found, null)).toBe(found);
  });
});
