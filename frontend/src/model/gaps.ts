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
  };
}

/** The timeline at a gap, with the gap selected. */
export function openGap(gaps: Gaps, row: number): void {
  const gap = gaps.gap[row];
  showInTimeline(gaps.start[row], gaps.duration[row], gap === null ? null : { kind: 'gap', gap });
}

/** A part of a story: words, or an event by its name. */
export type Told = string | { name: string; id: number | null };

/** What kept the device waiting; `it` stands for the host event of the longest stretch of the main cause. */
const HOST_STORIES: Record<string, (it: Told) => Told[]> = {
  synchronization: (it) => ['the host was blocked in ', it],
  'memory allocation': (it) => ['the host was managing memory in ', it],
  'data loading': (it) => ['the host was loading data in ', it],
  compilation: (it) => ['the host was compiling in ', it],
  'launch calls': (it) => ['the host was calling ', it],
  'host work': (it) => ['the host was in ', it],
  'host python': (it) => ['the host was in Python, ', it],
};

const DEVICE_STORIES: Record<string, string> = {
  'untraced host': 'nothing was recorded on the host',
  'launch latency': 'the launch had returned, the work was on its way',
  'inside a graph': 'between two works of one graph launch',
  'device scheduling': 'the next work was queued already',
  'stream dependency': 'the next work had to wait for another stream',
  'late start':
    'work was queued, and the device showed nothing: it was probably busy with what is not in the recording',
  'no launch recorded': 'the recording does not hold the launch of the next work',
};

function cause(gaps: Gaps, row: number): Told[] {
  const key = gaps.cause[row];
  if (key === '') return ['no cause was told'];
  const device = DEVICE_STORIES[key];
  if (device) return [device];
  const event = gaps.event[row];
  const told = (HOST_STORIES[key] ?? ((it: Told) => [`${key}: `, it]))({ name: event, id: gaps.eventId[row] });
  const place: Told[] = event === '' ? [causeTerm(key).title.toLowerCase()] : told;
  const op = gaps.op[row];
  if (op !== '' && op !== event) place.push(' inside ', { name: op, id: null });
  const source = gaps.source[row];
  if (source !== '' && source !== event) place.push(', called from ', { name: source, id: null });
  return place;
}

const WORK_WORDS: Record<string, string> = { kernel: 'kernel', memcpy: 'copy', memset: 'memset' };

/** How the gap came to its end: when the next work was launched, and how long it took to begin. */
function ending(gaps: Gaps, row: number): Told[] {
  const noun = WORK_WORDS[gaps.endedBy[row]];
  if (!noun) return ['the window ends here'];
  const delay = gaps.launchDelay[row];
  if (delay === null) return [`the next ${noun} has no recorded launch`];
  const into = gaps.duration[row] - delay;
  if (into < 0) return [`the next ${noun} had been launched ${duration(-into)} before`];
  const launch: Told = { name: gaps.launch[row] || 'its call', id: gaps.launchId[row] };
  return [
    `the next ${noun} was launched ${duration(into)} into the gap by `,
    launch,
    ` and began ${duration(delay)} later`,
  ];
}

/** Who kept the device waiting in this gap, without its length. */
export function storyOf(gaps: Gaps, row: number): Told[] {
  const part = gaps.causeTime[row];
  const share = part === null ? 100 : (100 * part) / (gaps.duration[row] || 1);
  const most: Told[] = share < 99.5 ? [`for ${percent(share)} of it `] : [];
  return [...most, ...cause(gaps, row), '; ', ...ending(gaps, row)];
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
