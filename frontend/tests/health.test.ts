import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { badgeOf, hasEvents, readChecks, tally } from '../src/model/health';
import { callParameters, fittingCalls } from '../src/model/kernels';
import { followFixes } from '../src/model/session';
import type { Source } from '../src/model/source';
import * as state from '../src/model/state';
import type { Info, Session, Table } from '../src/model/wire';
import { readEvents } from '../src/timeline/evidence';
import { followMarked, marked, markedIndex, nextMarked } from '../src/timeline/marked';
import { tableOf } from './helpers';

const CHECKS = tableOf({
  check: ['impossible durations', 'stacks', 'file'],
  severity: ['error', 'info', 'ok'],
  count: [2, 42330, 0],
  share_pct: [97.5, null, null],
  detail: ['2 works …', '42,330 frames …', 'The file is whole.'],
  hint: ['Switch on the repair.', '', ''],
  events: [2, 0, 0],
});

describe('checks', () => {
  it('are read as they come, and show events only where there are some', () => {
    const checks = readChecks(CHECKS);
    expect(checks[0]).toMatchObject({ severity: 'error', count: 2, share: 97.5, hint: 'Switch on the repair.' });
    expect(checks.map(hasEvents)).toEqual([true, false, false]);
  });

  it('are counted in words, the worst first', () => {
    expect(tally({ ok: 18, info: 1, warning: 2, error: 1 })).toBe('1 error, 2 warnings, 1 note');
    expect(tally({ ok: 18 })).toBe('');
  });

  it('put a badge on the overview when something is wrong', () => {
    const counts = { ok: 1, info: 3, warning: 0, error: 0 };
    expect(badgeOf({ worst: 'info', counts })).toBeNull();
    const badge = badgeOf({ worst: 'error', counts: { ...counts, warning: 2, error: 1 } });
    expect(badge).toEqual({ count: 3, severity: 'error', told: 'Health: 1 error, 2 warnings' });
  });
});

const EVENTS = tableOf({
  id: [7, 8, 9],
  name: ['a', 'b', 'c'],
  kind: ['kernel', 'kernel', 'kernel'],
  start_us: [1, null, 30.5],
  duration_us: [2, null, -4],
  step: [null, null, 1],
});

function sourceOf(parts: Partial<Source>): Source {
  return parts as Source;
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(200);
}

beforeEach(() => {
  vi.useFakeTimers();
  state.trace.value;
  state.runs.value = {
    state: 'ready',
    logdir: '/',
    folders: 1,
    generation: 1,
    problems: [],
    error: null,
    runs: [
      {
        name: 'a',
        ranks: [{ rank: 0, label: '0', worker: 'w', spans: [{ span: '1', trace: 't', file: 'f', bytes: 1 }] }],
      },
    ],
  };
  state.choose({});
  state.eventQuery.value = '';
  state.notices.value = [];
  state.session.value = null;
});

afterEach(() => {
  vi.useRealTimers();
});

describe('events behind a check', () => {
  it('are gone to where they have a time, and count all the same', () => {
    const list = readEvents(EVENTS, 'negative durations');
    expect([list.total, list.id, list.start, list.length]).toEqual([3, [7, 9], [1000, 30_500], [2000, 0]]);
    expect(list.bright).toBeNull();
  });

  it('are shown from the first on, and gone through in a circle', async () => {
    const view = vi.fn(async (): Promise<Table> => EVENTS);
    const stop = followMarked(sourceOf({ view }));
    state.showCheck('negative durations');
    await settle();
    expect(view).toHaveBeenCalledExactlyOnceWith(
      { trace: 't', fix: null },
      'health_events',
      { check: 'negative durations' },
      expect.anything(),
    );
    expect([state.page.value, markedIndex.value]).toEqual(['timeline', 0]);
    expect(state.selection.value).toEqual({ kind: 'event', id: 7 });
    expect(state.viewport.value?.t1).toBeGreaterThan(3000);
    expect([nextMarked(1, 0)?.id, nextMarked(1, 0)?.id, nextMarked(-1, 0)?.id]).toEqual([9, 7, 9]);
    stop();
  });

  it('leave the picture where the address has put it', async () => {
    const stop = followMarked(sourceOf({ view: async () => EVENTS }));
    state.viewport.value = { t0: 5, t1: 900 };
    state.selection.value = { kind: 'event', id: 9 };
    state.evidence.value = 'negative durations';
    await settle();
    expect([markedIndex.value, state.viewport.value]).toEqual([1, { t0: 5, t1: 900 }]);
    stop();
  });

  it('give way to a search', async () => {
    const hits = { id: [1], name: [0], start_ns: [5], duration_ns: [6], row: [0] };
    const search = async () => ({ total: 1, names: [0], hits });
    const stop = followMarked(sourceOf({ view: async () => EVENTS, search }));
    state.showCheck('negative durations');
    await settle();
    state.findEvents('gemm');
    await settle();
    expect(state.evidence.value).toBeNull();
    expect(marked.value).toMatchObject({ of: 'search', title: 'gemm', id: [1] });
    expect(marked.value?.bright?.has(0)).toBe(true);
    stop();
  });
});

