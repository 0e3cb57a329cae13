/** What the tooltip says of the bar under the mouse. Pure. */
import { exactTime, instant, plural } from '../lib/format';

export interface Told {
  start: number;
  length: number;
  kind: string;
  merged: boolean;
  count: number;
  before: boolean;
  after: boolean;
  unfinished: boolean;
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
  const kind = told.kind.replace('_', ' ');
  const least = isCut(told) || told.unfinished ? 'at least ' : '';
  if (told.merged)
    return `merged, ${plural(told.count, 'event')} in ${least}${exactTime(length)}; the longest is named`;
  if (isCut(told)) return `${least}${exactTime(length)}: ${goesOn(told)} · ${kind}`;
  const end = told.unfinished ? ', its end was not recorded' : '';
  return `${least}${exactTime(length)} at ${instant(start, 1e3)}${end} · ${kind}`;
}
