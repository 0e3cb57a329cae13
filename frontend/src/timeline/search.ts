/** Search over the events of the whole trace. */
import type { Source, Subject } from '../model/source';
import type { Range } from '../model/state';
import type { SearchResult } from '../model/wire';
import type { Marked } from './marked';

/** A longer text does not fit into an address on the way to the server. */
const LONGEST = 800;

export interface Query {
  text: string;
  exact: boolean;
}

/** `"quoted text"` stands for whole names. */
export function parseQuery(query: string): Query {
  const quoted = /^"(.+)"$/s.exec(query.trim());
  return quoted ? { text: quoted[1], exact: true } : { text: query.trim(), exact: false };
}

/** Of what the start of a long text has found, what the whole text finds. */
export function sieve(found: SearchResult, names: string[], { text, exact }: Query): SearchResult {
  const lower = text.toLowerCase();
  const fits = (name: string) => (exact ? name === text : name.toLowerCase().includes(lower));
  const kept = new Set(found.names.filter((name) => fits(names[name] ?? '')));
  const rows = found.hits.name.map((_, i) => i).filter((i) => kept.has(found.hits.name[i]));
  return {
    // With every name kept, the count is that of the server, beyond the hits it lists.
    total: kept.size === found.names.length ? found.total : rows.length,
    names: [...kept],
    hits: pickHits(found.hits, rows),
  };
}

export async function search(source: Source, of: Subject, query: Query, signal: AbortSignal): Promise<SearchResult> {
  const { text, exact } = query;
  if (text.length <= LONGEST) return source.search(of, text, exact, signal);
  const [found, { names }] = await Promise.all([
    source.search(of, text.slice(0, LONGEST), false, signal),
    source.names(of, signal),
  ]);
  return sieve(found, names, query);
}

/** Of what was found, what starts in a part of the time. Where not all hits are listed, the count is of the listed ones. */
export function within(found: SearchResult, time: Range | null): SearchResult {
  if (!time) return found;
  const { start_ns } = found.hits;
  const kept = start_ns.map((_, i) => i).filter((i) => time.t0 <= start_ns[i] && start_ns[i] < time.t1);
  return { total: kept.length, names: found.names, hits: pickHits(found.hits, kept) };
}

function pickHits(hits: SearchResult['hits'], kept: number[]): SearchResult['hits'] {
  const pick = (values: number[]) => kept.map((i) => values[i]);
  return {
    id: pick(hits.id),
    name: pick(hits.name),
    start_ns: pick(hits.start_ns),
    duration_ns: pick(hits.duration_ns),
    row: pick(hits.row),
  };
}

export async function searchHits(
  source: Source,
  of: Subject,
  { query, time }: { query: string; time: Range | null },
  signal: AbortSignal,
): Promise<Marked> {
  const { total, names, hits } = within(await search(source, of, parseQuery(query), signal), time);
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
