/** Numbers as people read them: three significant digits, thin spaces, a dash for what was not recorded. */

import { median } from './histogram';

export const MISSING = '—';
const THIN = '\u202f';

export interface Scale {
  unit: string;
  /** Base units (ns, bytes) in one shown unit. */
  per: number;
}

const TIME: Scale[] = [
  { unit: 's', per: 1e9 },
  { unit: 'ms', per: 1e6 },
  { unit: 'µs', per: 1e3 },
  { unit: 'ns', per: 1 },
];
const DECIMAL_BYTES: Scale[] = [
  { unit: 'GB', per: 1e9 },
  { unit: 'MB', per: 1e6 },
  { unit: 'kB', per: 1e3 },
  { unit: 'B', per: 1 },
];
const BINARY_BYTES: Scale[] = [
  { unit: 'GiB', per: 2 ** 30 },
  { unit: 'MiB', per: 2 ** 20 },
  { unit: 'KiB', per: 2 ** 10 },
  { unit: 'B', per: 1 },
];

type Maybe = number | null | undefined;

function known(value: Maybe): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, THIN);
}

function grouped(text: string): string {
  const [whole, fraction] = text.split('.');
  const sign = whole.startsWith('-') ? '−' : '';
  const head = group(whole.replace('-', ''));
  return sign + (fraction === undefined ? head : `${head}.${fraction}`);
}

/** Three significant digits, at most `places` decimals; what would round to 0 says so. */
export function significant(value: number, places = 3): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const least = (10 ** -places).toFixed(places);
  if (size < 0.5 * 10 ** -places) return value < 0 ? `>−${least}` : `<${least}`;
  if (size >= 999.5) return grouped(value.toFixed(0));
  const decimals = Math.min(places, Math.max(0, 2 - Math.floor(Math.log10(size))));
  const text = value.toFixed(decimals);
  // 9.996 rounds to 10.00: four digits, one too many.
  const digits = text.replace(/^-?0*\.?0*/, '').replace('.', '').length;
  return grouped(digits > 3 && decimals > 0 ? value.toFixed(decimals - 1) : text);
}

function pick(scales: Scale[], largest: number): Scale {
  return scales.find((scale) => Math.abs(largest) >= scale.per * 0.9995) ?? scales[scales.length - 1];
}

/** The one unit of a column of times (ns), by its largest value. */
export function timeScale(largestNs: number): Scale {
  return pick(TIME.slice(0, largestNs > 0 ? 4 : 3), largestNs);
}

/** The one unit of a column of times (ns), by its middle value: an outlier does not make all others small. */
export function medianScale(values: Iterable<Maybe>): Scale {
  const sizes = [...values].filter((value): value is number => known(value) && value !== 0).map(Math.abs);
  const middle = median(sizes) ?? 0;
  // A µs shows whole nanoseconds as well: noise does not turn a column into nanoseconds.
  return timeScale(Math.max(middle, Math.min(1e3, largest(sizes))));
}

export function largest(values: Iterable<Maybe>): number {
  let most = 0;
  for (const value of values) if (known(value) && Math.abs(value) > most) most = Math.abs(value);
  return most;
}

const PLACES = 3;

/** The unit a value is told in: that of its column, or its own where three decimals of that would leave one digit of it. */
function unitOf(value: number, scale: Scale): Scale {
  const size = Math.abs(value / scale.per);
  const exact = Math.abs(size - Number(size.toFixed(PLACES))) < 1e-12;
  if (size >= 0.01 || exact) return scale;
  const units = [TIME, DECIMAL_BYTES, BINARY_BYTES].find((one) => one.includes(scale));
  return units ? pick(units, value) : scale;
}

/** Three significant digits at most, in the unit of a column; what is far smaller names a unit of its own. */
export function scaled(value: Maybe, scale: Scale): string {
  if (!known(value)) return MISSING;
  const own = unitOf(value, scale);
  const text = significant(value / own.per, Math.min(PLACES, Math.round(Math.log10(own.per))));
  return own === scale ? text : `${text}${THIN}${own.unit}`;
}

/** A round value of an axis: no zeros behind the point. */
export function tick(value: number, scale: Scale): string {
  return grouped(String(Number((value / scale.per).toPrecision(6))));
}

export function tickWithUnit(value: number, scale: Scale): string {
  return `${tick(value, scale)}${THIN}${scale.unit}`;
}

