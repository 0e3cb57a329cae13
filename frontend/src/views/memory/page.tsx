import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, exactBytes, exactTime, instant, MISSING, memorySize, percent } from '../../lib/format';
import { tame } from '../../lib/names';
import { chosenDevice, type DeviceMemory, readDevices, shownRange } from '../../model/memory';
import { useTable } from '../../model/remote';
import {
  filter,
  MEMORY_PARTS,
  type MemoryPart,
  memoryAt,
  memoryDevice,
  memoryGroup,
  memoryPart,
  memoryZoom,
} from '../../model/state';
import { describe } from '../../model/tables';
import type { Info, Table } from '../../model/wire';
import { Busy, ProblemBox } from '../parts/bits';
import { Help } from '../parts/help';
import { Tabs } from '../parts/tabs';
import { CurvePanel } from './curve';
import { Growth } from './growth';
import { Live } from './live';
import { MapPart } from './map';
import { MemoryNotes, Totals } from './totals';

const WORDS: Record<MemoryPart, { title: string; help: string }> = {
  live: { title: 'What is live', help: 'Who holds the memory at the peak, or at any instant' },
  growth: { title: 'Growth and churn', help: 'What stays from step to step, and what comes and goes' },
  totals: { title: 'Allocated and freed', help: 'Who allocates and frees how much' },
  map: { title: 'Block map', help: 'Every block by time and size or address' },
};

export function MemoryPage({ info }: { info: Info }): JSX.Element {
  const { data, problem } = useTable('memory', {});
  const exported = useTable('memory_exported', { points: 2 });
  const devices = useMemo(() => (data ? readDevices(data) : []), [data]);
  const device = chosenDevice(devices, memoryDevice.value);
  return (
    <div class="page fixed memory-page" data-testid="page-memory">
      <h1 class="offscreen">Memory</h1>
      {problem && <ProblemBox problem={problem} />}
      {!data && !problem && <Busy what="Reading the memory events…" />}
      {data && <MemoryNotes tables={[data, exported.data && exported.data.rows > 0 ? exported.data : null]} />}
      {data && device && (
        <OfDevice
          table={data}
          devices={devices}
          device={device}
          end={info.end_ns}
          exported={(exported.data?.rows ?? 0) > 0}
        />
      )}
      {data && !device && exported.data && exported.data.rows > 0 && (
        <CurvePanel
          device={null}
          range={shownRange(memoryZoom.value, filter.value, info.end_ns)}
          addressed={false}
          exported
        />
      )}
    </div>
  );
}

interface DeviceProps {
  table: Table;
  devices: DeviceMemory[];
  device: DeviceMemory;
  end: number;
  exported: boolean;
}

function OfDevice({ table, devices, device, end, exported }: DeviceProps): JSX.Element {
  const range = useMemo(() => shownRange(memoryZoom.value, filter.value, end), [memoryZoom.value, filter.value, end]);
  const part = memoryPart.value;
  const addressed = device.openBlocks !== null;
  return (
    <>
      <div class="headline">
        <p class="verdict" data-testid="memory-verdict">
          <Sentence device={device} />
        </p>
        <DevicePicker devices={devices} device={device} />
      </div>
      <Figures table={table} device={device} />
      <CurvePanel device={device} range={range} addressed={addressed} exported={exported} />
      <Tabs
        id="memory"
        label="Parts of memory"
        parts={MEMORY_PARTS}
        words={WORDS}
        value={part}
        onPick={(next) => (memoryPart.value = next)}
      />
      <div
        class="tab-panel"
        role="tabpanel"
        id="memory-panel"
        aria-labelledby={`memory-tab-${part}`}
        data-testid={`part-${part}`}
      >
        {part === 'live' && <Live device={device} addressed={addressed} />}
        {part === 'growth' && <Growth device={device} addressed={addressed} />}
        {part === 'totals' && <Totals device={device} addressed={addressed} />}
        {part === 'map' && <MapPart device={device} range={range} addressed={addressed} />}
      </div>
    </>
  );
}

