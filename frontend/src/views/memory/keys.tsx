import type { JSX } from 'preact';
import { phaseColour } from '../../lib/colours';
import { categoryColour } from '../../lib/memory_colours';
import { sourceLabel, tame } from '../../lib/names';
import { categoryLabel, KEY_WORDS } from '../../model/memory';
import { MEMORY_KEYS, type MemoryBy, memoryBy, memoryGroup } from '../../model/state';
import { column, describe } from '../../model/tables';
import type { Cell, Table } from '../../model/wire';
import { GroupBy } from '../parts/group_by';
import type { GridColumn } from '../parts/sheet';

const LABELS = Object.fromEntries(MEMORY_KEYS.map((key) => [key, KEY_WORDS[key].title]));

/** What blocks are grouped by. */
export function BySelect({ label }: { label?: string }): JSX.Element {
  return (
    <GroupBy
      testId="memory-by"
      label={label}
      value={memoryBy.value}
      tokens={MEMORY_KEYS}
      labels={LABELS}
      onChange={(token) => {
        memoryGroup.value = null;
        memoryBy.value = MEMORY_KEYS.find((one) => one === token) ?? 'caller';
      }}
    />
  );
}

/** A group as a sentence has it. */
export function groupLabel(by: MemoryBy, value: Cell): string {
  if (value === null) return KEY_WORDS[by].none;
  const text = String(value);
  if (by === 'category') return categoryLabel(text);
  if (by === 'module') return text.replace(/^nn\.Module: (?=.)/, '');
  if (by === 'source') return sourceLabel(text) ?? tame(text);
  return tame(text) || '(no name)';
}

/** Colour of a group that has one everywhere. */
export function fixedColour(by: string, value: Cell): string | null {
  if (by === 'category') return categoryColour(String(value ?? 'unknown'));
  return by === 'phase' ? phaseColour(String(value ?? '')) : null;
}

/** The groups of a table, by what it is grouped by. */
export function keyColumn(table: Table, by: MemoryBy): GridColumn {
  const values = column(table, by);
  return {
    key: by,
    title: KEY_WORDS[by].title,
    help: describe(table, by),
    width: 'auto',
    cell: (row) => (
      <>
        {fixedColour(by, values[row]) && (
          <span class="swatch" style={{ background: fixedColour(by, values[row]) ?? '' }} />
        )}{' '}
        <span class={values[row] === null ? 'muted' : 'name'} title={String(values[row] ?? '')}>
          {groupLabel(by, values[row])}
        </span>
      </>
    ),
  };
}
