import type { JSX } from 'preact';
import { kindColour, STEP_PARTS } from '../../lib/colours';
import { duration, exactTime, percent, tick, timeScale } from '../../lib/format';
import { roundStep } from '../../lib/histogram';
import { filter, filterStep, type SplitView, splitView, theme } from '../../model/state';
import { column, nanoseconds, sum } from '../../model/tables';
import { summariseSteps } from '../../model/verdict';
import type { Info, Kind, Table } from '../../model/wire';
import { Choice, Section } from '../parts/bits';
import { type Part, PartsTable } from './parts';

const WORK = STEP_PARTS.filter((part) => part.device);
const HOST = STEP_PARTS.filter((part) => !part.device);

/** The nine parts as they are, or one side of them with the other side as one part. */
export function stepParts(table: Table, view: SplitView): Part[] {
  const single = (part: (typeof STEP_PARTS)[number]): Part => ({ ...part, values: nanoseconds(table, part.key) });
  const joined = (label: string, kind: Kind, parts: typeof STEP_PARTS): Part => {
    const columns = parts.map((part) => nanoseconds(table, part.key));
    return { label, kind, values: columns[0].map((_, row) => sum(columns.map((values) => values[row]))) };
  };
  if (view === 'device') return [...WORK.map(single), joined('No device work', 'other', HOST)];
  if (view === 'host') return [joined('Device works', 'kernel', WORK), ...HOST.map(single)];
  return STEP_PARTS.map(single);
}

const VIEWS: { value: SplitView; label: string; help: string }[] = [
  {
    value: 'all',
    label: 'All',
    help: 'Every instant goes to the first that holds: device work, then what the host was doing',
  },
  { value: 'device', label: 'Device', help: 'What the devices were doing; the rest in one part' },
  { value: 'host', label: 'Host', help: 'What the host was doing while no device worked' },
];

/** Pixels of the widest bar with its gap, of the axis, and of the least room for the median's label. */
const WIDEST = 124;
const ROOM = 48;
const LEAST = 240;

export function Steps({ table, info }: { table: Table; info: Info }): JSX.Element {
  const parts = stepParts(table, splitView.value).filter((part) => part.values.some((value) => (value ?? 0) > 0));
  const periods = nanoseconds(table, 'period_us');
  const summary = summariseSteps(table);
  const most = periods.reduce<number>((a, value) => Math.max(a, value ?? 0), 1) * 1.12;
  const aside = (
    <Choice
      label="Parts of a step"
      value={splitView.value}
      options={VIEWS}
      onChange={(value) => (splitView.value = value)}
    />
  );
  return (
    <Section title="Where a step goes" id="steps" aside={aside}>
      <div class="steps-body">
        <div class="steps" style={{ maxWidth: `${ROOM + Math.max(LEAST, periods.length * WIDEST)}px` }}>
          <Axis most={most} />
          <div class="steps-plot">
            <div class="steps-bars">
              {periods.map((_, row) => (
                <StepBar
                  key={info.steps[row]?.step ?? row}
                  table={table}
                  row={row}
                  parts={parts}
                  most={most}
                  info={info}
                />
              ))}
            </div>
            {summary.median !== null && (
              <div class="median" style={{ bottom: `${(100 * summary.median) / most}%` }}>
                <span>median {duration(summary.median)}</span>
              </div>
            )}
          </div>
        </div>
        <PartsTable table={table} parts={parts} />
      </div>
    </Section>
  );
}

function Axis({ most }: { most: number }): JSX.Element {
  const scale = timeScale(most);
  const step = roundStep(most / 4);
  const marks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
  return (
    <div class="steps-axis" aria-hidden="true">
      {marks.map((mark) => (
        <span key={mark} style={{ bottom: `${(100 * mark) / most}%` }}>
          {mark === 0 ? `0\u202f${scale.unit}` : tick(mark, scale)}
        </span>
      ))}
    </div>
  );
}

interface StepBarProps {
  table: Table;
  row: number;
  parts: Part[];
  most: number;
  info: Info;
}

function StepBar({ table, row, parts, most, info }: StepBarProps): JSX.Element {
  const number = Number(column(table, 'step')[row]);
  const incomplete = column(table, 'incomplete')[row] === true;
  const period = nanoseconds(table, 'period_us')[row] ?? 0;
  const step = info.steps.find((one) => one.step === number);
  const told = parts
    .filter((part) => (part.values[row] ?? 0) > 0)
    .map(
      (part) => `${part.label}: ${duration(part.values[row])} (${percent((100 * (part.values[row] ?? 0)) / period)})`,
    );
  const title = [
    `Step ${number}: ${exactTime(period)}${incomplete ? ', incomplete: left out of means' : ''}`,
    ...told,
  ].join('\n');
  return (
    <button
      type="button"
      class={incomplete ? 'step incomplete' : 'step'}
      data-testid="step-bar"
      data-step={number}
      title={title}
      aria-label={title}
      aria-pressed={filter.value?.step === number}
      onClick={() => step && filterStep(step)}
    >
      <span class="step-stack" style={{ height: `${(100 * period) / most}%` }}>
        {parts.map((part) => (
          <span
            key={part.label}
            style={{ flexGrow: part.values[row] ?? 0, background: kindColour(part.kind, theme.value) }}
          />
        ))}
      </span>
      <span class="step-label">{number}</span>
    </button>
  );
}
