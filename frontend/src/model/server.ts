import type { Parameters, Source } from './source';
import { isAbort, SourceError } from './source';
import type { Problem } from './wire';

/** Characters that turn the reading direction: in a name of a trace they would rearrange the page around it. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** Server side of the data source. Addresses are relative: they must hold behind path prefixes and proxies. */
export function serverSource(fetcher: typeof fetch = fetch.bind(globalThis)): Source {
  const json = async <T>(path: string, parameters: Parameters, signal?: AbortSignal): Promise<T> => {
    const response = await request(fetcher, address(path, parameters), { signal });
    return JSON.parse((await response.text()).replace(TURNING, '\ufffd')) as T;
  };
  const post = async (path: string, trace: string): Promise<void> => {
    await request(fetcher, address(path, { trace }), { method: 'POST', headers: { 'X-Kinetoscope': '1' } });
  };
  return {
    runs: (refresh, signal) => json('runs', { refresh: refresh ? 1 : null }, signal),
    session: (trace, signal) => json('session', { trace }, signal),
    cancel: (trace) => post('cancel', trace),
    reload: (trace) => post('reload', trace),
    info: (of, signal) => json('info', { ...of }, signal),
    view: (of, view, parameters, signal) => json('view', { ...of, view, ...parameters }, signal),
    lanes: (of, signal) => json('lanes', { ...of }, signal),
    names: (of, signal) => json('names', { ...of }, signal),
    tile: async (of, window, px, signal) => {
      const response = await request(fetcher, address('tile', { ...of, ...window, px }), { signal });
      return response.arrayBuffer();
    },
    longest: (of, entry, count, signal) => json('longest', { ...of, entry, count }, signal),
    event: (of, id, signal) => json('event', { ...of, id }, signal),
    neighbor: (of, id, by, signal) => json('neighbor', { ...of, id, by }, signal),
    search: (of, q, exact, signal) => json('search', { ...of, q, limit: 2000, exact: exact ? 1 : null }, signal),
    area: (of, window, signal) => json('area', { ...of, ...window }, signal),
    path: (of, range, px, signal) => json('path', { ...of, ...range, px }, signal),
    minimap: (of, px, signal) => json('minimap', { ...of, px }, signal),
  };
}

export function address(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(key, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

async function request(fetcher: typeof fetch, path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetcher(path, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new SourceError({
      code: 'unreachable',
      message: 'TensorBoard does not answer.',
      hint: 'See whether the tensorboard command still runs, then reload this page.',
      where: path,
    });
  }
  if (!response.ok) throw new SourceError(await readProblem(response, path));
  return response;
}

async function readProblem(response: Response, path: string): Promise<Problem> {
  const fallback = {
    code: `http-${response.status}`,
    message: `The server answered ${response.status} to ${path.split('?')[0]}.`,
    hint: 'The log of the tensorboard command tells more.',
    where: path,
  };
  try {
    const body = (await response.json()) as { error?: Partial<Problem> | null };
    return { ...fallback, ...(body.error ?? {}) };
  } catch {
    return fallback;
  }
}
