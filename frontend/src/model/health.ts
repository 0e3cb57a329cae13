/** What was and was not recorded, from the `health` table. */
import { plural } from '../lib/format';
import { numbers, texts } from './tables';
import { type FixName, type Health, SEVERITIES, type Severity, type Table } from './wire';

export interface Check {
  check: string;
  severity: Severity;
  count: number | null;
  share: number | null;
  detail: string;
  hint: string;
  /** Events behind it that can be shown. */
  events: number;
}

export const SEVERITY_WORDS: Record<Severity, string> = { ok: 'OK', info: 'Note', warning: 'Warning', error: 'Error' };

export function severityOf(text: string): Severity {
  return SEVERITIES.find((one) => one === text) ?? 'warning';
}

export function readChecks(table: Table): Check[] {
  const column = { detail: texts(table, 'detail'), hint: texts(table, 'hint'), severity: texts(table, 'severity') };
  const counts = numbers(table, 'count');
  const shares = numbers(table, 'share_pct');
  const events = numbers(table, 'events');
  return texts(table, 'check').map((check, row) => ({
    check,
    severity: severityOf(column.severity[row]),
    count: counts[row],
    share: shares[row],
    detail: column.detail[row],
    hint: column.hint[row],
    events: events[row] ?? 0,
  }));
}

export function hasEvents({ check, events }: Check): boolean {
  // untimed events lie nowhere on the timeline
  return events > 0 && check !== 'untimed events';
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `1 error, 2 warnings`; what is not there is not said. */
export function tally(counts: Partial<Record<Severity, number>>, but: Severity[] = ['ok']): string {
  const words: Record<Severity, string> = {
    ok: 'check without findings',
    info: 'note',
    warning: 'warning',
    error: 'error',
  };
  return [...SEVERITIES]
    .reverse()
    .filter((one) => (counts[one] ?? 0) > 0 && !but.includes(one))
    .map((one) => plural(counts[one] ?? 0, words[one], one === 'ok' ? 'checks without findings' : undefined))
    .join(', ');
}

/** What the rail says: how many checks found something wrong, and how bad the worst is; null when none did. */
export function badgeOf({ worst, counts }: Health): { count: number; severity: Severity; told: string } | null {
  const count = counts.warning + counts.error;
  return count > 0 ? { count, severity: worst, told: `Health: ${tally(counts, ['ok', 'info'])}` } : null;
}

export const FIX_WORDS: Record<
  FixName,
  { title: (events: number) => string; on: string; help: string; told: (events: number) => string }
> = {
  durations: {
    title: (events) => plural(events, 'impossible duration'),
    on: 'repaired',
    help: 'Repaired: each ends where the next work of its stream begins. Raw: as recorded.',
    told: (events) =>
      events === 1
        ? '1 impossible duration ends where the next work of its stream begins.'
        : `${plural(events, 'impossible duration')} end where the next work of their stream begins.`,
  },
  clock: {
    title: () => 'Device clock',
    on: 'moved',
    help: 'Moved: all times of the device are later, so that no work begins before its launch. Raw: as recorded.',
    told: (events) =>
      `All times of the device are later, because ${plural(events, 'work')} ${events === 1 ? 'begins' : 'begin'} before the launch.`,
  },
};
