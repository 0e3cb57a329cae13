import { beforeEach, describe, expect, it } from 'vitest';
import { isOurs, readAddress, writeAddress } from '../src/model/address';
import { parseRange, printAddress, takeAddress } from '../src/model/location';
import * as state from '../src/model/state';

describe('the hash', () => {
  it('gives back what was written, whatever the text', () => {
    const run = 'a&b=c/d %#ü';
    const hash = writeAddress('#kinetoscope', { run, view: 'timeline' });
    expect(readAddress(hash).get('run')).toBe(run);
    expect(hash.match(/&/g)).toHaveLength(2);
  });

  it('keeps what is not ours, in place', () => {
    const before = '#kinetoscope&tagFilter=x&p.kinetoscope.run=a&p.other.key=1&p.kinetoscope.future=2';
    expect(writeAddress(before, { run: 'b', step: null })).toBe(
      '#kinetoscope&tagFilter=x&p.kinetoscope.run=b&p.other.key=1&p.kinetoscope.future=2',
    );
  });

  it('takes keys out and puts the tab in', () => {
    expect(writeAddress('#kinetoscope&p.kinetoscope.run=a', { run: null })).toBe('#kinetoscope');
    expect(writeAddress('', { run: 'a' })).toBe('#kinetoscope&p.kinetoscope.run=a');
  });

  it('knows whose tab is shown', () => {
    expect(isOurs('')).toBe(true);
    expect(isOurs('#kinetoscope&p.kinetoscope.run=a')).toBe(true);
    expect(isOurs('#scalars&p.kinetoscope.run=a')).toBe(false);
  });

  it('survives broken percent signs', () => {
    expect(readAddress('#kinetoscope&p.kinetoscope.run=%zz').get('run')).toBe('%zz');
  });
});

