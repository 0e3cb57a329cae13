import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { phaseColour } from '../../lib/colours';
import { exactBytes, exactTime, instant, memorySize } from '../../lib/format';
import { ALLOCATED, categoryColour, RESERVED } from '../../lib/memory_colours';
import { tame } from '../../lib/names';
import {
  type Curve,
  categoryLabel,
  changesOf,
  type DeviceMemory,
  entryAt,
  freedParameters,
  highest,
  type Phases,
  phaseAt,
  phaseLabel,
  rangeParameters,
} from '../../model/memory';
import { useTable } from '../../model/remote';
import { info, memoryAt, memoryCapacity, memoryZoom, type Range } from '../../model/state';
import { numbers, sum } from '../../model/tables';
import type { Ink } from '../../timeline/pen';
import { zoomView } from '../../timeline/view';
import { useInstant } from './instant';
import { BAND_ROOM, drawCapacity, drawPeak, drawPhases, drawStack, drawTotals } from './paint';
import { drawAxes, drawBands, type Plot } from './plot';
import { type Spot, Stage } from './stage';

interface ChartProps {
  /** Whose curve it is; null for an export. */
  device: DeviceMemory | null;
  curve: Curve;
  /** Null where none is known. */
  phases: Phases | null;
  range: Range;
  stacked: boolean;
}

/** Memory over time. */
export function Chart(props: ChartProps): JSX.Element {
  return props.device ? <OwnChart {...props} device={props.device} /> : <Drawn {...props} at={memoryAt.value} />;
}

function OwnChart(props: ChartProps & { device: DeviceMemory }): JSX.Element {
  return <Drawn {...props} at={useInstant(props.device).at} />;
}

function Drawn(props: ChartProps & { at: number | null }): JSX.Element {
  const { device, curve, phases, range, stacked, at } = props;
  const peak = device ? { time: device.peakAt, bytes: device.peak } : peakOf(curve);
  const capacity = device && memoryCapacity.value ? device.capacity : null;
  const most = Math.max(capacity ?? 0, ...topsOf(curve, stacked, range)) * (capacity ? 1.04 : 1.12);
  const steps = info.value?.steps;
  const draw = useMemo(
    () => (pen: CanvasRenderingContext2D, plot: Plot, ink: Ink) => {
      const bands =
        steps?.map((one) => ({ t0: one.host_start_ns, t1: one.host_end_ns, label: String(one.step) })) ?? [];
      drawBands(pen, plot, ink, bands);
      drawAxes(pen, plot, ink);
      if (stacked) drawStack(pen, plot, curve);
      else drawTotals(pen, plot, curve);
      if (capacity !== null) drawCapacity(pen, plot, capacity, ink);
      if (peak) drawPeak(pen, plot, ink, peak);
      if (phases) drawPhases(pen, plot, phases);
    },
    [curve, phases, stacked, capacity, peak?.time, peak?.bytes, steps],
  );
  const words = device ? device.device : 'PyTorch’s export';
  return (
    <div
      class="memory-slider"
      role="slider"
      tabIndex={0}
      aria-label={`Instant whose memory is listed, ${words}`}
      aria-valuemin={Math.round(range.t0)}
      aria-valuemax={Math.round(range.t1)}
      aria-valuenow={Math.round(Math.max(range.t0, Math.min(range.t1, at ?? range.t0)))}
      aria-valuetext={at === null ? 'none' : `${instant(at, 1e3)}: ${memorySize(curve.allocated[entryAt(curve, at)])}`}
      onKeyDown={(event) => steer(event, { curve, range, at })}
    >
      <Stage
        testId="memory-curve"
        class="memory-chart"
        label={`Memory of ${words} over time, ${memorySize(peak?.bytes)} at its peak`}
        range={range}
        most={most}
        foot={phases ? BAND_ROOM : 0}
        at={at}
        draw={draw}
        onPick={({ x, plot }) => (memoryAt.value = Math.round(plot.timeOf(x)))}
        tell={(spot) => <Told spot={spot} {...props} />}
      />
    </div>
  );
}

function peakOf(curve: Curve): { time: number; bytes: number } | null {
  const at = highest(curve.allocated);
  return at < 0 ? null : { time: curve.time[at], bytes: curve.allocated[at] };
}

function topsOf({ time, allocated, reserved }: Curve, stacked: boolean, range: Range): number[] {
  const shown = (values: (number | null)[]) =>
    values.reduce<number>((a, value, i) => (time[i] <= range.t1 ? Math.max(a, value ?? 0) : a), 1);
  return [shown(allocated), stacked || !reserved ? 1 : shown(reserved)];
}

