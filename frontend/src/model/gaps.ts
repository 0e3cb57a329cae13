/** Gaps of the devices as records, from the `gaps` table, and what each tells as a sentence. */
import { causeTerm } from '../lib/causes';
import { duration, percent } from '../lib/format';
import { sourceLabel, tame } from '../lib/names';
import { showInTimeline } from './state';
import { nanoseconds, numbers, texts } from './tables';
import type { Table } from './wire';

export interface Gaps {
  rows: number;
  device: (number | null)[];
  start: number[];
  duration: number[];
  endedBy: string[];
  next: string[];
  nextId: (number | null)[];
  launch: string[];
  launchId: (number | null)[];
  launchDelay: (number | null)[];
  previous: string[];
  previousId: (number | null)[];
  step: (number | null)[];
  gap: (number | null)[];
  /** What caused most of the gap, and how much of it. */
  cause: string[];
  causeTime: (number | null)[];
  op: string[];
  module: string[];
  source: string[];
  /** Host event of the longest stretch of that cause. */
  event: string[];
  eventId: (number | null)[];
  /** Time of all events of that name, under the main cause. */
  eventTime: (number | null)[];
}

export function readGaps(table: Table): Gaps {
  return {
    rows: table.rows,
    device: numbers(table, 'device'),
    start: nanoseconds(table, 'start_us').map((value) => value ?? 0),
    duration: nanoseconds(table, 'duration_us').map((value) => value ?? 0),
    endedBy: texts(table, 'ended_by'),
    next: texts(table, 'next_name'),
    nextId: numbers(table, 'next_id'),
    launch: texts(table, 'launch_name'),
    launchId: numbers(table, 'launch_id'),
    launchDelay: nanoseconds(table, 'launch_delay_us'),
    previous: texts(table, 'previous_name'),
    previousId: numbers(table, 'previous_id'),
    step: numbers(table, 'step'),
    gap: numbers(table, 'gap'),
    cause: texts(table, 'cause'),
    causeTime: nanoseconds(table, 'cause_us'),
    op: texts(table, 'op'),
    module: texts(table, 'module'),
    source: texts(table, 'source'),
    event: texts(table, 'event_name'),
    eventId: numbers(table, 'event_id'),
    eventTime: nanoseconds(table, 'event_us'),
  };
}

/** The timeline at a gap, with the gap selected. */
export function openGap(gaps: Gaps, row: number): void {
  const gap = gaps.gap[row];
  showInTimeline(gaps.start[row], gaps.duration[row], gap === null ? null : { kind: 'gap', gap });
}

/** A part of a story: words, or an event by its name. */
export type Told = string | { name: string; id: number | null };

/** What the host was doing in the event of the longest stretch of the main cause. */
const HOST_STORIES: Record<string, string> = {
  synchronization: 'the host was blocked in ',
  'memory allocation': 'the host was managing memory in ',
  'data loading': 'the host was loading data in ',
  compilation: 'the host was compiling in ',
  'launch calls': 'the host was calling ',
  'host work': 'the host was in ',
};

/** Causes whose event is a call within the operator; the others' events hold the operator. */
const CALLS = ['synchronization', 'memory allocation', 'launch calls'];

/** What the device was about to do, of the next work. */
const DEVICE_STORIES: Record<string, string> = {
  'launch latency': 'was on its way to the device',
  'inside a graph': 'belongs to the graph launch of the work before',
  'device scheduling': 'was queued already',
  'stream dependency': 'had to wait for another stream',
  'late start':
    'was queued, and the device showed nothing: it was probably busy with work that is not in the recording',
  'no launch recorded': 'has no recorded launch',
};

const WORK_WORDS: Record<string, string> = { kernel: 'kernel', memcpy: 'copy', memset: 'memset' };

function hostStory(gaps: Gaps, row: number): Told[] {
  const key = gaps.cause[row];
  const event = gaps.event[row];
  const op = gaps.op[row];
  const source = gaps.source[row];
  const at: Told = { name: source, id: null };
  if (key === 'untraced host') return ['nothing was recorded on the host'];
  // The event is the line itself there.
  if (key === 'host python') return source === '' ? ['the host was in Python'] : ['the host was in Python at ', at];
  const told: Told[] =
    event === '' ? [causeTerm(key).title] : [HOST_STORIES[key] ?? `${key}: `, { name: event, id: gaps.eventId[row] }];
  if (op !== '' && op !== event) {
    told.push(CALLS.includes(key) ? ' inside ' : ', mostly in ', { name: op, id: null });
  }
  if (source !== '' && source !== event) told.push(', called from ', at);
  return told;
}

/** How the gap came to its end: when the next work was launched, and how long it took to begin. */
function ending(gaps: Gaps, row: number): Told[] {
  const noun = WORK_WORDS[gaps.endedBy[row]];
  if (!noun) return ['the window ends here'];
  const delay = gaps.launchDelay[row];
  if (delay === null) return [`the next ${noun} has no recorded launch`];
  const into = gaps.duration[row] - delay;
  if (into < 0) return [`the next ${noun} had been launched ${duration(-into)} before`];
  const launch: Told = { name: gaps.launch[row] || 'its call', id: gaps.launchId[row] };
  const launched = `the next ${noun} was launched ${duration(into)} into the gap by `;
  return [launched, launch, ` and began ${duration(delay)} later`];
}

/** How the next work stood, where the host has no part in it. */
function deviceStory(gaps: Gaps, row: number, share: Told[]): Told[] {
  const noun = WORK_WORDS[gaps.endedBy[row]] ?? 'work';
  const story: Told[] = [`the next ${noun} ${DEVICE_STORIES[gaps.cause[row]]}`, ...share];
  const delay = gaps.launchDelay[row];
  if (delay === null) return story;
  const into = gaps.duration[row] - delay;
  const launch: Told = { name: gaps.launch[row] || 'its call', id: gaps.launchId[row] };
  const when = into < 0 ? `${duration(-into)} before the gap` : `${duration(into)} into the gap`;
  return [...story, '; ', launch, ` launched it ${when}`];
}

/** Who kept the device waiting in this gap, without its length. */
export function storyOf(gaps: Gaps, row: number): Told[] {
  const key = gaps.cause[row];
  if (key === '') return ['no cause was told'];
  // What the sentence names, and no more.
  const part = DEVICE_STORIES[key] || gaps.event[row] === '' ? gaps.causeTime[row] : gaps.eventTime[row];
  const share = part === null ? 100 : (100 * part) / (gaps.duration[row] || 1);
  const most: Told[] = share < 99.5 ? [`, for ${percent(share)} of it`] : [];
  if (DEVICE_STORIES[key]) return deviceStory(gaps, row, most);
  return [...hostStory(gaps, row), ...most, '; ', ...ending(gaps, row)];
}

/** A name as sentences have it: source lines and C++ shortened. */
export function spoken(name: string): string {
  return sourceLabel(name) ?? tame(name);
}

export function plainStory(gaps: Gaps, row: number): string {
  return storyOf(gaps, row)
    .map((part) => (typeof part === 'string' ? part : spoken(part.name)))
    .join('');
}

/** The story as a table has room for: most are about the host. */
export function briefStory(gaps: Gaps, row: number): string {
  return plainStory(gaps, row).replace(/^the host was (in )?/, '');
}
