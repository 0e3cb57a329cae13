import { type DeviceMemory, highest, rangeParameters, readCurve } from '../../model/memory';
import { useTable } from '../../model/remote';
import { filter, memoryAt } from '../../model/state';

export interface Instant {
  /** ns */
  at: number;
  /** What it is when it was not picked: the device's peak, or the highest point of the time all pages are narrowed to. */
  of: 'picked' | 'peak' | 'filter';
}

/** The instant whose memory is listed. */
export function useInstant(device: DeviceMemory): Instant {
  const picked = memoryAt.value;
  const narrowed = picked === null ? filter.value : null;
  const { data } = useTable('memory_timeline', narrowed && { device: device.device, ...rangeParameters(narrowed) });
  if (picked !== null) return { at: picked, of: 'picked' };
  const curve = narrowed && data ? readCurve(data) : null;
  const top = curve ? highest(curve.allocated) : -1;
  return curve && top >= 0 ? { at: curve.time[top], of: 'filter' } : { at: device.peakAt, of: 'peak' };
}
