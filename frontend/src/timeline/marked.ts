/** Events to go through one by one: hits of a search, or those behind a check of health. */
import { batch, effect, signal } from '@preact/signals';
import { isAbort, type Source, type Subject, toProblem } from '../model/source';
import { epoch, eventQuery, eventTime, evidence, selection, showInTimeline, subject, viewport } from '../model/state';
import type { Ref } from '../model/wire';
import { checkEvents } from './evidence';
import { parseQuery, searchHits } from './search';

export interface Marked {
  of: 'search' | 'check';
  /** The query, or the name of the check. */
  title: string;
  /** How many there are; the lists may hold only the first. */
  total: number;
  /** In time order; lengths and rows as far as they are known. */
  id: number[];
  start: number[];
  length: number[];
  row: (number | null)[];
  /** Names that stay bright while all others are dimmed; null dims nothing. */
  bright: ReadonlySet<number> | null;
}

export const marked = signal<Marked | null>(null);
/** Which one was last gone to; -1 before the first. */
export const markedIndex = signal(-1);
export const marking = signal(false);
export const markingProblem = signal<string | null>(null);

const TYPING_MS = 150;

type Reader = (source: Source, of: Subject, signal: AbortSignal) => Promise<Marked>;

/** What is to be marked: the events of a check before those of a query. */
function wanted(): Reader | null {
  const check = evidence.value;
  const query = eventQuery.value;
  const time = eventTime.value;
  if (check !== null) return (source, of, signal) => checkEvents(source, of, check, signal);
  if (parseQuery(query).text === '') return null;
  return (source, of, signal) => searchHits(source, of, { query, time }, signal);
}

/** Marks events as the query or the check changes; returns what ends it. */
export function followMarked(source: Source): () => void {
  let control = new AbortController();
  let timer = 0;
  const stop = effect(() => {
    void epoch.value;
    const of = subject.value;
    const read = wanted();
    clearTimeout(timer);
    control.abort();
    markingProblem.value = null;
    marking.value = of !== null && read !== null;
    if (of === null || read === null) {
      marked.value = null;
      return;
    }
    const start = () => {
      control = new AbortController();
      void take(read(source, of, control.signal), control.signal);
    };
    timer = window.setTimeout(start, evidence.value === null ? TYPING_MS : 0);
  });
  return () => {
    stop();
    clearTimeout(timer);
    control.abort();
  };
}

async function take(reading: Promise<Marked>, signal: AbortSignal): Promise<void> {
  try {
    const now = await reading;
    if (signal.aborted) return;
    batch(() => {
      marked.value = now;
      const what = selection.peek();
      markedIndex.value = what?.kind === 'event' ? now.id.indexOf(what.id) : -1;
      marking.value = false;
      if (now.of === 'check') begin(now);
    });
  } catch (error) {
    if (signal.aborted || isAbort(error)) return;
    marking.value = false;
    marked.value = null;
    markingProblem.value = toProblem(error).message;
  }
}

/** The events of a check are shown from the first on, unless the address, or a fix, has left the picture elsewhere. */
function begin(now: Marked): void {
  if (selection.peek() !== null || viewport.peek() !== null || now.id.length === 0) return;
  markedIndex.value = 0;
  showInTimeline(now.start[0], now.length[0], { kind: 'event', id: now.id[0] });
}

/** Goes to the next or previous one, from the first in view when none was gone to. */
export function nextMarked(by: 1 | -1, from: number): Ref | null {
  const list = marked.value;
  if (!list || list.id.length === 0) return null;
  const count = list.id.length;
  let index = markedIndex.value + by;
  if (markedIndex.value < 0) {
    const first = list.start.findIndex((start) => start >= from);
    index = by > 0 ? Math.max(0, first) : (first < 0 ? count : first) - 1;
  }
  index = (index + count) % count;
  markedIndex.value = index;
  selection.value = { kind: 'event', id: list.id[index] };
  return {
    id: list.id[index],
    name: '',
    kind: '',
    start_ns: list.start[index],
    duration_ns: list.length[index],
    row: list.row[index],
  };
}
