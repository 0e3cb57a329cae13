/** The critical path over the picture: asked for a window around what is shown, while it is switched on. */
import { effect } from '@preact/signals';
import { isAbort, type Source, type Subject, toProblem } from '../model/source';
import { pathShown, type Range } from '../model/state';
import type { CriticalPath } from '../model/wire';
import type { Span, Timeline } from './controller';

const RESTING_MS = 80;
/** The window that is asked for, against what is shown. */
const MARGIN = 1;
/** Stretches that begin within so many pixels are one: a line that jumps from row to row at every pixel tells nothing. */
const APART = 6;

/** What is shown and as much on both sides, within the recording. */
export function around({ t0, t1 }: Range, end: number): Range {
  const margin = (t1 - t0) * MARGIN;
  return { t0: Math.max(0, Math.floor(t0 - margin)), t1: Math.min(Math.ceil(end) + 1, Math.ceil(t1 + margin)) };
}

/** Whether a path that was asked for a window serves another: it holds it, and is not much coarser. */
export function serves(asked: Range | null, view: Range): boolean {
  return asked !== null && asked.t0 <= view.t0 && asked.t1 >= view.t1 && asked.t1 - asked.t0 <= 5 * (view.t1 - view.t0);
}

export function spansOf(path: CriticalPath): Span[] {
  return path.start_ns.map((t0, i) => ({ t0, t1: path.end_ns[i], row: path.row[i] }));
}

/** Keeps the path of the timeline as it is asked for; returns what ends it. */
export function followPath(timeline: Timeline, source: Source, of: Subject): () => void {
  let control = new AbortController();
  let timer = 0;
  let asked: Range | null = null;
  const stop = effect(() => {
    const view = timeline.view.value;
    const { width } = timeline.size.value;
    if (!pathShown.value) {
      control.abort();
      clearTimeout(timer);
      asked = null;
      timeline.paths.value = [];
      return;
    }
    if (width === 0 || serves(asked, clipped(view, timeline.end))) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      control.abort();
      control = new AbortController();
      const window_ = around(view, timeline.end);
      source
        .path(of, window_, Math.ceil((width * (window_.t1 - window_.t0)) / (view.t1 - view.t0) / APART), control.signal)
        .then((path) => {
          asked = window_;
          timeline.paths.value = [{ title: 'Critical path', spans: spansOf(path) }];
        })
        .catch((error: unknown) => {
          if (!isAbort(error)) timeline.problem.value = toProblem(error).message;
        });
    }, RESTING_MS);
  });
  return () => {
    stop();
    control.abort();
    clearTimeout(timer);
  };
}

function clipped({ t0, t1 }: Range, end: number): Range {
  return { t0: Math.max(0, t0), t1: Math.min(end, t1) };
}
