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
import { column, describe, nanoseconds, numbers, texts } from '../../model/tables';
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

/** Shares that the overview lists per device. */
const SHARES: { name: string; title: string }[] = [
  { name: 'sm_efficiency_pct', title: 'SM efficiency' },
  { name: 'occupancy_pct', title: 'Occupancy' },
];

function overviewRow(overview: Table | null, metric: string, device: number): number {
  return overview ? texts(overview, 'metric').indexOf(`${metric}:${device}`) : -1;
}

interface DevicesProps {
  table: Table;
  overview: Table | null;
  info: Info;
}

export function Devices({ table, overview, info }: DevicesProps): JSX.Element {
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
              <Head table={table} name="utilization_pct" title="Utilization" />
              {SHARES.map((one) => (
                <ShareHead key={one.name} overview={overview} metric={one.name} title={one.title} />
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
              <DeviceRow
                overview={overview}
                key={String(column(table, 'device')[row])}
                table={table}
                row={row}
                info={info}
                per={scale}
              />
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Section>
  );
}

function ShareHead(props: { overview: Table | null; metric: string; title: string }): JSX.Element {
  const { overview, metric, title } = props;
  const row = overview ? texts(overview, 'metric').findIndex((name) => name.startsWith(`${metric}:`)) : -1;
  return (
    <th scope="col" class="number">
      <Help text={overview && row >= 0 ? texts(overview, 'definition')[row] : title}>{title}</Help>
    </th>
  );
}

function ShareCell(props: { overview: Table | null; metric: string; device: number }): JSX.Element {
  const row = overviewRow(props.overview, props.metric, props.device);
  const share = props.overview && row >= 0 ? numbers(props.overview, 'value')[row] : null;
  return (
    <td class="number" title={share === null ? 'not recorded' : `${share} %`}>
      <ShareBar share={share ?? 0} text={percent(share)} />
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
  overview: Table | null;
  info: Info;
  per: { unit: string; per: number };
}

function DeviceRow({ table, row, overview, info, per }: DeviceRowProps): JSX.Element {
  const device = Number(column(table, 'device')[row]);
  const utilization = numbers(table, 'utilization_pct')[row];
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
      <td class="number" title={utilization === null ? 'none recorded' : `${utilization} %`}>
        <ShareBar share={utilization ?? 0} text={percent(utilization)} />
      </td>
      {SHARES.map((one) => (
        <ShareCell key={one.name} overview={overview} metric={one.name} device={device} />
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
