/** Reads the list of traces and loads the chosen one. */
import { effect } from '@preact/signals';
import { isHidden } from '../lib/browser';
import { isAbort, type Source, toProblem } from './source';
import * as state from './state';
import type { Info, Session } from './wire';

const SCAN_MS = 500;
const LOAD_MS = 150;
/** How often a loaded file is asked about: it may change on disk. */
const WATCH_MS = 5000;

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('aborted', 'AbortError'));
    });
  });
}

let scan = new AbortController();

/** Reads the list until the scan is over. */
export async function readRuns(source: Source, refresh: boolean): Promise<void> {
  scan.abort();
  scan = new AbortController();
  const { signal } = scan;
  try {
    for (let first = refresh; ; first = false) {
      state.runs.value = await source.runs(first, signal);
      state.runsProblem.value = null;
      if (state.runs.value.state !== 'scanning') break;
      await sleep(SCAN_MS, signal);
    }
    checkChoice();
  } catch (error) {
    if (!isAbort(error)) state.runsProblem.value = toProblem(error);
  }
}

/** Tells where the address names what the folder does not hold. */
function checkChoice(): void {
  const now = state.chosen.peek();
  if (!now) return;
  const pairs = [
    { what: 'run', atom: state.run, shown: now.run.name },
    { what: 'rank', atom: state.rank, shown: now.rank.label },
    { what: 'span', atom: state.span, shown: now.span.span },
  ];
  const wrong = pairs.find(({ atom, shown }) => atom.peek() !== null && atom.peek() !== shown);
  if (!wrong) return;
  const { what, atom, shown } = wrong;
  state.notice(`There is no ${what} “${atom.peek()}” in this folder: ${what} “${shown}” is shown.`);
  atom.value = shown;
}

/** A loaded trace is told again and again: the pages take note only of what differs. */
function take(session: Session, signal: AbortSignal): void {
  if (signal.aborted) return;
  const before = state.session.peek();
  const settled = before?.state === 'ready' && session.state === 'ready' && before.changed === session.changed;
  if (!settled) state.session.value = session;
  state.sessionProblem.value = null;
}

async function follow(source: Source, trace: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (!isHidden() || state.session.peek() === null) take(await source.session(trace, signal), signal);
    const now = state.session.peek()?.state;
    if (now === 'failed' || now === 'cancelled') return;
    await sleep(now === 'ready' ? WATCH_MS : LOAD_MS, signal);
  }
}

/** Loads whatever trace is chosen; returns what ends it. */
export function followChoice(source: Source): () => void {
  let control = new AbortController();
  const stop = effect(() => {
    const trace = state.trace.value;
    void state.epoch.value;
    control.abort();
    control = new AbortController();
    state.session.value = null;
    state.sessionProblem.value = null;
    if (trace === null) return;
    follow(source, trace, control.signal).catch((error) => {
      if (!isAbort(error)) state.sessionProblem.value = toProblem(error);
    });
  });
  return () => {
    stop();
    control.abort();
  };
}

/** Asks what the fixed trace is like, and keeps a step's filter on its step; returns what ends it. */
export function followFixes(source: Source): () => void {
  let control = new AbortController();
  const stopAsking = effect(() => {
    const of = state.subject.value;
    const { state: now, info: raw } = state.session.value ?? { state: null, info: null };
    control.abort();
    control = new AbortController();
    if (now !== 'ready' || !raw || !of?.fix) {
      if (now !== 'ready') state.fixedInfo.value = null;
      return;
    }
    if (dropUseless(raw)) return;
    const { signal } = control;
    source.info(of, signal).then(
      (told) => {
        if (!signal.aborted) state.fixedInfo.value = told;
      },
      (error) => {
        if (signal.aborted || isAbort(error)) return;
        state.notice(`The recording is shown as it is: ${toProblem(error).message}`);
        state.fixes.value = [];
      },
    );
  });
  const stopFilter = effect(() => {
    const narrowed = state.filter.value;
    const step = state.info.value?.steps.find((one) => one.step === narrowed?.step);
    if (!narrowed || !step || (narrowed.t0 === step.start_ns && narrowed.t1 === step.end_ns)) return;
    state.filter.value = { step: step.step, t0: step.start_ns, t1: step.end_ns };
  });
  return () => {
    stopAsking();
    stopFilter();
    control.abort();
  };
}

/** An address may ask for what would change nothing here. */
function dropUseless(raw: Info): boolean {
  const known = raw.fixes.map((one) => one.fix);
  const useful = state.fixes.peek().filter((one) => known.includes(one));
  if (useful.length === state.fixes.peek().length) return false;
  state.notice('There is nothing to repair in this trace: it is shown as it was recorded.');
  state.fixes.value = useful;
  return true;
}

export async function reloadTrace(source: Source): Promise<void> {
  const trace = state.trace.peek();
  if (trace === null) return;
  try {
    await source.reload(trace);
    state.selection.value = null;
    state.epoch.value++;
  } catch (error) {
    state.sessionProblem.value = toProblem(error);
  }
}

export async function cancelLoading(source: Source): Promise<void> {
  const trace = state.trace.peek();
  if (trace !== null) await source.cancel(trace).catch((error) => state.notice(toProblem(error).message));
}
