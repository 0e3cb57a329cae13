/** Which columns of a table are hidden, remembered by the browser: `calls` is hidden, `+copies` shown though it is extra. */
import { signal } from '@preact/signals';
import { recall, remember } from '../lib/browser';

/** What is known of a column here. */
export interface ColumnKey {
  key: string;
  /** Columns of the view that it shows; the one of its key without. */
  of?: string[];
  /** Hidden until somebody asks for it. */
  extra?: boolean;
}

const choices = signal<Record<string, readonly string[]>>({});

const place = (table: string) => `columns.${table}`;
/** What the browser remembered when it was first asked. */
const recalled = new Map<string, readonly string[]>();

/** What somebody chose for the columns of a table. */
function marks(table: string): readonly string[] {
  const chosen = choices.value[table] ?? recalled.get(table);
  if (chosen) return chosen;
  const kept = (recall(place(table)) ?? '').split(' ').filter(Boolean);
  recalled.set(table, kept);
  return kept;
}

function keep(table: string, chosen: readonly string[]): void {
  choices.value = { ...choices.value, [table]: chosen };
  remember(place(table), chosen.join(' '));
}

/** Keys of the columns of a table that somebody hid. */
export function hiddenColumns(table: string): readonly string[] {
  return marks(table).filter((one) => !one.startsWith('+'));
}

export function hideColumn(table: string, key: string, hidden: boolean): void {
  const others = marks(table).filter((one) => one !== key && one !== `+${key}`);
  keep(table, [...others, hidden ? key : `+${key}`]);
}

/** Shows all columns of a table, the extra ones among those given too. */
export function showAllColumns(table: string, columns: ColumnKey[] = []): void {
  keep(
    table,
    columns.filter((one) => one.extra).map((one) => `+${one.key}`),
  );
}

/** The columns to show; the first says what a row is, and always stays. */
export function shownColumns<C extends ColumnKey>(table: string | undefined, columns: C[]): C[] {
  if (table === undefined) return columns;
  const chosen = marks(table);
  const hidden = ({ key, extra }: C) => chosen.includes(key) || (extra === true && !chosen.includes(`+${key}`));
  return columns.filter((one, i) => i === 0 || !hidden(one));
}

/** Columns of the view that an export leaves out: those that somebody hid, and that no other column is made of. */
export function hiddenOfView(table: string | undefined, columns: ColumnKey[]): string[] {
  const hidden = table === undefined ? [] : hiddenColumns(table);
  const shown = columns.filter((one, i) => i === 0 || !hidden.includes(one.key));
  const names = ({ key, of }: ColumnKey) => of ?? [key];
  const kept = shown.flatMap(names);
  return columns
    .filter((one) => !shown.includes(one))
    .flatMap(names)
    .filter((name) => !kept.includes(name));
}
