/** Arithmetic of the shown window of time. All pure. */
import { roundStep } from '../lib/histogram';
import type { Range } from '../model/state';

/** The closest zoom: one pixel is a tenth of a nanosecond on a usual screen. */
const LEAST_SPAN = 100;

export function clampView(view: Range, end: number): Range {
  const span = Math.min(Math.max(view.t1 - view.t0, LEAST_SPAN), Math.max(end, LEAST_SPAN));
  const t0 = Math.min(Math.max(0, view.t0), Math.max(0, end - span));
  return { t0, t1: t0 + span };
}

/** Zooms so that `anchor` stays where it is; factors below 1 come closer. */
export function zoomView(view: Range, factor: number, anchor: number, end: number): Range {
  const span = Math.min(Math.max((view.t1 - view.t0) * factor, LEAST_SPAN), Math.max(end, LEAST_SPAN));
  const share = (anchor - view.t0) / (view.t1 - view.t0);
  const t0 = anchor - share * span;
  return clampView({ t0, t1: t0 + span }, end);
}

export function panView(view: Range, by: number, end: number): Range {
  return clampView({ t0: view.t0 + by, t1: view.t1 + by }, end);
}

/** A window around a range with room of `margin` times its length on each side. */
export function fitView(range: Range, margin: number, end: number): Range {
  const room = (range.t1 - range.t0) * margin;
  return clampView({ t0: range.t0 - room, t1: range.t1 + room }, end);
}

export interface Ticks {
  step: number;
  at: number[];
}

/** Round times, at least `gap` pixels apart. */
export function ticks(view: Range, width: number, gap = 110): Ticks {
  const step = Math.max(1, roundStep(((view.t1 - view.t0) * gap) / Math.max(1, width)));
  const at: number[] = [];
  for (let i = Math.ceil(view.t0 / step); i * step <= view.t1; i++) at.push(i * step);
  return { step, at };
}
