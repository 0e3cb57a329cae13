/** The events behind a check of health, as the timeline goes through them. */
import type { Source, Subject } from '../model/source';
import { nanoseconds, numbers } from '../model/tables';
import type { Table } from '../model/wire';
import type { Marked } from './marked';

/** Events without a time lie nowhere on the timeline: they count, and are not gone to. */
export function readEvents(table: Table, check: string): Marked {
  const ids = numbers(table, 'id');
  const starts = nanoseconds(table, 'start_us');
  const lengths = nanoseconds(table, 'duration_us');
  const placed = ids.map((_, row) => row).filter((row) => ids[row] !== null && starts[row] !== null);
  return {
    of: 'check',
    title: check,
    total: table.rows,
    id: placed.map((row) => ids[row] as number),
    start: placed.map((row) => starts[row] as number),
    length: placed.map((row) => Math.max(0, lengths[row] ?? 0)),
    row: placed.map(() => null),
    bright: null,
  };
}

export async function checkEvents(source: Source, of: Subject, check: string, signal: AbortSignal): Promise<Marked> {
  return readEvents(await source.view(of, 'health_events', { check }, signal), check);
}
