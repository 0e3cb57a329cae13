import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useTable } from '../../model/remote';
import { filter } from '../../model/state';
import { allRows } from '../../model/tables';
import { Choice, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { Field } from '../parts/fields';
import { ViewGrid } from '../parts/view_grid';

const FIGURES: Field[] = [
  { key: 'metric', title: 'Counter', as: 'name' },
  { key: 'ranges', title: 'Ranges', as: 'count' },
  { key: 'total', title: 'Sum', as: 'decimal', width: '132px' },
  { key: 'mean', title: 'Mean', as: 'decimal', width: '132px' },
];
const FIELDS: Record<'metric' | 'name', Field[]> = {
  metric: FIGURES,
  name: [{ key: 'name', title: 'Range', as: 'name' }, ...FIGURES],
};

/** Hardware counters, where the recorder measured any. */
export function Counters(): JSX.Element | null {
  const [by, setBy] = useState<'metric' | 'name'>('metric');
  const range = filter.value;
  const times = range && { start_us: (range.t0 / 1e3).toFixed(3), end_us: (range.t1 / 1e3).toFixed(3) };
  const { data } = useTable('counters', { by, ...times });
  if (!data || data.rows === 0) return null;
  const fields = data.data.name ? FIELDS.name : FIELDS.metric;
  const aside = (
    <>
      <Choice
        label="What a row is"
        value={by}
        options={[
          { value: 'metric', label: 'By counter' },
          { value: 'name', label: 'By kernel', help: 'For each range and counter' },
        ]}
        onChange={setBy}
      />
      <Export table={data} order={allRows(data)} name={`counters-by-${by}`} grid="counters" columns={fields} />
    </>
  );
  return (
    <Section title="Hardware counters" class="counters" aside={aside}>
      <ViewGrid
        label="Hardware counters"
        name="counters"
        table={data}
        fields={fields}
        sort={{ column: 'total', descending: true }}
        testId="counter-row"
        empty="No counter."
      />
    </Section>
  );
}
