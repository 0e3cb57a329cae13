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
    await answering(200, '{}', seen).view('ab', 'kernels', { by: 'name,op', start_us: null });
    expect(seen.path).toBe('view?trace=ab&view=kernels&by=name%2Cop');
    expect(address('runs', { refresh: null })).toBe('runs');
  });

  it('marks what changes something', async () => {
    const seen: { init?: RequestInit } = {};
    await answering(200, '{"ok": true}', seen).reload('ab');
    expect(seen.init).toMatchObject({ method: 'POST', headers: { 'X-Kinetoscope': '1' } });
  });

  it('hands on problems as the backend tells them', async () => {
    const problem = { code: 'unknown-trace', message: 'No such trace.', hint: 'Pick another.', where: 'ab' };
    expect(await problemOf(answering(404, JSON.stringify({ error: problem })).lanes('ab'))).toEqual(problem);
  });

  it('makes a sentence of answers that are none', async () => {
    expect(await problemOf(answering(500, '<html>').lanes('ab'))).toMatchObject({ code: 'http-500' });
    const dead = serverSource((async () => {
      throw new TypeError('Failed to fetch');
    }) as typeof fetch);
    expect(await problemOf(dead.runs(false))).toMatchObject({ code: 'unreachable' });
  });
});
