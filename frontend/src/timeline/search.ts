/** Search over the events of the whole trace: what matches, and which hit is looked at. */
import { effect, signal } from '@preact/signals';
import { isAbort, type Source, toProblem } from '../model/source';
import { eventQuery, selection, trace } from '../model/state';
import type { Ref, SearchResult } from '../model/wire';

export interface Found {
  query: string;
  result: SearchResult;
  matched: Set<number>;
}

export const found = signal<Found | null>(null);
export const searching = signal(false);
export const searchProblem = signal<string | null>(null);
/** Index of the hit last gone to; -1 before the first. */
export const hitIndex = signal(-1);

const TYPING_MS = 150;

/** `"quoted text"` stands for whole names. */
export function parseQuery(query: string): { text: string; exact: boolean } {
  const quoted = /^"(.+)"$/.exec(query.trim());
  return quoted ? { text: quoted[1], exact: true } : { text: query.trim(), exact: false };
}

/** Searches as the query changes; returns what ends it. */
export function followQuery(source: Source): () => void {
  let control = new AbortController();
  let timer = 0;
  const stop = effect(() => {
    const query = eventQuery.value;
    const of = trace.value;
    clearTimeout(timer);
    control.abort();
    searchProblem.value = null;
    const { text, exact } = parseQuery(query);
    if (of === null || text === '') {
      found.value = null;
      searching.value = false;
      return;
    }
    searching.value = true;
    timer = window.setTimeout(() => {
      control = new AbortController();
      void search(source, of, { query, text, exact }, control.signal);
    }, TYPING_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
    control.abort();
  };
}

async function search(
  source: Source,
  of: string,
  asked: { query: string; text: string; exact: boolean },
  signal: AbortSignal,
): Promise<void> {
  try {
    const result = await source.search(of, asked.text, asked.exact, signal);
    if (signal.aborted) return;
    found.value = { query: asked.query, result, matched: new Set(result.names) };
    hitIndex.value = -1;
    searching.value = false;
  } catch (error) {
    if (isAbort(error)) return;
    searching.value = false;
    found.value = null;
    searchProblem.value = toProblem(error).message;
  }
}

/** Goes to the next or previous hit, from the first in view when none was gone to. */
export function nextHit(by: 1 | -1, from: number): Ref | null {
  const hits = found.value?.result.hits;
  if (!hits || hits.id.length === 0) return null;
  const count = hits.id.length;
  let index = hitIndex.value + by;
  if (hitIndex.value < 0) {
    const first = hits.start_ns.findIndex((start) => start >= from);
    index = by > 0 ? Math.max(0, first) : (first < 0 ? count : first) - 1;
  }
  index = (index + count) % count;
  hitIndex.value = index;
  selection.value = { kind: 'event', id: hits.id[index] };
  return {
    id: hits.id[index],
    name: '',
    kind: '',
    start_ns: hits.start_ns[index],
    duration_ns: hits.duration_ns[index],
    row: hits.row[index],
  };
}
