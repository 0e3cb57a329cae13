import type { JSX } from 'preact';
import { duration, exactTime, percent } from '../../lib/format';
import { useTable } from '../../model/remote';
import { filter, filterParameters, filterStep, info, showCause } from '../../model/state';
import { allRows, nanoseconds, numbers, sum } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import type { Field } from '../parts/fields';
import { ViewGrid } from '../parts/view_grid';
import { Remarks } from './remarks';

const STEPS: Field[] = [
  { key: 'step', title: 'Step', as: 'count', width: '64px' },
  { key: 'period_us', title: 'Step time', as: 'time', width: '104px' },
  { key: 'loader_us', title: 'Loading', as: 'time' },
  { key: 'loader_pct', title: 'Of step', as: 'percent' },
  { key: 'waited_us', title: 'Device waited', as: 'time', width: '136px' },
  { key: 'loader_idle_us', title: 'No device work', as: 'time', width: '144px' },
  { key: 'batches', title: 'Batches', as: 'count', width: '76px' },
  { key: 'copied_bytes', title: 'Copied', as: 'bytes' },
  { key: 'copy_us', title: 'Copying', as: 'time' },
  { key: 'copy_hidden_us', title: 'Hidden', as: 'time' },
  { key: 'gb_per_s', title: 'GB/s', as: 'decimal', width: '64px' },
  { key: 'pageable_bytes', title: 'Pageable', as: 'bytes' },
  { key: 'copies', title: 'Copies', as: 'count', width: '72px' },
];

const COPIES: Field[] = [
  { key: 'device', title: 'GPU', as: 'count', width: '56px' },
  { key: 'direction', title: 'Direction', as: 'text', width: '88px' },
  { key: 'memory', title: 'Host memory', as: 'text', width: '108px' },
  { key: 'copies', title: 'Copies', as: 'count', width: '72px' },
  { key: 'bytes', title: 'Bytes', as: 'bytes' },
  { key: 'total_us', title: 'Total', as: 'time' },
  { key: 'gb_per_s', title: 'GB/s', as: 'decimal', width: '72px' },
  { key: 'hidden_us', title: 'Hidden', as: 'time' },
  { key: 'exposed_us', title: 'Exposed', as: 'time' },
];

const NO_STEP: Field = { ...STEPS[0], none: 'window' };

/** Where batches come from: loading per step, and the copies. */
export function InputPipeline(): JSX.Element {
  const pipeline = useTable('input_pipeline', {});
  const copies = useTable('copies', filterParameters(filter.value));
  const problem = pipeline.problem ?? copies.problem;
  if (problem) return <ProblemBox problem={problem} />;
  if (!pipeline.data || !copies.data) return <Busy what="Following the batches…" />;
  const steps = info.value?.steps.length ? STEPS : [NO_STEP, ...STEPS.slice(1)];
  return (
    <>
      <p class="verdict">
        <Sentence table={pipeline.data} />
      </p>
      <Remarks notes={[...pipeline.data.notes, ...copies.data.notes]} />
      <Section
        title="Step by step"
        class="grow"
        aside={
          <Export
            table={pipeline.data}
            order={allRows(pipeline.data)}
            name="input-pipeline"
            grid="input-steps"
            columns={steps}
          />
        }
      >
        <ViewGrid
          label="Input, step by step"
          name="input-steps"
          table={pipeline.data}
          fields={steps}
          sort={{ column: 'step', descending: false }}
          testId="input-row"
          current={currentRow(pipeline.data)}
          onOpen={(row) => toStep(pipeline.data as Table, row)}
          empty="Nothing was recorded."
        />
      </Section>
      <Section
        title="Copies"
        class="grow"
        aside={<Export table={copies.data} order={allRows(copies.data)} name="copies" grid="copies" columns={COPIES} />}
      >
        <ViewGrid
          label="Copies by direction and kind of host memory"
          name="copies"
          table={copies.data}
          fields={COPIES}
          sort={{ column: 'total_us', descending: true }}
          testId="copy-row"
          empty="No copy was recorded."
        />
      </Section>
    </>
  );
}

/** Row of the step that all pages are narrowed to. */
export function currentRow(table: Table): number | null {
  const step = filter.value?.step ?? null;
  return step === null ? null : numbers(table, 'step').indexOf(step);
}

/** Narrows every page to the step of a row. */
export function toStep(table: Table, row: number): void {
  const number = numbers(table, 'step')[row];
  const step = info.value?.steps.find((one) => one.step === number);
  if (step) filterStep(step);
}

function Sentence({ table }: { table: Table }): JSX.Element {
  const waited = sum(nanoseconds(table, 'waited_us'));
  const loading = sum(nanoseconds(table, 'loader_us'));
  const whole = sum(nanoseconds(table, 'period_us')) || 1;
  const steps = Math.max(1, table.rows);
  const each = info.value?.steps.length ? ' a step' : '';
  if (loading === 0) return <>No data loader was seen at work.</>;
  return (
    <>
      Loading takes <b title={exactTime(loading)}>{duration(loading / steps)}</b>
      {each}; the GPU waits{' '}
      <button type="button" class="figure" title="Its gaps, by cause" onClick={() => showCause('data loading')}>
        {duration(waited / steps)}
      </button>
      {each} for it, {percent((100 * waited) / whole)} of the time.
    </>
  );
}
