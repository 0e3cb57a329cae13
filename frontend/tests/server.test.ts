import { describe, expect, it } from 'vitest';
import { address, serverSource } from '../src/model/server';
import type { SourceError } from '../src/model/source';

const answering = (status: number, body: string, seen: { path?: string; init?: RequestInit } = {}) =>
  serverSource((async (path: string, init: RequestInit) => {
    Object.assign(seen, { path, init });
    return new Response(body, { status });
  }) as typeof fetch);

async function problemOf(promise: Promise<unknown>) {
  return promise.then(
    () => {
      throw new Error('it should have failed');
    },
    (error: SourceError) => error.problem,
  );
}

describe('the server source', () => {
  it('asks relative addresses', async () => {
    const seen: { path?: string } = {};
    const raw = { trace: 'ab', fix: null };
    await answering(200, '{}', seen).view(raw, 'kernels', { by: 'name,op', start_us: null });
    expect(seen.path).toBe('view?trace=ab&view=kernels&by=name%2Cop');
    await answering(200, '{}', seen).view(raw, 'kernel_calls', { op: '' });
    expect(seen.path).toBe('view?trace=ab&view=kernel_calls&op=');
    expect(address('runs', { refresh: null })).toBe('runs');
  });

  it('asks about the fixed trace on every route', async () => {
    const seen: { path?: string } = {};
    const source = answering(200, '{}', seen);
    const of = { trace: 'ab', fix: 'durations,clock' };
    const window = { rows: '0', t0: 0, t1: 1 };
    const asks = [
      () => source.info(of),
      () => source.view(of, 'steps', {}),
      () => source.lanes(of),
      () => source.names(of),
      () => source.tile(of, window, 1),
      () => source.event(of, 1),
      () => source.neighbor(of, 1, 1),
      () => source.search(of, 'x', false),
      () => source.area(of, window),
      () => source.minimap(of, 1),
    ];
    for (const ask of asks) {
      await ask();
      expect(seen.path).toMatch(/\?trace=ab&fix=durations%2Cclock(&|$)/);
    }
  });

  it('marks what changes something', async () => {
    const seen: { init?: RequestInit } = {};
    await answering(200, '{"ok": true}', seen).reload('ab');
    expect(seen.init).toMatchObject({ method: 'POST', headers: { 'X-Kinetoscope': '1' } });
  });

  it('hands on problems as the backend tells them', async () => {
    const problem = { code: 'unknown-trace', message: 'No such trace.', hint: 'Pick another.', where: 'ab' };
    expect(
      await problemOf(answering(404, JSON.stringify({ error: problem })).lanes({ trace: 'ab', fix: null })),
    ).toEqual(problem);
  });

  it('makes a sentence of answers that are none', async () => {
    expect(await problemOf(answering(500, '<html>').lanes({ trace: 'ab', fix: null }))).toMatchObject({
      code: 'http-500',
    });
    const dead = serverSource((async () => {
      throw new TypeError('Failed to fetch');
    }) as typeof fetch);
    expect(await problemOf(dead.runs(false))).toMatchObject({ code: 'unreachable' });
  });
});
