import type { JSX } from 'preact';
import {
  count,
  duration,
  exactTime,
  largest,
  MISSING,
  memorySize,
  percent,
  plural,
  scaled,
  significant,
  timeScale,
} from '../../lib/format';
import { go, idleDevice } from '../../model/state';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Info, Kind, Table } from '../../model/wire';
import { Section, ShareBar } from '../parts/bits';
import { Help } from '../parts/help';
import { ScrollBox } from '../parts/scroll';

const TIMES: { name: string; title: string; kind: Kind }[] = [
  { name: 'compute_us', title: 'Compute', kind: 'kernel' },
  { name: 'exposed_communication_us', title: 'Exposed comm.', kind: 'communication' },
  { name: 'exposed_copy_us', title: 'Exposed copy', kind: 'memcpy' },
  { name: 'idle_us', title: 'Idle', kind: 'idle' },
];

const SHARES: { name: string; title: string }[] = [
  { name: 'utilization_pct', title: 'Utilization' },
  { name: 'sm_efficiency_pct', title: 'SM efficiency' },
  { name: 'occupancy_pct', title: 'Occupancy' },
  { name: 'tensor_cores_pct', title: 'Tensor cores' },
];

interface DevicesProps {
  table: Table;
  info: Info;
}

export function Devices({ table, info }: DevicesProps): JSX.Element {
  if (table.rows === 0) {
    const reason = info.pages.idle?.reason || 'No device work was recorded: no kernels, copies or memsets.';
    return (
      <Section title="Devices">
        <p class="hint">{reason}</p>
      </Section>
    );
  }
  const windows = nanoseconds(table, 'window_us');
  const scale = timeScale(largest(windows));
  return (
    <Section title="Devices" id="devices">
      <ScrollBox>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Device</th>
              <Head table={table} name="capability" title="Capability" />
              <Head table={table} name="memory_bytes" title="Memory" />
              {SHARES.map((one) => (
                <Head key={one.name} table={table} name={one.name} title={one.title} />
              ))}
              {TIMES.map((one) => (
                <Head key={one.name} table={table} name={one.name} title={`${one.title}, ${scale.unit}`} />
              ))}
              <Head table={table} name="concurrency" title="Concurrency" />
              <Head table={table} name="gaps" title="Gaps" />
              <Head table={table} name="window_us" title={`Window, ${scale.unit}`} />
            </tr>
          </thead>
          <tbody>
            {windows.map((_, row) => (
              <DeviceRow key={String(column(table, 'device')[row])} table={table} row={row} info={info} per={scale} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {numbers(table, 'occupancy_unknown').some(
        (value, row) => value && column(table, 'occupancy_pct')[row] !== null,
      ) && <p class="hint">* Without the kernels of which the recorder could not tell the occupancy.</p>}
    </Section>
  );
}

/** Occupancy tells of how many kernels it is unknown. */
function ShareCell({ table, name, row }: { table: Table; name: string; row: number }): JSX.Element {
  const share = numbers(table, name)[row];
  const unknown = name === 'occupancy_pct' ? (numbers(table, 'occupancy_unknown')[row] ?? 0) : 0;
  const words = unknown > 0 ? `; unknown of ${plural(unknown, 'kernel')}, left out` : '';
  return (
    <td class="number" title={`${share === null ? 'not recorded' : `${share} %`}${words}`}>
      <ShareBar share={share ?? 0} text={`${percent(share)}${unknown > 0 && share !== null ? '\u202f*' : ''}`} />
    </td>
  );
}

function Head({ table, name, title }: { table: Table; name: string; title: string }): JSX.Element {
  return (
    <th scope="col" class="number">
      <Help text={describe(table, name)}>{title}</Help>
    </th>
  );
}

interface DeviceRowProps {
  table: Table;
  row: number;
  info: Info;
  per: { unit: string; per: number };
}

function DeviceRow({ table, row, info, per }: DeviceRowProps): JSX.Element {
  const device = Number(column(table, 'device')[row]);
  const memory = numbers(table, 'memory_bytes')[row];
  const whole = nanoseconds(table, 'window_us')[row] ?? 0;
  const concurrency = numbers(table, 'concurrency')[row];
  const gaps = numbers(table, 'gaps')[row];
  const toGaps = () => {
    idleDevice.value = device;
    go('idle');
  };
  return (
    <tr>
      <td title={deviceDetail(info, device)}>
        GPU {device}{' '}
        <span class="muted device-name">{info.devices.find((one) => one.device === device)?.name ?? ''}</span>
      </td>
      <td class="number">{column(table, 'capability')[row] ?? MISSING}</td>
      <td class="number" title={memory === null ? 'not recorded' : `${memory} B`}>
        {memorySize(memory)}
      </td>
      {SHARES.map((one) => (
        <ShareCell key={one.name} table={table} name={one.name} row={row} />
      ))}
      {TIMES.map((one) => {
        const value = nanoseconds(table, one.name)[row];
        return (
          <td key={one.name} class="number" title={exactTime(value)}>
            <ShareBar share={whole > 0 ? (100 * (value ?? 0)) / whole : 0} text={scaled(value, per)} kind={one.kind} />
          </td>
        );
      })}
      <td class="number">{concurrency === null ? MISSING : significant(concurrency)}</td>
      <td class="number">
        <button type="button" class="figure" onClick={toGaps} title={plural(gaps ?? 0, 'gap')}>
          {count(gaps)}
        </button>
      </td>
      <td class="number" title={exactTime(whole)}>
        {scaled(whole, per)}
      </td>
    </tr>
  );
}

function deviceDetail(info: Info, device: number): string {
  const known = info.devices.find((one) => one.device === device);
  if (!known) return `GPU ${device}: properties not recorded`;
  const parts = [
    known.name,
    known.capability && `capability ${known.capability}`,
    known.sm_count !== null && plural(known.sm_count, 'multiprocessor'),
  ];
  if (known.memory_bytes !== null) parts.push(`${memorySize(known.memory_bytes)} memory`);
  return parts.filter(Boolean).join(', ') || `GPU ${device}, recorded for ${duration(info.end_ns)}`;
}
