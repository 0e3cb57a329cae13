/** Frames that a search has found. */
import { wordFilter } from '../lib/names';
import type { Flame } from './stacks';
import { texts } from './tables';

export interface Matches {
  /** From the left, callers before what they call. */
  rows: number[];
  /** What they have together; one within another counts once. */
  value: number;
  /** How many there are where not all of them are listed. */
  all: number | null;
}

/** Whether a row is a frame with all the words; null where nothing is looked for. */
export function matcher({ table, small, stackless }: Flame, query: string): ((row: number) => boolean) | null {
  if (query.trim() === '') return null;
  const fits = wordFilter(query);
  const names = texts(table, 'name');
  return (row) => row !== stackless && !small.has(row) && fits(names[row]);
}

const CUT = /^([\d,]+) frames fit; the largest/;

export function matchesOf(flame: Flame, query: string): Matches | null {
  const fits = matcher(flame, query);
  if (!fits) return null;
  const { table, tree, values } = flame;
  const inside: boolean[] = [];
  const rows: number[] = [];
  let value = 0;
  values.forEach((one, row) => {
    const above = tree.parent[row];
    const within = above >= 0 && inside[above];
    const found = one > 0 && fits(row);
    inside[row] = within || found;
    if (found) rows.push(row);
    if (found && !within) value += one;
  });
  const cut = table.notes.map((note) => CUT.exec(note)).find((one) => one !== null);
  return { rows, value, all: cut ? Number(cut[1].replaceAll(',', '')) : null };
}
