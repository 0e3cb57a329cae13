/** The overview's one sentence, as text and figures; each figure leads to its evidence. */

import { causeTerm } from '../lib/causes';
import { STEP_PARTS } from '../lib/colours';
import { duration, percent, plural } from '../lib/format';
import { median, spreadPercent } from '../lib/histogram';
import { causeTotals } from './idle';
import { column, nanoseconds, numbers, sum } from './tables';
import type { Info, PageName, Table } from './wire';

export interface Figure {
  text: string;
  hint: string;
  to: PageName | 'steps' | null;
  /** Cause of idle time that the page of it opens at. */
  cause?: string;
}

export type Fragment = string | Figure;

export interface StepSummary {
  complete: number;
  median: number | null;
  spread: number | null;
}

/** Means and medians leave incomplete steps out. */
export function summariseSteps(steps: Table): StepSummary {
  const incomplete = column(steps, 'incomplete');
  const periods = nanoseconds(steps, 'period_us').filter((value, row) => value !== null && incomplete[row] !== true);
  const lengths = periods as number[];
  return { complete: lengths.length, median: median(lengths), spread: spreadPercent(lengths) };
}

/** Share of a part in the periods of the complete steps, in percent; null without steps. */
function shareOf(steps: Table, part: string): number | null {
  const incomplete = column(steps, 'incomplete');
  const counted = (name: string) =>
    sum(numbers(steps, name).map((value, row) => (incomplete[row] === true ? 0 : value)));
  const whole = counted('period_us');
  return whole > 0 ? (100 * counted(part)) / whole : null;
}

/** The largest part of the steps in which no device works, with its share of the periods. */
export function largestHostPart(steps: Table): { label: string; share: number } | null {
  const parts = STEP_PARTS.filter((part) => !part.device).map((part) => ({
    label: part.label.replace(/^./, (first) => first.toLowerCase()),
    share: shareOf(steps, part.key),
  }));
  const known = parts.filter((part): part is { label: string; share: number } => part.share !== null);
  return known.reduce<(typeof known)[number] | null>(
    (most, part) => (most && most.share >= part.share ? most : part),
    null,
  );
}

function opening(info: Info, steps: StepSummary): Fragment[] {
  if (steps.median === null) {
    return [
      'The recording covers ',
      figure(duration(info.end_ns), 'From the first to the last timed event', 'timeline'),
      '. ',
    ];
  }
  const hint = `Median period of ${plural(steps.complete, 'complete step')}`;
  const spread =
    steps.spread === null ? '' : ` (±${steps.spread < 1 ? steps.spread.toFixed(1) : steps.spread.toFixed(0)}\u202f%)`;
  const many = steps.complete === 1 ? 'The one complete step takes ' : 'A step takes ';
  const middle = steps.complete === 1 ? '' : ' in the median';
  return [many, figure(duration(steps.median), hint, 'steps'), `${middle}${spread}. `];
}

function figure(text: string, hint: string, to: Figure['to']): Figure {
  return { text, hint, to };
}

/** `whole` is what the window of the devices covers. */
function deviceSentence(devices: Table, whole: string): Fragment[] {
  const shares = numbers(devices, 'utilization_pct').filter((value): value is number => value !== null);
  if (shares.length === 0) return ['No GPU work was recorded. '];
  const idle = sum(nanoseconds(devices, 'idle_us'));
  const gaps = sum(numbers(devices, 'gaps'));
  const waits = figure(percent(100 - average(shares)), `${duration(idle)} in ${plural(gaps, 'gap')}`, 'idle');
  if (shares.length === 1) {
    return [
      'The GPU works ',
      figure(percent(shares[0]), 'Busy time of the window', 'kernels'),
      ` of ${whole} and idles `,
      waits,
    ];
  }
  const low = Math.min(...shares);
  const high = Math.max(...shares);
  const range = percent(low) === percent(high) ? percent(low) : `${percent(low)} to ${percent(high)}`;
  return [
    `The ${shares.length} GPUs work `,
    figure(range, 'Busy time of the window', 'kernels'),
    ` of ${whole} and idle `,
    waits,
    ' on average',
  ];
}

function average(values: number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

/** A cause below this share of the window is not told; of those above, so many are. */
const TELLING_PERCENT = 1;
const TOLD = 2;

/** What the devices wait for: the largest causes, as shares of their window. */
function waiting(devices: Table, causes: Table | null): Fragment[] {
  const window = sum(nanoseconds(devices, 'window_us'));
  if (!causes || window === 0) return ['. '];
  // What the recording does not show is no verdict on the program.
  const largest = causeTotals(causes, null)
    .filter(({ cause, total }) => cause !== 'late start' && (100 * total) / window >= TELLING_PERCENT)
    .slice(0, TOLD);
  const many = numbers(devices, 'device').length > 1;
  const parts = largest.flatMap(({ cause, total }, i): Fragment[] => {
    const share = percent((100 * total) / window);
    const { phrase, help } = causeTerm(cause);
    const shown: Figure = { text: share, hint: `${duration(total)}. ${help}`, to: 'idle', cause };
    return [i === 0 ? ': in ' : ', in ', shown, many ? ` a GPU ${phrase}` : ` it ${phrase}`];
  });
  return [...parts, '. '];
}

/** Where no device worked, the host is all there is to tell of. */
function hostSentence(steps: Table, those: string): Fragment[] {
  const part = largestHostPart(steps);
  if (!part || part.share < 1) return [];
  const hint = 'Largest part of the steps in which no device works';
  return [`Most time goes to ${part.label}: `, figure(percent(part.share), hint, 'steps'), ` of ${those}.`];
}

/** `causes` is idle time by cause; null while it is on its way. */
export function verdict(info: Info, steps: Table, devices: Table, causes: Table | null): Fragment[] {
  const those = steps.rows === 1 ? 'the step' : 'the steps';
  const whole = steps.rows > 0 ? those : 'that time';
  const result = [...opening(info, summariseSteps(steps)), ...deviceSentence(devices, whole)];
  if (devices.rows > 0) result.push(...waiting(devices, causes));
  const communication = shareOf(steps, 'communication_us') ?? 0;
  if (communication >= 1) {
    const hint = 'Part of the steps in which communication runs and no compute kernel';
    result.push(
      'Communication that no computing hides takes ',
      figure(percent(communication), hint, 'steps'),
      ` of ${those}. `,
    );
  }
  return devices.rows > 0 ? result : [...result, ...hostSentence(steps, those)];
}