describe('the state in the address', () => {
  beforeEach(() => {
    state.notices.value = [];
    takeAddress('');
  });

  it('holds what fills the picture of stacks, and whose', () => {
    const zooms = [
      { node: 12, under: null },
      { node: 12, under: 0.715352191 },
      { node: null, under: 0.5 },
      { node: 3, under: 2.5e-7 },
    ];
    for (const zoom of zooms) {
      state.flameZoom.value = zoom;
      const hash = printAddress('#kinetoscope');
      takeAddress('');
      expect(state.flameZoom.value).toBeNull();
      takeAddress(hash);
      expect(state.flameZoom.value).toEqual(zoom);
    }
    takeAddress('');
    state.flameThread.value = 'thread 7 (python) (1/7)';
    state.flameLeast.value = 0.1;
    state.selection.value = { kind: 'frame', name: '/a/t.py(9): step', node: 4 };
    const hash = printAddress('#kinetoscope');
    takeAddress('');
    expect([state.flameThread.value, state.flameLeast.value, state.selection.value]).toEqual([null, 0.5, null]);
    takeAddress(hash);
    expect(state.flameThread.value).toBe('thread 7 (python) (1/7)');
    expect(state.flameLeast.value).toBe(0.1);
    expect(state.selection.value).toEqual({ kind: 'frame', name: '/a/t.py(9): step', node: 4 });
    expect(printAddress('#kinetoscope')).toBe(hash);
  });

  it('knows frames without a place, and what has no stack', () => {
    for (const name of ['/a/t.py(9): step', null]) {
      state.selection.value = { kind: 'frame', name };
      const hash = printAddress('#kinetoscope');
      takeAddress('');
      takeAddress(hash);
      expect(state.selection.value).toEqual({ kind: 'frame', name });
    }
  });

  it('leaves out a zoom and a least share that make no sense', () => {
    takeAddress('#kinetoscope&p.kinetoscope.zoom=1~x&p.kinetoscope.least=101&p.kinetoscope.select=frame:7:8');
    expect([state.flameZoom.value, state.flameLeast.value, state.selection.value]).toEqual([null, 0.5, null]);
    expect(state.notices.value).toHaveLength(3);
  });

  it('holds what the page of idle time shows', () => {
    state.page.value = 'idle';
    state.idlePart.value = 'blocking';
    state.treeOrder.value = 'source';
    state.idleKey.value = { source: '/a/train.py(81): main', op: null };
    state.launchBy.value = 'thread';
    state.heldBy.value = 'allocation';
    state.heldReason.value = '';
    state.pathKind.value = 'compute';
    state.pathShown.value = true;
    const hash = printAddress('#kinetoscope');
    takeAddress('');
    expect(state.idleKey.value).toBeNull();
    expect(state.idlePart.value).toBe('causes');
    takeAddress(hash);
    expect(printAddress('#kinetoscope')).toBe(hash);
    expect(state.idleKey.value).toEqual({ source: '/a/train.py(81): main', op: null });
    expect(state.heldReason.value).toBe('');
    expect(state.pathShown.value).toBe(true);
    expect(state.notices.value).toEqual([]);
  });

  it('leaves out the end of a row of the tree whose name is too long', () => {
    state.idleKey.value = { cause: 'host work', op: 'x'.repeat(2000), source: 'a.py(1): f' };
    const hash = printAddress('#kinetoscope');
    expect(hash.length).toBeLessThan(200);
    takeAddress(hash);
    expect(state.idleKey.value).toEqual({ cause: 'host work' });
  });

  it.each(['[]', '{}', 'null', '{"cause":1}', '{"colour":"red"}', '{"cause":{"a":"b"}}', '{'])(
    'takes no row of the tree from %s',
    (text) => {
      takeAddress(writeAddress('#kinetoscope', { idle: text }));
      expect(state.idleKey.value).toBeNull();
      expect(state.notices.value).toHaveLength(1);
    },
  );

  it('goes out and comes back the same', () => {
    state.page.value = 'kernels';
    state.filter.value = { t0: 1000, t1: 2000, step: 7 };
    state.viewport.value = { t0: 10, t1: 99 };
    state.kernelBy.value = 'name,op';
    state.kernelSort.value = { column: 'calls', descending: false };
    state.kernelQuery.value = 'gemm -nccl';
    state.selection.value = { kind: 'area', rows: '0-3,9', t0: 5, t1: 8 };
    const hash = printAddress('#kinetoscope');
    takeAddress('');
    expect(state.page.value).toBe('overview');
    takeAddress(hash);
    expect(printAddress('#kinetoscope')).toBe(hash);
    expect(state.filter.value).toEqual({ t0: 1000, t1: 2000, step: 7 });
    expect(state.selection.value).toEqual({ kind: 'area', rows: '0-3,9', t0: 5, t1: 8 });
    expect(state.notices.value).toEqual([]);
  });

  it('carries fixes in one order, and refuses others', () => {
    takeAddress('#kinetoscope&p.kinetoscope.fix=clock,durations&p.kinetoscope.check=clock errors');
    expect(state.fixes.value).toEqual(['durations', 'clock']);
    expect(state.evidence.value).toBe('clock errors');
    expect(printAddress('#kinetoscope')).toContain('fix=durations%2Cclock');
    takeAddress('#kinetoscope&p.kinetoscope.fix=durations,weather');
    expect(state.fixes.value).toEqual([]);
    expect(state.evidence.value).toBeNull();
    expect(state.notices.value).toHaveLength(1);
  });

  it('carries a kernel of any name, and refuses what is none', () => {
    const kernel = {
      kind: 'kernel' as const,
      by: 'name,op',
      key: { name: 'void f<a&b="1">(int)', op: null },
      like: 12,
    };
    state.selection.value = kernel;
    const hash = printAddress('#kinetoscope');
    takeAddress('');
    takeAddress(hash);
    expect(state.selection.value).toEqual(kernel);
    state.selection.value = { ...kernel, key: { name: 'x'.repeat(100_000), op: null } };
    const long = printAddress('#kinetoscope');
    expect(long.length).toBeLessThan(200);
    takeAddress(long);
    expect(state.selection.value).toEqual({ ...kernel, key: { op: null } });
    takeAddress('#kinetoscope&p.kinetoscope.select=kernel:name:{"name":{}}');
    expect(state.selection.value).toBeNull();
    expect(state.notices.value).toHaveLength(1);
  });

  it('writes nothing for defaults', () => {
    expect(printAddress('#kinetoscope')).toBe('#kinetoscope');
  });

  it('falls back on bad values, and says so', () => {
    takeAddress('#kinetoscope&p.kinetoscope.view=nowhere&p.kinetoscope.at=9-3&p.kinetoscope.by=<b>');
    expect(state.page.value).toBe('overview');
    expect(state.viewport.value).toBeNull();
    expect(state.kernelBy.value).toBe('name');
    expect(state.notices.value).toHaveLength(3);
    expect(state.notices.value[0]).toContain('nowhere');
  });

  it.each(['', '1', '5-5', '9-3', 'a-b', '-1-5', '1.5-2'])('knows that %j is no range', (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});
