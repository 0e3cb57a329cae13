/** What the tooltip says of the bar under the mouse. Pure. */
import { count, duration, exactTime, instant, percent, plural, quantity, significant } from '../lib/format';
import type { Reading } from './counter';

export interface Told {
  start: number;
  length: number;
  kind: string;
  before: boolean;
  after: boolean;
  unfinished: boolean;
  /** Its ends are known to a part of a pixel only. */
  rough: boolean;
}

/** A cut piece has no length of its own: what is known of the bar is that it is longer. */
function goesOn({ before, after }: Told): string {
  if (before && after) return 'begins earlier and ends later';
  return before ? 'begins earlier' : 'ends later';
}

export function isCut(told: Pick<Told, 'before' | 'after'>): boolean {
  return told.before || told.after;
}

export function tellBar(told: Told): string {
  const { start, length } = told;
  const kind = told.kind.startsWith('idle ') ? 'idle' : told.kind.replace('_', ' ');
  if (told.rough) return `about ${duration(length)} · ${kind}`;
  const least = isCut(told) || told.unfinished ? 'at least ' : '';
  if (isCut(told)) return `${least}${exactTime(length)}: ${goesOn(told)} · ${kind}`;
  const end = told.unfinished ? ', its end was not recorded' : '';
  return `${least}${exactTime(length)} at ${instant(start, 1e3)}${end} · ${kind}`;
}

export interface ToldMerged {
  count: number;
  /** Share of the bucket that is covered, 0 to 1. */
  share: number;
  /** ns a bucket, and pixels that it takes now. */
  quantum: number;
  pixels: number;
}

export function tellMerged({ count: events, share, quantum, pixels }: ToldMerged): string {
  const px = Math.abs(pixels - 1) < 0.05 ? '1' : significant(pixels, 2);
  return `${px} px = ${duration(quantum)}, ${plural(events, 'event')}, ${percent(100 * share)} covered; the longest is named`;
}

/** A counter's value in words; what changed within a pixel is told from the least to the most. */
export function tellCounter({ low, high, changes }: Reading, unit: string): string {
  const value = (one: number) => quantity(one, unit === '' ? null : unit);
  if (changes <= 1) return value(low);
  return `${value(low)} to ${value(high)}, ${count(changes)} changes`;
}
