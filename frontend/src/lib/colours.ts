import { KINDS, type Kind } from '../model/wire';
import { type Cause, isWorkKind, OTHER_STREAMS } from './causes';

export type Theme = 'light' | 'dark';

type PlainKind = Exclude<Kind, `idle ${string}`>;

/** One colour a kind, the same in every chart: Okabe and Ito's set, tuned per theme for contrast with the paper. */
const LIGHT: Record<PlainKind, string> = {
  op: '#4fb894',
  annotation: '#b7c3cf',
  python: '#8fcbf0',
  api_call: '#e69f00',
  kernel: '#2c86c4',
  memcpy: '#cc79a7',
  memset: '#e0a9c7',
  device_range: '#b7c3cf',
  sync: '#c9b458',
  counter: '#9aa5b1',
  overhead: '#a8875f',
  memory: '#9aa5b1',
  trace: '#9aa5b1',
  other: '#9aa5b1',
  communication: '#d55e00',
  idle: '#c2575f',
  step: '#a9b4c0',
  data_loader: '#e8d93a',
};

const DARK: Record<PlainKind, string> = {
  op: '#227f5e',
  annotation: '#5c6977',
  python: '#3b6f86',
  api_call: '#e3a31e',
  kernel: '#2b79b8',
  memcpy: '#aa5b85',
  memset: '#8f5876',
  device_range: '#5c6977',
  sync: '#857634',
  counter: '#6b7683',
  overhead: '#8a6d49',
  memory: '#6b7683',
  trace: '#6b7683',
  other: '#6b7683',
  communication: '#bd560f',
  idle: '#b35259',
  step: '#525e6b',
  data_loader: '#c4b62c',
};

export function kindColour(kind: Kind, theme: Theme): string {
  // Idle time by cause has the colour of its cause.
  if (kind.startsWith('idle ')) return causeColour(kind.slice(5));
  return (theme === 'dark' ? DARK : LIGHT)[kind as PlainKind];
}

/**
 * One colour a cause of idle time, the same in both themes and every chart; in the order of the analysis (`CAUSES` of
 * kinetoscope.idle.causes). Host causes take the hues of the host's events, causes on the device are blues; greys are
 * what nobody knows.
 */
const CAUSE_COLOURS: Record<Cause, string> = {
  synchronization: '#c74a55',
  'memory allocation': '#cc79a7',
  'data loading': '#d6c52e',
  compilation: '#8a63b8',
  'launch calls': '#e69f00',
  'host work': '#3a9d7a',
  'host python': '#56b4e9',
  'untraced host': '#98a2ad',
  'launch latency': '#b06a1c',
  'inside a graph': '#7d96e3',
  'device scheduling': '#3468b4',
  'stream dependency': '#2a93a8',
  'late start': '#66717d',
  'no launch recorded': '#bda88c',
};

/** Colour of a cause; one that is not known yet is grey. */
export function causeColour(cause: string): string {
  return Object.hasOwn(CAUSE_COLOURS, cause) ? CAUSE_COLOURS[cause as Cause] : '#98a2ad';
}

/** Colour of a kind of stretch of the critical path: work as in the timeline, all else as causes of idle time. */
export function pathColour(kind: string, theme: Theme): string {
  if (kind === 'compute') return kindColour('kernel', theme);
  if (kind === OTHER_STREAMS) return causeColour('stream dependency');
  return isWorkKind(kind) ? kindColour(kind as Kind, theme) : causeColour(kind);
}

/** Phases of training, in the order of a step. */
export const PHASES = ['data', 'forward', 'backward', 'optimizer'] as const;

const PHASE_COLOURS: Record<string, string> = {
  data: '#c9b820',
  forward: '#3a9d7a',
  backward: '#d55e00',
  optimizer: '#8a63b8',
};

