import { beforeEach, describe, expect, it } from 'vitest';
import { canShow, isWebLink, readAdvice, showEvidence } from '../src/model/advice';
import { periodOf, readPath } from '../src/model/critical';
import { takeAddress } from '../src/model/location';
import * as state from '../src/model/state';
import { tableOf } from './helpers';

describe('advice', () => {
  beforeEach(() => takeAddress(''));

  it('reads gains in ns, and parameters that are broken as none', () => {
    const row = { title: ['T'], claim: ['C'], fix: [null], link: ['https://a.b'], evidence_view: ['syncs'] };
    const figures = { rule: ['r'], status: ['fine'], gain_us: [1.5], gain_pct: [null] };
    for (const [json, parameters] of [
      ['{"cause": "data loading", "n": 3}', { cause: 'data loading', n: '3' }],
      ['{', {}],
      ['null', {}],
    ] as const) {
      const [one] = readAdvice(tableOf({ ...figures, ...row, evidence_parameters: [json] }));
      expect(one).toMatchObject({ rule: 'r', gain: 1500, gainShare: null, fix: '' });
      expect(one.evidence).toEqual({ view: 'syncs', parameters });
    }
  });

  it('offers links to the web only', () => {
    expect(isWebLink('https://pytorch.org/docs')).toBe(true);
    for (const link of ['javascript:alert(1)', 'data:text/html,x', '', 'docs']) expect(isWebLink(link)).toBe(false);
  });

  it('opens the page that a finding rests on', () => {
    const show = (view: string, parameters: Record<string, string> = {}) => showEvidence({ view, parameters });
    show('idle_segments', { cause: 'data loading' });
    expect([state.page.value, state.idlePart.value]).toEqual(['idle', 'causes']);
    expect(state.idleKey.value).toEqual({ cause: 'data loading' });
    show('launches', { by: 'thread' });
    expect([state.idlePart.value, state.launchBy.value]).toEqual(['launches', 'thread']);
    show('api_calls', { kind: 'allocation' });
    expect([state.idlePart.value, state.heldBy.value]).toEqual(['blocking', 'allocation']);
    show('input_pipeline');
    expect(state.idlePart.value).toBe('input');
    show('idle', { by: 'source' });
    expect([state.idlePart.value, state.treeOrder.value]).toEqual(['causes', 'source']);
    show('kernel_calls', { op: 'aten::copy_' });
    expect(state.page.value).toBe('kernels');
    expect(state.selection.value).toEqual({ kind: 'kernel', by: 'op', key: { op: 'aten::copy_' }, like: null });
  });

  it('offers nothing for a view that is shown nowhere', () => {
    expect(canShow({ view: 'launches', parameters: {} })).toBe(true);
    expect(canShow({ view: 'constructor', parameters: {} })).toBe(false);
  });
});

describe('the critical path', () => {
  it('adds up to the step', () => {
    const table = tableOf({ kind: ['compute', 'host work'], side: ['device', 'host'], gain_us: [60.5, 39.5] });
    const rows = readPath(table);
    expect(periodOf(rows)).toBe(100_000);
    expect(rows[0]).toMatchObject({ kind: 'compute', gain: 60_500, longestId: null, name: '' });
  });
});