function infoOf(applied: boolean): Info {
  const step = { step: 4, name: 'ProfilerStep#4', host_start_ns: 0, host_end_ns: 1, incomplete: false };
  const end_ns = applied ? 100 : 3000;
  return {
    end_ns,
    steps: [{ ...step, start_ns: 0, end_ns }],
    fixes: [{ fix: 'durations', events: 1, applied }],
  } as unknown as Info;
}

describe('fixes', () => {
  const ready = () => {
    state.session.value = { state: 'ready', info: infoOf(false) } as Session;
  };

  it('ask for the info of the fixed trace, and show the raw one until it comes', async () => {
    const info = vi.fn(async () => infoOf(true));
    const stop = followFixes(sourceOf({ info }));
    ready();
    state.filterStep({ step: 4, start_ns: 0, end_ns: 3000 });
    state.setFix('durations', true);
    expect(state.subject.value).toEqual({ trace: 't', fix: 'durations' });
    expect(state.info.value?.end_ns).toBe(3000);
    await settle();
    expect(state.info.value?.end_ns).toBe(100);
    expect(state.filter.value).toEqual({ step: 4, t0: 0, t1: 100 });
    state.setFix('durations', false);
    await settle();
    expect([state.info.value?.end_ns, state.filter.value?.t1, state.subject.value?.fix]).toEqual([3000, 3000, null]);
    expect(info).toHaveBeenCalledOnce();
    stop();
  });

  it('are dropped where they would change nothing, and where they fail', async () => {
    const info = vi.fn(async () => Promise.reject(new Error('no')));
    const stop = followFixes(sourceOf({ info }));
    state.fixes.value = ['clock'];
    ready();
    expect(state.fixes.value).toEqual([]);
    expect(info).not.toHaveBeenCalled();
    state.setFix('durations', true);
    await settle();
    expect(state.fixes.value).toEqual([]);
    expect(state.notices.value).toHaveLength(2);
    stop();
  });
});

describe('calls of a row', () => {
  it('are asked for by all keys, an empty value where the row has none', () => {
    const key = { name: 'k', grid: '1, 1, 1', registers: null, op: null, block: '' };
    const rest = { grid: '1, 1, 1', registers: '', op: '' };
    expect(callParameters(key, 'config', null)).toEqual({ name: 'k', ...rest });
    expect(callParameters(key, 'config', 7)).toEqual({ like: 7, ...rest });
  });

  it('are asked for by a call where the name is long, and sieved where the op is', () => {
    const op = 'o'.repeat(3000);
    expect(callParameters({ name: 'k'.repeat(3000), op }, 'name,op', 7)).toEqual({ like: 7 });
    expect(callParameters({ op: 'mm' }, 'op', 7)).toEqual({ op: 'mm' });
    const calls = tableOf({ id: [1, 2, 3], op: [op, 'other', op] });
    expect(fittingCalls({ op }, calls).data.id).toEqual([1, 3]);
    expect(fittingCalls({ op: 'other' }, calls)).toBe(calls);
  });
});
