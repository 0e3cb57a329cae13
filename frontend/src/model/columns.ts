/** Which columns of a table are hidden, remembered by the browser. */
import { signal } from '@preact/signals';
import { recall, remember } from '../lib/browser';

/** What is known of a column here. */
export interface ColumnKey {
  key: string;
  /** Columns of the view that it shows; the one of its key without. */
  of?: string[];
}

const choices = signal<Record<string, readonly string[]>>({});

const place = (table: string) => `columns.${table}`;
/** What the browser remembered when it was first asked. */
const recalled = new Map<string, readonly string[]>();

/** Keys of the hidden columns of a table. */
export function hiddenColumns(table: string): readonly string[] {
  const chosen = choices.value[table] ?? recalled.get(table);
  if (chosen) return chosen;
  const kept = (recall(place(table)) ?? '').split(' ').filter(Boolean);
  recalled.set(table, kept);
  return kept;
}

function keep(table: string, hidden: readonly string[]): void {
  choices.value = { ...choices.value, [table]: hidden };
  remember(place(table), hidden.join(' '));
}

export function hideColumn(table: string, key: string, hidden: boolean): void {
  const others = hiddenColumns(table).filter((one) => one !== key);
  keep(table, hidden ? [...others, key] : others);
}

export function resetColumns(table: string): void {
  keep(table, []);
}

/** The columns to show; the first says what a row is, and always stays. */
export function shownColumns<C extends ColumnKey>(table: string | undefined, columns: C[]): C[] {
  if (table === undefined) return columns;
  const hidden = hiddenColumns(table);
  return columns.filter((one, i) => i === 0 || !hidden.includes(one.key));
}

/** Columns of the view that an export leaves out: those that are hidden, and that no shown column is made of. */
export function hiddenOfView(table: string | undefined, columns: ColumnKey[]): string[] {
  const shown = shownColumns(table, columns);
  const names = ({ key, of }: ColumnKey) => of ?? [key];
  const kept = shown.flatMap(names);
  return columns
    .filter((one) => !shown.includes(one))
    .flatMap(names)
    .filter((name) => !kept.includes(name));
}
