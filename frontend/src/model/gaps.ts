/** Gaps of the devices as records, from the `gaps` table. */
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
  };
}

/** The timeline at a gap, with the gap selected. */
export function openGap(gaps: Gaps, row: number): void {
  const gap = gaps.gap[row];
  showInTimeline(gaps.start[row], gaps.duration[row], gap === null ? null : { kind: 'gap', gap });
}