/** Each device apart: bytes of two devices are not added up. */
function DevicePicker({ devices, device }: { devices: DeviceMemory[]; device: DeviceMemory }): JSX.Element {
  return (
    <label class="inline">
      Device{' '}
      <select
        data-testid="memory-device"
        value={device.device}
        onChange={(event) => {
          memoryDevice.value = event.currentTarget.value;
          memoryGroup.value = null;
          memoryAt.value = null;
        }}
      >
        {devices.map((one) => (
          <option key={one.device} value={one.device}>
            {tame(one.device)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What was there before is missing in bytes that are added up from 0. */
const FROM_ZERO = 'Added up from 0: what was allocated before the recording is not known.';

function Sentence({ device }: { device: DeviceMemory }): JSX.Element {
  const { peak, peakAt, peakReserved, capacity, share, recorded } = device;
  if (!recorded && peak <= 0) {
    return (
      <>
        {tame(device.device)}: only memory from before the recording was freed,{' '}
        <b title={exactBytes(-device.end)}>{memorySize(-device.end)}</b> of it. How much there was is not known, so that
        bytes added up from 0 are below 0.
      </>
    );
  }
  return (
    <>
      {tame(device.device)} peaks at{' '}
      <button
        type="button"
        class="figure"
        title={`${exactBytes(peak)} at ${exactTime(peakAt)}: show what is live then`}
        onClick={() => {
          memoryAt.value = null;
          memoryPart.value = 'live';
        }}
      >
        {memorySize(peak)}
      </button>{' '}
      allocated, at {instant(peakAt, 1e3)}
      {peakReserved !== null && (
        <>
          ; <b title={exactBytes(peakReserved)}>{memorySize(peakReserved)}</b> were reserved
        </>
      )}
      {capacity !== null && share !== null && (
        <>
          , {percent(share)} of its {memorySize(capacity)}
        </>
      )}
      .
    </>
  );
}

/** The figures of a device, each with its definition; what casts doubt on them only where there is any. */
function Figures({ table, device }: { table: Table; device: DeviceMemory }): JSX.Element {
  const bytes = (value: number | null) => ({ text: memorySize(value), exact: exactBytes(value) });
  const level = (value: number) => ({
    text: memorySize(value),
    exact: device.recorded ? exactBytes(value) : `${exactBytes(value)}. ${FROM_ZERO}`,
  });
  const number = (value: number | null) => ({ text: value === null ? MISSING : count(value), exact: count(value) });
  const doubts = [
    { key: 'unmatched_frees', title: 'Unmatched frees', value: device.unmatchedFrees },
    { key: 'jumps', title: 'Jumps of the total', value: device.jumps },
  ]
    .filter(({ value }) => value > 0)
    .map(({ value, ...rest }) => ({ ...rest, ...number(value) }));
  const cards = [
    { key: 'peak_allocated_bytes', title: 'Peak allocated', ...level(device.peak) },
    { key: 'peak_reserved_bytes', title: 'Peak reserved', ...bytes(device.peakReserved) },
    { key: 'unused_reserved_bytes', title: 'Reserved, unused', ...bytes(device.unused) },
    { key: 'growth_bytes_per_step', title: 'Growth a step', ...bytes(device.growth) },
    { key: 'end_allocated_bytes', title: 'At the end', ...level(device.end) },
    { key: 'allocations', title: 'Allocations', ...number(device.allocations) },
    { key: 'frees', title: 'Frees', ...number(device.frees) },
    { key: 'open_bytes', title: 'Never freed', ...bytes(device.openBytes) },
    ...doubts,
  ];
  return (
    <dl class="cards" data-testid="memory-figures">
      {cards.map(({ key, title, text, exact }) => (
        <div class="card" key={key} data-key={key}>
          <dt>
            <Help text={describe(table, key)}>{title}</Help>
          </dt>
          <dd title={exact}>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