/** Keys of the chart: from one change to the next, and closer or farther. */
function steer(event: KeyboardEvent, { curve, range, at }: { curve: Curve; range: Range; at: number | null }): void {
  const { time } = curve;
  const entry = entryAt(curve, at ?? range.t0);
  const step = (by: number) => {
    memoryAt.value = time[Math.max(0, Math.min(time.length - 1, entry + by))] ?? null;
  };
  const zoom = (factor: number) => {
    const inside = at !== null && at >= range.t0 && at <= range.t1;
    const anchor = inside ? at : (range.t0 + range.t1) / 2;
    const next = zoomView(range, factor, anchor, info.value?.end_ns ?? range.t1);
    memoryZoom.value = { t0: Math.floor(next.t0), t1: Math.ceil(next.t1) };
  };
  const actions: Record<string, () => void> = {
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    Home: () => (memoryAt.value = null),
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    '0': () => (memoryZoom.value = null),
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}

/** What the curve shows under the mouse, and what changed there. */
function Told({ spot, device, curve, phases, range, stacked }: ChartProps & { spot: Spot }): JSX.Element | null {
  const time = spot.plot.timeOf(spot.x);
  const entry = entryAt(curve, time);
  if (entry < 0) return null;
  const change = { t0: curve.time[entry], t1: curve.time[entry + 1] ?? Math.max(range.t1, curve.time[entry] + 1) };
  const reserved = curve.reserved?.[entry] ?? null;
  return (
    <>
      <p class="muted">{instant(time, Math.max(1, (range.t1 - range.t0) / 1000))}</p>
      {phases && <Phase phases={phases} time={time} />}
      <Line colour={stacked ? undefined : ALLOCATED} name="Allocated" bytes={curve.allocated[entry]} />
      {!stacked && reserved !== null && <Line colour={RESERVED} name="Reserved" bytes={reserved} />}
      {stacked &&
        [...curve.parts]
          .reverse()
          .filter(({ bytes }) => bytes[entry] !== 0)
          .map(({ category, bytes }) => (
            <Line
              key={category}
              colour={categoryColour(category)}
              name={categoryLabel(category)}
              bytes={bytes[entry]}
            />
          ))}
      {device && <Change device={device} change={change} />}
    </>
  );
}

/** The phase of training that the host was in, and the step: a stretch may begin in the one before. */
function Phase({ phases, time }: { phases: Phases; time: number }): JSX.Element | null {
  const at = phaseAt(phases, time);
  if (at < 0) return null;
  const name = phases.name[at];
  const step = info.value?.steps.find((one) => one.host_start_ns <= time && time < one.host_end_ns)?.step;
  return (
    <p class="tip-line" data-testid="memory-phase">
      <span class="swatch" style={{ background: phaseColour(name) }} /> {phaseLabel(name)}
      <b>{step === undefined ? 'outside all steps' : `step ${step}`}</b>
    </p>
  );
}

function Line({ colour, name, bytes }: { colour?: string; name: string; bytes: number }): JSX.Element {
  return (
    <p class="tip-line">
      {colour && <span class="swatch" style={{ background: colour }} />} {name}
      <b>{memorySize(bytes)}</b>
      <span class="muted">{exactBytes(bytes)}</span>
    </p>
  );
}

/** The mouse has to rest for this long before anything is asked, ms. */
const REST_MS = 140;
const TOLD = 3;

/** Who allocated what came and what went between one point of the curve and the next. */
function Change({ device, change }: { device: DeviceMemory; change: Range }): JSX.Element | null {
  const [rested, setRested] = useState<Range | null>(null);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(change), REST_MS);
    return () => window.clearTimeout(timer);
  }, [device, change.t0, change.t1]);
  const still = rested?.t0 === change.t0 && rested.t1 === change.t1;
  const of = { device: device.device };
  const { data, busy } = useTable('memory_by_op', still ? { ...of, by: 'caller', ...rangeParameters(change) } : null);
  const sums = still && !busy && data?.data.caller ? data : null;
  const [freed, frees] = ['freed_bytes', 'frees'].map((name) => (sums ? sum(numbers(sums, name)) : 0));
  const addressed = device.openBlocks !== null;
  const asked = frees > 0 && addressed ? freedParameters(device.device, change, freed, frees) : null;
  const blocks = useTable('allocations', asked);
  if (!sums || sums.rows === 0 || blocks.busy) return null;
  const all = changesOf(sums, asked && blocks.data, change);
  return (
    <div class="tip-change" data-testid="memory-change">
      <p class="muted" title={exactTime(change.t0)}>
        Changed at {instant(change.t0, 1e3)}
        {frees > 0 && addressed && '; what was freed, by who had allocated it'}
      </p>
      {all.slice(0, TOLD).map(({ owner, allocated, freed }) => (
        <p class="tip-line" key={owner}>
          <span class="name">{ownerWords(owner, addressed)}</span>
          <b>{changeWords(allocated, freed)}</b>
        </p>
      ))}
      {all.length > TOLD && <p class="muted">and {all.length - TOLD} more</p>}
    </div>
  );
}

function ownerWords(owner: string | null, addressed: boolean): string {
  if (owner !== null) return tame(owner) || '(no name)';
  return addressed ? 'from before the recording, or not known' : 'by whom was not recorded';
}

function changeWords(allocated: number, freed: number): string {
  return [allocated > 0 && `+${memorySize(allocated)}`, freed > 0 && `−${memorySize(freed)}`].filter(Boolean).join(' ');
}
