import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { wordFilter } from '../../lib/names';
import type { DeviceMemory } from '../../model/memory';
import { useTable } from '../../model/remote';
import { memoryBy, memoryQuery } from '../../model/state';
import { allRows, filterRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { currentRow, toStep } from '../idle/input';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { Field } from '../parts/fields';
import { fitting } from '../parts/sheet';
import { ViewGrid } from '../parts/view_grid';
import { BySelect } from './keys';
import { keyField, PartNotes } from './totals';

const STEPS: Field[] = [
  { key: 'step', title: 'Step', as: 'count', width: '64px' },
  { key: 'live_bytes', title: 'At its end', as: 'bytes', width: '104px' },
  { key: 'growth_bytes', title: 'Growth', as: 'bytes' },
  { key: 'peak_bytes', title: 'Peak', as: 'bytes' },
  { key: 'peak_us', title: 'Peak at', as: 'instant' },
  { key: 'allocated_bytes', title: 'Allocated', as: 'bytes', width: '104px' },
  { key: 'freed_bytes', title: 'Freed', as: 'bytes' },
];
const STEPS_BLOCKS: Field[] = [
  { key: 'churn_bytes', title: 'Churn', as: 'bytes' },
  { key: 'churn_blocks', title: 'Blocks', as: 'count' },
  { key: 'left_bytes', title: 'Left', as: 'bytes' },
  { key: 'left_blocks', title: 'Blocks left', as: 'count', width: '96px' },
];

const GROWTH: Field[] = [
  { key: 'growth_bytes_per_step', title: 'A step', as: 'bytes' },
  { key: 'growth_bytes', title: 'In all', as: 'bytes' },
  { key: 'growth_blocks', title: 'Blocks', as: 'count', width: '72px' },
  { key: 'steps_grown', title: 'Steps grown', as: 'count', width: '104px' },
];

const CHURN: Field[] = [
  { key: 'bytes_per_step', title: 'A step', as: 'bytes' },
  { key: 'blocks_per_step', title: 'Blocks', as: 'decimal', width: '72px' },
  { key: 'largest_bytes', title: 'Largest', as: 'bytes' },
  { key: 'mean_lifetime_us', title: 'Mean life', as: 'time', width: '104px' },
];

/** Memory by step: what stays, and what comes and goes. */
export function Growth({ device, addressed }: { device: DeviceMemory; addressed: boolean }): JSX.Element {
  const by = memoryBy.value;
  const of = { device: device.device };
  const steps = useTable('memory_steps', of);
  const growth = useTable('memory_growth', { ...of, by });
  const churn = useTable('memory_churn', addressed ? { ...of, by } : null);
  const fields = addressed ? [...STEPS, ...STEPS_BLOCKS] : STEPS;
  const problem = steps.problem ?? growth.problem ?? churn.problem;
  if (problem) return <ProblemBox problem={problem} />;
  if (!steps.data || !growth.data?.data[by]) return <Busy what="Comparing the steps…" />;
  return (
    <>
      <PartNotes tables={[steps.data, growth.data, churn.data]} />
      <Section
        title="Step by step"
        class={fitting(steps.data.rows)}
        aside={
          <Export
            table={steps.data}
            order={allRows(steps.data)}
            name="memory-steps"
            grid="memory-steps"
            columns={fields}
          />
        }
      >
        <ViewGrid
          label="Memory, step by step"
          name="memory-steps"
          table={steps.data}
          fields={fields}
          sort={{ column: 'step', descending: false }}
          testId="memory-step"
          current={currentRow(steps.data)}
          onOpen={(row) => toStep(steps.data as Table, row)}
          empty="There are no steps: call prof.step() after each iteration."
        />
      </Section>
      <div class="idle-columns">
        <Sums
          title="What grows, by"
          aside={<BySelect label="" />}
          table={growth.data}
          fields={GROWTH}
          sort="growth_bytes_per_step"
          testId="growth-row"
          empty="Nothing grows from step to step, as far as was recorded."
        />
        {churn.data?.data[by] && (
          <Sums
            title="Churn: allocated and freed within a step"
            table={churn.data}
            fields={CHURN}
            sort="bytes_per_step"
            testId="churn-row"
            empty="No block is allocated and freed within a step."
          />
        )}
      </div>
    </>
  );
}

interface SumsProps {
  title: string;
  aside?: JSX.Element;
  table: Table;
  fields: Field[];
  sort: string;
  testId: string;
  empty: string;
}

function Sums({ title, aside, table, fields, sort, testId, empty }: SumsProps): JSX.Element {
  const by = memoryBy.value;
  const order = useMemo(
    () => filterRows(table, allRows(table), [by], wordFilter(memoryQuery.value)),
    [table, by, memoryQuery.value],
  );
  const shown = useMemo(() => [keyField(by), ...fields], [by, fields]);
  return (
    <Section
      title={title}
      class={fitting(order.length)}
      aside={
        <>
          {aside}
          <Export
            table={table}
            order={order}
            name={`${table.view}-by-${by}`}
            grid={table.view.replace('_', '-')}
            columns={shown}
          />
        </>
      }
    >
      <ViewGrid
        label={title}
        name={table.view.replace('_', '-')}
        table={table}
        fields={shown}
        order={order}
        sort={{ column: sort, descending: true }}
        testId={testId}
        empty={table.rows === 0 ? empty : 'No row matches.'}
      />
    </Section>
  );
}