/** Colour of a phase, the same in both themes; what is in none of them is grey. */
export function phaseColour(phase: string): string {
  return Object.hasOwn(PHASE_COLOURS, phase) ? PHASE_COLOURS[phase] : '#8d98a4';
}

/** The nine parts of a step, in the order in which an instant is given to them. */
export const STEP_PARTS: { key: string; label: string; kind: Kind; device: boolean }[] = [
  { key: 'compute_us', label: 'Compute', kind: 'kernel', device: true },
  { key: 'communication_us', label: 'Communication', kind: 'communication', device: true },
  { key: 'memcpy_us', label: 'Copy', kind: 'memcpy', device: true },
  { key: 'memset_us', label: 'Memset', kind: 'memset', device: true },
  { key: 'api_us', label: 'Launch and API calls', kind: 'api_call', device: false },
  { key: 'data_loader_us', label: 'Data loading', kind: 'data_loader', device: false },
  { key: 'op_us', label: 'Operators', kind: 'op', device: false },
  { key: 'python_us', label: 'Python', kind: 'python', device: false },
  { key: 'unrecorded_us', label: 'Nothing recorded', kind: 'other', device: false },
];

export const SHADES = 4;

/** Pixels of a theme, as little-endian RGBA words. */
export interface Palette {
  background: number;
  /** Paper where the data of a row are on their way. */
  pending: number;
  /** `kind * SHADES + shade` */
  bars: Uint32Array;
  dimmed: Uint32Array;
}

const PAPER = {
  light: { background: '#ffffff', pending: '#f1f3f6' },
  dark: { background: '#14171b', pending: '#1d2127' },
};

export function palette(theme: Theme): Palette {
  const paper = PAPER[theme];
  const background = word(paper.background);
  const bars = new Uint32Array(KINDS.length * SHADES);
  const dimmed = new Uint32Array(KINDS.length * SHADES);
  KINDS.forEach((kind, code) => {
    const base = word(kindColour(kind, theme));
    for (let shade = 0; shade < SHADES; shade++) {
      const colour = blend(base, theme === 'dark' ? 0xff000000 : 0xffffffff, shade * 0.08);
      bars[code * SHADES + shade] = colour;
      dimmed[code * SHADES + shade] = blend(colour, background, 0.78);
    }
  });
  return { background, pending: word(paper.pending), bars, dimmed };
}

export function word(hex: string): number {
  const value = Number.parseInt(hex.slice(1), 16);
  return ((0xff << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** `share` of `top` over `base`. */
export function blend(base: number, top: number, share: number): number {
  const part = Math.round(Math.max(0, Math.min(1, share)) * 256);
  const rest = 256 - part;
  const red = ((base & 0xff) * rest + (top & 0xff) * part) >> 8;
  const green = (((base >> 8) & 0xff) * rest + ((top >> 8) & 0xff) * part) >> 8;
  const blue = (((base >> 16) & 0xff) * rest + ((top >> 16) & 0xff) * part) >> 8;
  return ((0xff << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A stable shade of a name: neighbours differ, runs agree; digits do not count. */
export function shadeOf(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code >= 48 && code <= 57) continue;
    hash = Math.imul(hash ^ code, 16777619);
  }
  return ((hash >>> 8) ^ hash) & (SHADES - 1);
}

function luminance(pixel: number): number {
  const linear = (octet: number) => {
    const share = (octet & 0xff) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(pixel) + 0.7152 * linear(pixel >> 8) + 0.0722 * linear(pixel >> 16);
}

/** Contrast of two pixels as WCAG 2 counts it: 1 to 21. */
export function contrast(one: number, other: number): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const DARK_INK = word('#14171b');
const LIGHT_INK = word('#ffffff');

/** Dark or light ink, whichever reads better on a pixel's colour. */
export function inkOn(pixel: number): '#14171b' | '#ffffff' {
  return contrast(pixel, DARK_INK) > contrast(pixel, LIGHT_INK) ? '#14171b' : '#ffffff';
}
