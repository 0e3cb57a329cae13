import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { PHASES, phaseColour } from '../../lib/colours';
import { instant, memorySize } from '../../lib/format';
import { ALLOCATED, categoryColour, RESERVED } from '../../lib/memory_colours';
import {
  type Curve,
  categoryLabel,
  type DeviceMemory,
  type Phases,
  phaseLabel,
  rangeParameters,
  readCurve,
  readPhases,
} from '../../model/memory';
import { useTable } from '../../model/remote';
import {
  filter,
  type MemoryCurve,
  memoryAt,
  memoryCapacity,
  memoryCurve,
  memoryZoom,
  type Range,
  showInTimeline,
} from '../../model/state';
import { describe } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { Help } from '../parts/help';
import { Chart } from './chart';
import { useInstant } from './instant';

/** More points than the widest screen has pixels. */
const POINTS = 4000;
/** Room around an instant in the timeline, ns. */
const AROUND_NS = 50_000;

interface CurveProps {
  /** Null where only an export tells of memory. */
  device: DeviceMemory | null;
  range: Range;
  /** Whether blocks are known, and with them categories. */
  addressed: boolean;
  /** Whether PyTorch exported a timeline of its own. */
  exported: boolean;
}

const CURVES: { value: MemoryCurve; label: string; help: string }[] = [
  { value: 'total', label: 'Totals', help: 'Allocated and reserved' },
  { value: 'category', label: 'Categories', help: 'What is allocated, by what it is for' },
  { value: 'exported', label: 'Export', help: 'What export_memory_timeline wrote beside the trace' },
];

/** The curve of a device with its switches and its legend. */
export function CurvePanel(props: CurveProps): JSX.Element {
  const { device, range, addressed, exported } = props;
  const offered = { total: device !== null, category: addressed, exported };
  const options = CURVES.filter(({ value }) => offered[value]);
  const kind = offered[memoryCurve.value] ? memoryCurve.value : (options[0]?.value ?? 'total');
  const own = kind !== 'exported';
  const asked = { ...rangeParameters(range), points: POINTS };
  const timeline = useTable('memory_timeline', own && device ? { ...asked, device: device.device, by: kind } : null);
  const export_ = useTable('memory_exported', own ? null : asked);
  const { data, problem } = own ? timeline : export_;
  const curve = useMemo(() => data && readCurve(data), [data]);
  const ranges = useTable('phase_ranges', { longest: POINTS, ...rangeParameters(range) }).data;
  const phases = useMemo(() => (ranges && ranges.rows > 0 ? readPhases(ranges) : null), [ranges]);
  // While another range is on its way, the answer before it is shown where it belongs.
  const fits = data?.view === (own ? 'memory_timeline' : 'memory_exported');
  return (
    <Section
      title={own && device ? `Memory of ${device.device} over time` : 'Memory timeline that PyTorch exported'}
      class="memory-panel"
      aside={<Switches options={options} kind={kind} device={device} />}
    >
      {problem && <ProblemBox problem={problem} />}
      {!curve && !problem && <Busy what="Following the memory…" />}
      {curve && data && fits && (
        <>
          <Chart device={own ? device : null} curve={curve} phases={phases} range={range} stacked={kind !== 'total'} />
          <Legend curve={curve} stacked={kind !== 'total'} table={data} />
          {phases && ranges && <PhaseLegend phases={phases} table={ranges} />}
        </>
      )}
    </Section>
  );
}

function Switches(props: { options: typeof CURVES; kind: MemoryCurve; device: DeviceMemory | null }): JSX.Element {
  const { options, kind, device } = props;
  return (
    <>
      {device && device.capacity !== null && kind !== 'exported' && (
        <button
          type="button"
          class="quiet"
          data-testid="memory-capacity"
          aria-pressed={memoryCapacity.value}
          title={`Leave room for the ${memorySize(device.capacity)} of the device`}
          onClick={() => (memoryCapacity.value = !memoryCapacity.value)}
        >
          Show capacity
        </button>
      )}
      {options.length > 1 && (
        <Choice label="Curve" value={kind} options={options} onChange={(value) => (memoryCurve.value = value)} />
      )}
      {memoryAt.value !== null && (
        <button type="button" class="quiet" data-testid="memory-to-peak" onClick={() => (memoryAt.value = null)}>
          Back to the peak
        </button>
      )}
      {device && <ToTimeline device={device} />}
      {memoryZoom.value && <Zoomed zoom={memoryZoom.value} />}
    </>
  );
}

function ToTimeline({ device }: { device: DeviceMemory }): JSX.Element {
  const { at } = useInstant(device);
  return (
    <button
      type="button"
      class="quiet"
      data-testid="memory-to-timeline"
      title={`The timeline at ${instant(at, 1e3)}`}
      onClick={() => showInTimeline(at - AROUND_NS, 2 * AROUND_NS, null, 0)}
    >
      Instant in timeline
    </button>
  );
}

function Zoomed({ zoom }: { zoom: Range }): JSX.Element {
  return (
    <>
      <button
        type="button"
        class="quiet"
        title="Narrows every page to this time"
        onClick={() => {
          filter.value = { ...zoom, step: null };
          memoryZoom.value = null;
        }}
      >
        Use as time range
      </button>
      <button type="button" class="chip" data-testid="memory-unzoom" onClick={() => (memoryZoom.value = null)}>
        <span class="chip-text">zoomed</span> <span aria-hidden="true">✕</span>
      </button>
    </>
  );
}

/** What the band below the plot shows. */
function PhaseLegend({ phases, table }: { phases: Phases; table: Table }): JSX.Element {
  const some = PHASES.filter((phase) => phases.name.includes(phase));
  return (
    <ul class="memory-legend" data-testid="phase-legend">
      <li class="muted">
        <Help
          text={[`The band below the curve: what the host was doing, ${describe(table, 'phase')}`, ...table.notes].join(
            ' ',
          )}
        >
          Phases
        </Help>
      </li>
      {some.map((phase) => (
        <li key={phase}>
          <span class="swatch" style={{ background: phaseColour(phase) }} /> {phaseLabel(phase)}
        </li>
      ))}
    </ul>
  );
}

function Legend({ curve, stacked, table }: { curve: Curve; stacked: boolean; table: Table }): JSX.Element {
  const parts = stacked
    ? [...curve.parts].reverse().map(({ category }) => ({
        colour: categoryColour(category),
        name: categoryLabel(category),
        help: describe(table, `${category}_bytes`),
      }))
    : [
        { colour: ALLOCATED, name: 'allocated', help: describe(table, 'allocated_bytes') },
        ...(curve.reserved ? [{ colour: RESERVED, name: 'reserved', help: describe(table, 'reserved_bytes') }] : []),
      ];
  return (
    <ul class="memory-legend" data-testid="memory-legend">
      {parts.map(({ colour, name, help }) => (
        <li key={name}>
          <span class="swatch" style={{ background: colour }} /> <Help text={help}>{name}</Help>
        </li>
      ))}
      <li class="muted">Click picks an instant, dragging zooms.</li>
    </ul>
  );
}
