import type { JSX } from 'preact';
import { duration, exactTime, percent, plural } from '../../lib/format';
import { type Gaps, openGap } from '../../model/gaps';
import type { Per } from '../../model/idle';
import { filter, filterWords, idleDevice } from '../../model/state';
import { nanoseconds, numbers, sum } from '../../model/tables';
import type { Table } from '../../model/wire';

interface HeadlineProps {
  gaps: Gaps;
  devices: Table | null;
  /** Idle time of the devices and the time that are shown, ns. */
  idle: number;
  per: Per;
}

export function Headline(props: HeadlineProps): JSX.Element {
  const list = [...new Set(props.gaps.device)].sort((a, b) => Number(a) - Number(b));
  return (
    <div class="headline">
      <p class="verdict">
        <IdleSentence {...props} />
      </p>
      {list.length > 1 && (
        <label class="inline">
          GPU{' '}
          <select
            value={idleDevice.value === null ? '' : String(idleDevice.value)}
            onChange={(event) =>
              (idleDevice.value = event.currentTarget.value === '' ? null : Number(event.currentTarget.value))
            }
          >
            <option value="">all {list.length}</option>
            {list.map((device) => (
              <option key={device} value={String(device)}>
                {device}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

function IdleSentence({ gaps, devices, idle, per }: HeadlineProps): JSX.Element {
  const device = idleDevice.value;
  const rows = gaps.device.map((_, row) => row).filter((row) => device === null || gaps.device[row] === device);
  const longest = rows.reduce((a, row) => (a < 0 || gaps.duration[row] > gaps.duration[a] ? row : a), -1);
  const share = filter.value ? null : idleShare(devices, device);
  const who =
    device === null ? (new Set(gaps.device).size > 1 ? 'The GPUs idle' : 'The GPU idles') : `GPU ${device} idles`;
  const all = per.words ? `${exactTime(idle)} in all` : exactTime(idle);
  return (
    <>
      {who}{' '}
      <b title={all} data-testid="idle-total" data-total-ns={idle}>
        {duration(idle / per.divisor)}
      </b>
      {per.words && <> {per.words}</>}
      {share !== null && <> ({percent(share)} of the window)</>}
      {per.words ? <>: {duration(idle)} in </> : ' in '}
      {plural(rows.length, 'gap')}
      {filter.value && <> {filterWords(filter.value)}</>}.{' '}
      {longest >= 0 && (
        <>
          The longest lasts{' '}
          <button type="button" class="figure" title="Show it in the timeline" onClick={() => openGap(gaps, longest)}>
            {duration(gaps.duration[longest])}
          </button>
          .
        </>
      )}
    </>
  );
}

function idleShare(devices: Table | null, device: number | null): number | null {
  if (!devices) return null;
  const chosen = numbers(devices, 'device').map((one) => device === null || one === device);
  const pick = (name: string) => sum(nanoseconds(devices, name).map((value, row) => (chosen[row] ? value : 0)));
  const whole = pick('window_us');
  return whole > 0 ? (100 * pick('idle_us')) / whole : null;
}
