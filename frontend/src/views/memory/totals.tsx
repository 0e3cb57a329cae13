import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { wordFilter } from '../../lib/names';
import { type DeviceMemory, KEY_WORDS, rangeParameters } from '../../model/memory';
import { useTable } from '../../model/remote';
import { filter, filterParameters, type MemoryBy, memoryBy, memoryQuery, memoryZoom } from '../../model/state';
import { allRows, filterRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Remarks } from '../idle/remarks';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { Field } from '../parts/fields';
import { fitting } from '../parts/sheet';
import { ViewGrid } from '../parts/view_grid';
import { BySelect } from './keys';

const LEFT: Field = { key: 'left_bytes', title: 'Left at the end', as: 'bytes', width: '120px' };
const TOTALS: Field[] = [
  { key: 'allocated_bytes', title: 'Allocated', as: 'bytes', width: '104px' },
  { key: 'allocations', title: 'Allocations', as: 'count', width: '100px' },
  { key: 'freed_bytes', title: 'Freed', as: 'bytes' },
  { key: 'frees', title: 'Frees', as: 'count', width: '72px' },
  {
    key: 'net_bytes',
    title: 'Net while it ran',
    as: 'bytes',
    width: '124px',
    help: 'Allocated − freed while it ran. A free counts for what ran then, whoever had allocated the block: below 0 it freed what was of others. What stays of its own blocks is “Left at the end”.',
  },
  { key: 'calls', title: 'Calls', as: 'count', width: '72px' },
];

/** The groups of a table without bars. */
export function keyField(by: MemoryBy): Field {
  const as = by === 'source' ? 'source' : 'name';
  return { key: by, title: KEY_WORDS[by].title, as, width: 'auto', none: KEY_WORDS[by].none };
}

/** What the views of a part say beside their figures, and the page has not said above. */
export function PartNotes({ tables }: { tables: (Table | null)[] }): JSX.Element {
  const said = useTable('memory', {}).data?.notes ?? [];
  return <Remarks notes={tables.flatMap((table) => table?.notes ?? []).filter((note) => !said.includes(note))} />;
}

/** What views say beside their figures, once. */
export function MemoryNotes({ tables }: { tables: (Table | null)[] }): JSX.Element {
  return <Remarks notes={tables.flatMap((table) => table?.notes ?? [])} />;
}

/** What was allocated and freed in the time that is shown, by who did it. */
export function Totals({ device, addressed }: { device: DeviceMemory; addressed: boolean }): JSX.Element {
  const by = memoryBy.value;
  const zoom = memoryZoom.value;
  const when = zoom ? rangeParameters(zoom) : filterParameters(filter.value);
  const { data, problem } = useTable('memory_by_op', { by, device: device.device, ...when });
  const order = useMemo(
    () => (data?.data[by] ? filterRows(data, allRows(data), [by], wordFilter(memoryQuery.value)) : []),
    [data, by, memoryQuery.value],
  );
  const fields = useMemo(() => [keyField(by), ...(addressed ? [LEFT] : []), ...TOTALS], [by, addressed]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!data?.data[by]) return <Busy what="Adding up…" />;
  return (
    <Section
      title="Allocated and freed, by"
      class={fitting(order.length)}
      aside={
        <>
          <BySelect label="" />
          {(zoom || filter.value) && <span class="muted">in the time that is shown</span>}
          <Export table={data} order={order} name={`memory-by-${by}`} grid="memory-totals" columns={fields} />
        </>
      }
    >
      <ViewGrid
        label="Allocated and freed"
        name="memory-totals"
        table={data}
        fields={fields}
        order={order}
        sort={{ column: 'allocated_bytes', descending: true }}
        testId="total-row"
        empty={data.rows === 0 ? 'Nothing was allocated or freed.' : 'No row matches.'}
      />
    </Section>
  );
}