export function withUnit(value: Maybe, scale: Scale): string {
  if (!known(value)) return MISSING;
  const text = scaled(value, scale);
  return unitOf(value, scale) === scale ? `${text}${THIN}${scale.unit}` : text;
}

export function duration(ns: Maybe): string {
  if (!known(ns)) return MISSING;
  return withUnit(ns, ns === 0 ? TIME[2] : pick(TIME, ns));
}

/** The exact value, for hovers: `12 345.678 µs`. */
export function exactTime(ns: Maybe): string {
  if (!known(ns)) return 'not recorded';
  return `${grouped((ns / 1e3).toFixed(3))}${THIN}µs`;
}

export function count(value: Maybe): string {
  return known(value) ? grouped(value.toFixed(0)) : MISSING;
}

export function percent(value: Maybe): string {
  if (!known(value)) return MISSING;
  if (value > 0 && value < 0.05) return `<0.1${THIN}%`;
  return `${grouped(value.toFixed(1))}${THIN}%`;
}

/** Without decimals, and never 0 or 100 for what is not. */
export function wholePercent(value: Maybe): string {
  if (!known(value)) return MISSING;
  const sign = value > 0 && value < 0.5 ? '<' : value < 100 && value >= 99.5 ? '>' : '';
  const shown = sign === '<' ? 1 : sign === '>' ? 99 : Math.round(value);
  return `${sign}${shown}${THIN}%`;
}

export function fileSize(bytes: Maybe): string {
  return known(bytes) ? withUnit(bytes, pick(DECIMAL_BYTES, bytes)) : MISSING;
}

export function memorySize(bytes: Maybe): string {
  return known(bytes) ? withUnit(bytes, pick(BINARY_BYTES, bytes)) : MISSING;
}

/** The one unit of an axis of memory, by its largest value. */
export function memoryScale(largestBytes: number): Scale {
  return pick(BINARY_BYTES, largestBytes);
}

/** The exact value, for hovers: `1 234 567 bytes`. */
export function exactBytes(bytes: Maybe): string {
  return known(bytes) ? `${group(String(Math.round(bytes)))} ${bytes === 1 ? 'byte' : 'bytes'}` : 'not recorded';
}

/** `12.345678 ms` with as many decimals as a step of `stepNs` needs to be told apart. */
export function instant(ns: number, stepNs: number): string {
  const scale = pick(TIME, Math.max(Math.abs(ns), stepNs));
  const decimals = Math.max(0, Math.ceil(Math.log10(scale.per / stepNs) - 1e-9));
  return `${grouped((ns / scale.per).toFixed(Math.min(9, decimals)))}${THIN}${scale.unit}`;
}

/** A column of instants in one unit, exact to a microsecond. */
export function instantIn(ns: number, scale: Scale): string {
  const decimals = Math.max(0, Math.round(Math.log10(scale.per / 1e3)));
  return grouped((ns / scale.per).toFixed(decimals));
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A metric's key as a label: `step_time_us` → `Step time`, `gaps:1` → `Gaps, GPU 1`. */
export function humanise(key: string): string {
  const [name, device] = key.split(':');
  const words = name
    .replace(/_(us|ns|ms|s|pct|bytes)$/, '')
    .replace(/_/g, ' ')
    .replace(/\b(gpu|api|sm|cuda|id|nccl|hip)\b/gi, (short) => short.toUpperCase());
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return device === undefined ? text : `${text}, GPU ${device}`;
}

/** A value with the unit the backend names. */
export function quantity(value: Maybe, unit: string | null): string {
  switch (unit) {
    case 'ns':
      return duration(value);
    case 'us':
    case 'µs':
      return duration(known(value) ? value * 1e3 : value);
    case 'ms':
      return duration(known(value) ? value * 1e6 : value);
    case 's':
      return duration(known(value) ? value * 1e9 : value);
    case 'pct':
    case '%':
    case 'percent':
      return percent(value);
    case 'bytes':
    case 'B':
      return memorySize(value);
    default:
      return plainQuantity(value, unit);
  }
}

function plainQuantity(value: Maybe, unit: string | null): string {
  if (!known(value)) return MISSING;
  const text = Number.isInteger(value) ? count(value) : significant(value);
  const silent = !unit || ['count', '1', 'events', 'ratio', 'calls'].includes(unit);
  return silent ? text : `${text}${THIN}${unit}`;
}
