/** Reads what a view asks for, once: equal questions share an answer, and old pictures stay until the next comes. */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, type Parameters, type Source, type Subject, toProblem } from './source';
import { epoch, subject } from './state';
import type { EventDetail, Longest, Problem, Table } from './wire';

export interface Remote<T> {
  data: T | null;
  problem: Problem | null;
  busy: boolean;
}

export const SourceContext = createContext<Source>(null as unknown as Source);

export function useSource(): Source {
  return useContext(SourceContext);
}

const KEPT = 48;
const answers = new Map<string, unknown>();

function keep(key: string, value: unknown): void {
  answers.delete(key);
  answers.set(key, value);
  if (answers.size > KEPT) answers.delete(answers.keys().next().value as string);
}

/** `load` runs when `key` changes; a null key asks nothing. */
export function useRemote<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Remote<T> {
  const [state, setState] = useState<Remote<T>>({ data: null, problem: null, busy: key !== null });
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === null) {
      setState({ data: null, problem: null, busy: false });
      return;
    }
    if (answers.has(key)) {
      setState({ data: answers.get(key) as T, problem: null, busy: false });
      return;
    }
    const control = new AbortController();
    setState((before) => ({ data: before.data, problem: null, busy: true }));
    latest.current(control.signal).then(
      (data) => {
        keep(key, data);
        if (!control.signal.aborted) setState({ data, problem: null, busy: false });
      },
      (error) => {
        if (!control.signal.aborted && !isAbort(error))
          setState({ data: null, problem: toProblem(error), busy: false });
      },
    );
    return () => control.abort();
  }, [key]);
  return state;
}

/** Tells answers apart: by what they are about, as it was last loaded, and what was asked. */
export function keyOf(of: Subject, ...asked: unknown[]): string {
  return JSON.stringify([epoch.value, of.trace, of.fix, ...asked]);
}

/** A table of the chosen trace; null parameters ask nothing. */
export function useTable(view: string, parameters: Parameters | null): Remote<Table> {
  const source = useSource();
  const of = subject.value;
  const key = of === null || parameters === null ? null : keyOf(of, view, parameters);
  return useRemote(key, (signal) => source.view(of as Subject, view, parameters ?? {}, signal));
}

/** The longest event of a bar, by its first entry and its count; null asks nothing. */
export function useLongest(bar: { entry: number; count: number } | null): Remote<Longest> {
  const source = useSource();
  const of = subject.value;
  const key = bar === null || of === null ? null : keyOf(of, 'longest', bar.entry, bar.count);
  return useRemote(key, (signal) => source.longest(of as Subject, bar?.entry ?? 0, bar?.count ?? 1, signal));
}

/** Details of an event of the chosen trace; null asks nothing. */
export function useEvent(id: number | null): Remote<EventDetail> {
  const source = useSource();
  const of = subject.value;
  const key = id === null || of === null ? null : keyOf(of, 'event', id);
  return useRemote(key, (signal) => source.event(of as Subject, id as number, signal));
}
