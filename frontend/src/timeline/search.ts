/** Search over the events of the whole trace. */
import type { Source, Subject } from '../model/source';
import type { Marked } from './marked';

/** `"quoted text"` stands for whole names. */
export function parseQuery(query: string): { text: string; exact: boolean } {
  const quoted = /^"(.+)"$/.exec(query.trim());
  return quoted ? { text: quoted[1], exact: true } : { text: query.trim(), exact: false };
}

export async function searchHits(source: Source, of: Subject, query: string, signal: AbortSignal): Promise<Marked> {
  const { text, exact } = parseQuery(query);
  const { total, names, hits } = await source.search(of, text, exact, signal);
  return {
    of: 'search',
    title: query,
    total,
    id: hits.id,
    start: hits.start_ns,
    length: hits.duration_ns,
    row: hits.row,
    bright: new Set(names),
  };
}
