import type { JSX } from 'preact';
import { categoryColour } from '../../lib/memory_colours';
import { sourceLabel, tame } from '../../lib/names';
import { categoryLabel, KEY_WORDS } from '../../model/memory';
import { MEMORY_KEYS, type MemoryBy, memoryBy, memoryGroup } from '../../model/state';
import { column, describe } from '../../model/tables';
import type { Cell, Table } from '../../model/wire';
import type { GridColumn } from '../parts/grid';

/** What blocks are grouped by. */
export function BySelect({ label = 'Group by' }: { label?: string }): JSX.Element {
  return (
    <label class="inline">
      {label}{' '}
      <select
        data-testid="memory-by"
        aria-label={label || 'Group by'}
        value={memoryBy.value}
        onChange={(event) => {
          memoryGroup.value = null;
          memoryBy.value = MEMORY_KEYS.find((one) => one === event.currentTarget.value) ?? 'caller';
        }}
      >
        {MEMORY_KEYS.map((key) => (
          <option key={key} value={key}>
            {KEY_WORDS[key].title}
          </option>
        ))}
      </select>
    </label>
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
        {by === 'category' && (
          <span class="swatch" style={{ background: categoryColour(String(values[row] ?? 'unknown')) }} />
        )}{' '}
        <span class={values[row] === null ? 'muted' : 'name'} title={String(values[row] ?? '')}>
          {groupLabel(by, values[row])}
        </span>
      </>
    ),
  };
}
