import { beforeEach, describe, expect, it } from 'vitest';
import * as state from '../src/model/state';
import type { Runs } from '../src/model/wire';
import { parseQuery } from '../src/timeline/search';

const runs: Runs = {
  state: 'ready',
  logdir: '/logs',
  folders: 1,
  generation: 1,
  problems: [],
  error: null,
  runs: ['a', 'b'].map((name) => ({
    name,
    ranks: ['0', '1'].map((label) => ({
      rank: Number(label),
      label,
      worker: 'w',
      spans: ['1', '2'].map((span) => ({ span, trace: `${name}${label}${span}`, file: 'f', bytes: 1 })),
    })),
  })),
};

beforeEach(() => {
  state.runs.value = runs;
  state.run.value = null;
  state.rank.value = null;
  state.span.value = null;
  state.selection.value = null;
  state.filter.value = null;
  state.viewport.value = null;
  state.page.value = 'overview';
});

describe('the choice of a trace', () => {
  it('is the first by default, and falls back to it', () => {
    expect(state.trace.value).toBe('a01');
    state.run.value = 'gone';
    expect(state.trace.value).toBe('a01');
  });

  it('keeps run and rank while only the span changes', () => {
    state.choose({ run: 'b', rank: '1' });
    state.choose({ span: '2' });
    expect(state.trace.value).toBe('b12');
    state.choose({ rank: '0' });
    expect(state.trace.value).toBe('b01');
  });

  it('forgets times and ids of the trace before', () => {
    state.filter.value = { t0: 1, t1: 2, step: null };
    state.viewport.value = { t0: 1, t1: 2 };
    state.selection.value = { kind: 'event', id: 5 };
    state.fixes.value = ['clock'];
    state.evidence.value = 'clock errors';
    state.choose({ rank: '1' });
    expect([state.fixes.value, state.evidence.value]).toEqual([[], null]);
    expect([state.filter.value, state.viewport.value, state.selection.value]).toEqual([null, null, null]);
  });
});

describe('actions', () => {
  it('open the timeline on a window that holds the gap, with room', () => {
    state.showInTimeline(1000_000, 10_000, { kind: 'gap', gap: 3 });
    expect(state.page.value).toBe('timeline');
    expect(state.viewport.value?.t0).toBeLessThan(1000_000);
    expect(state.viewport.value?.t1).toBeGreaterThan(1010_000);
    expect(state.selection.value).toEqual({ kind: 'gap', gap: 3 });
  });

  it('filter by a step, and not when it is picked again', () => {
    const step = { step: 4, start_ns: 1500, end_ns: 2500 };
    state.filterStep(step);
    expect(state.filterParameters(state.filter.value)).toEqual({ step: 4 });
    state.filterStep(step);
    expect(state.filter.value).toBeNull();
    expect(state.filterParameters(null)).toEqual({});
    const times = { t0: 1500, t1: 2500, step: null };
    expect(state.filterParameters(times)).toEqual({ start_us: '1.500', end_us: '2.500' });
  });

  it('keep an event in the drawer between pages, not a kernel', () => {
    state.selection.value = { kind: 'event', id: 1 };
    state.go('kernels');
    expect(state.selection.value).not.toBeNull();
    state.selection.value = { kind: 'kernel', by: 'name', key: { name: 'x' }, like: null };
    state.go('idle');
    expect(state.selection.value).toBeNull();
  });
});

describe('search', () => {
  it('takes quoted text as whole names', () => {
    expect(parseQuery(' gemm ')).toEqual({ text: 'gemm', exact: false });
    expect(parseQuery('"aten::add"')).toEqual({ text: 'aten::add', exact: true });
  });
});
