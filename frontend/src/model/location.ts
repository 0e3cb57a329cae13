/** Keeps the state and TensorBoard's address the same, both ways. */
import { batch, effect, type Signal } from '@preact/signals';
import { attempt, host, isHidden } from '../lib/browser';
import { isOurs, readAddress, writeAddress } from './address';
import { GROUPINGS, type KernelKey } from './kernels';
import type { BlockKey } from './memory';
import { OPERATOR_GROUPINGS } from './operators';
import * as state from './state';
import { FIXES, type FixName, type PageName } from './wire';

interface Field {
  key: string;
  print: () => string | null;
  /** Takes the text over; false where it makes no sense. Without text, back to the default. */
  take: (text: string | null) => boolean;
}

function field<T>(
  key: string,
  atom: Signal<T>,
  initial: T,
  print: (value: T) => string | null,
  parse: Parse<T>,
): Field {
  return {
    key,
    print: () => print(atom.value),
    take: (text) => {
      const value = text === null ? initial : parse(text);
      atom.value = value === undefined ? initial : value;
      return value !== undefined;
    },
  };
}

type Parse<T> = (text: string) => T | undefined;

const same = (text: string) => text;
const orNull = (text: string) => text || null;
const orUndefined = (text: string) => text || undefined;
const among =
  <T extends string>(list: readonly T[]): Parse<T> =>
  (text) =>
    list.find((one) => one === text);
const whole: Parse<number | null> = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

export function parseRange(text: string): state.Range | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  const range = match && { t0: Number(match[1]), t1: Number(match[2]) };
  return range && range.t1 > range.t0 ? range : undefined;
}

export function printRange(range: state.Range | null): string | null {
  return range && `${Math.max(0, Math.floor(range.t0))}-${Math.ceil(range.t1)}`;
}

function parseFilter(text: string): state.Filter | undefined {
  const [step, bounds] = text.includes('@') ? text.split('@') : [null, text];
  const range = parseRange(bounds ?? '');
  if (!range || (step !== null && !/^\d{1,15}$/.test(step))) return undefined;
  return { ...range, step: step === null ? null : Number(step) };
}

function printFilter(value: state.Filter | null): string | null {
  if (!value) return null;
  return value.step === null ? printRange(value) : `${value.step}@${printRange(value)}`;
}

/** A longer name is not written into the address. */
const LONGEST = 1000;

function parseKeyed(text: string): state.Selection | undefined {
  const [, kind, by, json] = /^(kernel|operator):([a-z,]+):(.*)$/s.exec(text) ?? [];
  const key = json === undefined ? null : attempt(() => JSON.parse(json) as unknown, null);
  if (!by || typeof key !== 'object' || key === null) return undefined;
  const plain = Object.values(key).every((value) => value === null || ['string', 'number'].includes(typeof value));
  if (!plain) return undefined;
  const { like = null, ...rest } = key as KernelKey;
  return { kind: kind as 'kernel' | 'operator', by, key: rest, like: typeof like === 'number' ? like : null };
}

/** The key of a row, with a call of its own; a name too long for an address is left to that call. */
function printKernel({ by, key, like }: Extract<state.Selection, { kind: 'kernel' }>): string {
  const { name, ...rest } = key;
  const long = like !== null && typeof name === 'string' && name.length > LONGEST;
  return `kernel:${by}:${JSON.stringify({ ...(long ? rest : key), ...(like === null ? {} : { like }) })}`;
}

/** Texts too long for an address are left to the longest call of the row. */
function printOperator({ by, key, like }: Extract<state.Selection, { kind: 'operator' }>): string {
  const kept = Object.entries(key).filter(([, value]) => !(typeof value === 'string' && value.length > LONGEST));
  return `operator:${by}:${JSON.stringify({ ...Object.fromEntries(kept), ...(like === null ? {} : { like }) })}`;
}

/** `module:7`, `module:"Linear"` or `module:null`. */
function parseModule(text: string): state.Selection | undefined {
  const [, json] = /^module:(.*)$/s.exec(text) ?? [];
  const key = json === undefined ? undefined : attempt(() => JSON.parse(json) as unknown, undefined);
  const sound = key === null || typeof key === 'string' || (typeof key === 'number' && Number.isSafeInteger(key));
  return sound ? { kind: 'module', key: key as number | string | null } : undefined;
}

function printModule(key: number | string | null): string | null {
  return typeof key === 'string' && key.length > LONGEST ? null : `module:${JSON.stringify(key)}`;
}

/** `frame:"train.py(81): main"`, with its place `frame:12:"train.py(81): main"`; `frame:null` is what has no stack. */
function parseFrame(text: string): state.Selection | undefined {
  const [, node, json] = /^frame:(?:(\d{1,15}):)?(.*)$/s.exec(text) ?? [];
  const name = json === undefined ? undefined : attempt(() => JSON.parse(json) as unknown, undefined);
  if (name !== null && typeof name !== 'string') return undefined;
  return node === undefined ? { kind: 'frame', name } : { kind: 'frame', name, node: Number(node) };
}

function printFrame({ name, node }: Extract<state.Selection, { kind: 'frame' }>): string | null {
  if (name !== null && name.length > LONGEST) return null;
  return `frame:${node === undefined ? '' : `${node}:`}${JSON.stringify(name)}`;
}

/** `12` is a node, `12~0.5` its children below 0.5 % of it, `~0.5` those at the top. */
function parseZoom(text: string): state.FlameZoom | undefined {
  const [, node, under] = /^(\d{1,15})?(?:~(\d{1,3}(?:\.\d{1,15})?|\d(?:\.\d{1,15})?e-\d{1,2}))?$/.exec(text) ?? [];
  if (node === undefined && under === undefined) return undefined;
  return { node: node === undefined ? null : Number(node), under: under === undefined ? null : Number(under) };
}

function printZoom(zoom: state.FlameZoom | null): string | null {
  return zoom && `${zoom.node ?? ''}${zoom.under === null ? '' : `~${zoom.under}`}`;
}

function parseShare(text: string): number | undefined {
  const share = /^\d{1,3}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  return share <= 100 ? share : undefined;
}

function parseSelection(text: string): state.Selection | undefined {
  if (/^(kernel|operator):/.test(text)) return parseKeyed(text);
  if (text.startsWith('module:')) return parseModule(text);
  if (text.startsWith('frame:')) return parseFrame(text);
  if (text.startsWith('block:')) return parseBlock(text.slice(6));
  const area = /^area:([\d,-]{1,4000}):(.*)$/.exec(text);
  const range = area && parseRange(area[2]);
  if (area && range) return { kind: 'area', rows: area[1], ...range };
  const match = /^(event|gap):(\d{1,15})$/.exec(text);
  if (!match) return undefined;
  return match[1] === 'event' ? { kind: 'event', id: Number(match[2]) } : { kind: 'gap', gap: Number(match[2]) };
}

function printSelection(value: state.Selection | null): string | null {
  if (value?.kind === 'event') return `event:${value.id}`;
  if (value?.kind === 'kernel') return printKernel(value);
  if (value?.kind === 'operator') return printOperator(value);
  if (value?.kind === 'module') return printModule(value.key);
  if (value?.kind === 'frame') return printFrame(value);
  if (value?.kind === 'block') return printBlock(value.block);
  if (value?.kind === 'area') return `area:${value.rows}:${printRange(value)}`;
  return value?.kind === 'gap' ? `gap:${value.gap}` : null;
}

function parseBlock(text: string): state.Selection | undefined {
  const parts = attempt(() => JSON.parse(text) as unknown, null);
  if (!Array.isArray(parts) || parts.length !== 4) return undefined;
  const [device, address, from, bytes] = parts as unknown[];
  const sound = typeof device === 'string' && typeof address === 'string' && typeof bytes === 'number';
  if (!sound || (from !== null && typeof from !== 'number')) return undefined;
  return { kind: 'block', block: { device, address, from, bytes } };
}

function printBlock({ device, address, from, bytes }: BlockKey): string {
  return `block:${JSON.stringify([device, address, from, bytes])}`;
}

/** `=aten::mm` is a group of memory; nothing behind stands for what nobody is known of. */
function parseGroup(text: string): { value: string | null } | undefined {
  if (text === '-') return { value: null };
  return text.startsWith('=') ? { value: text.slice(1) } : undefined;
}

function printGroup(group: { value: string | null } | null): string | null {
  if (!group) return null;
  if (group.value === null) return '-';
  return group.value.length > LONGEST ? null : `=${group.value}`;
}

function parseFixes(text: string): readonly FixName[] | undefined {
  const asked = text.split(',');
  const known = FIXES.filter((one) => asked.includes(one));
  return known.length === asked.length ? known : undefined;
}

function parseSort(text: string): state.Bar | undefined {
  const match = /^(-?)([a-z_]+)$/.exec(text);
  return match ? { column: match[2], descending: match[1] === '-' } : undefined;
}

const SORT: state.Bar = { column: 'total_us', descending: true };
const printSort = (value: state.Bar) =>
  value.column === SORT.column && value.descending ? null : `${value.descending ? '-' : ''}${value.column}`;

const IDLE_KEYS = ['cause', 'module', 'op', 'source'];

function parseIdleKey(text: string): state.IdleKey | undefined {
  const key = attempt(() => JSON.parse(text) as unknown, null);
  if (typeof key !== 'object' || key === null || Array.isArray(key)) return undefined;
  const sound = Object.entries(key).every(
    ([name, value]) => IDLE_KEYS.includes(name) && (value === null || typeof value === 'string'),
  );
  return sound && Object.keys(key).length > 0 ? (key as state.IdleKey) : undefined;
}

/** Names too long for an address are left out: then the row above is the one that is linked to. */
function printIdleKey(value: state.IdleKey | null): string | null {
  const entries = Object.entries(value ?? {});
  const long = entries.findIndex(([, one]) => (one ?? '').length > LONGEST);
  const kept = long < 0 ? entries : entries.slice(0, long);
  return kept.length > 0 ? JSON.stringify(Object.fromEntries(kept)) : null;
}

const short = (value: string | null) => (value !== null && value.length > LONGEST ? null : value);

function unless<T extends string>(initial: T): (value: T) => string | null {
  return (value) => (value === initial ? null : value);
}

const FIELDS: Field[] = [
  field('run', state.run, null, (value) => value, same),
  field('rank', state.rank, null, (value) => value, same),
  field('span', state.span, null, (value) => value, same),
  field<PageName>(
    'view',
    state.page,
    'overview',
    unless<string>('overview'),
    among(state.PAGES.map((one) => one.page)),
  ),
  field('filter', state.filter, null, printFilter, parseFilter),
  field('at', state.viewport, null, printRange, parseRange),
  field('select', state.selection, null, printSelection, parseSelection),
  field<readonly FixName[]>('fix', state.fixes, [], (value) => value.join(',') || null, parseFixes),
  field('check', state.evidence, null, (value) => value, orUndefined),
  field('q', state.eventQuery, '', orNull, same),
  field('qat', state.eventTime, null, printRange, parseRange),
  field('gaps', state.gapQuery, '', orNull, same),
  field('kernels', state.kernelQuery, '', orNull, same),
  field<string>('by', state.kernelBy, 'name', unless<string>('name'), among(GROUPINGS)),
  field('sort', state.kernelSort, SORT, printSort, parseSort),
  field('operators', state.operatorQuery, '', orNull, same),
  field('modules', state.moduleQuery, '', orNull, same),
  field('flames', state.flameQuery, '', orNull, same),
  field<string>('ops', state.operatorBy, 'name', unless<string>('name'), among(OPERATOR_GROUPINGS)),
  field<state.Bar | null>(
    'opsort',
    state.operatorSort,
    null,
    (value) => value && `${value.descending ? '-' : ''}${value.column}`,
    parseSort,
  ),
  field<state.Within>('within', state.within, 'start', unless<string>('start'), among(state.WITHIN)),
  field<state.ModuleGrouping>('mods', state.moduleBy, 'tree', unless<string>('tree'), among(state.MODULE_GROUPINGS)),
  field<state.FlameForm>('form', state.flameForm, 'top_down', unless<string>('top_down'), among(state.FLAME_FORMS)),
  field<state.FlameWeight>('weight', state.flameWeight, 'auto', unless<string>('auto'), among(state.FLAME_WEIGHTS)),
  field<state.FlameFrames>('frames', state.flameFrames, 'python', unless<string>('python'), among(state.FLAME_FRAMES)),
  field<state.FlameColour>('colour', state.flameColour, 'kind', unless<string>('kind'), among(state.FLAME_COLOURS)),
  field<state.FlameStackless>(
    'stackless',
    state.flameStackless,
    'auto',
    unless<string>('auto'),
    among(state.FLAME_STACKLESS),
  ),
  field<state.FlameZoom | null>('zoom', state.flameZoom, null, printZoom, parseZoom),
  field(
    'least',
    state.flameLeast,
    state.FLAME_LEAST,
    (value) => (value === state.FLAME_LEAST ? null : String(value)),
    parseShare,
  ),
  field('thread', state.flameThread, null, short, orUndefined),
  field('mem', state.memoryQuery, '', orNull, same),
  field('memdev', state.memoryDevice, null, short, orUndefined),
  field('memzoom', state.memoryZoom, null, printRange, parseRange),
  field('memat', state.memoryAt, null, (value) => (value === null ? null : String(value)), whole),
  field<state.MemoryPart>('mempart', state.memoryPart, 'live', unless<string>('live'), among(state.MEMORY_PARTS)),
  field<state.MemoryBy>('memby', state.memoryBy, 'caller', unless<string>('caller'), among(state.MEMORY_KEYS)),
  field('memgroup', state.memoryGroup, null, printGroup, parseGroup),
  field<state.MemoryCurve>('memcurve', state.memoryCurve, 'total', unless<string>('total'), among(state.MEMORY_CURVES)),
  field(
    'memcap',
    state.memoryCapacity,
    false,
    (value) => (value ? '1' : null),
    (text) => (text === '1' ? true : undefined),
  ),
  field<state.MemoryLayout>('memlay', state.memoryLayout, 'size', unless<string>('size'), among(state.MEMORY_LAYOUTS)),
  field('split', state.splitView, 'all', unless<string>('all'), among(['all', 'device', 'host'])),
  field('device', state.idleDevice, null, (value) => (value === null ? null : String(value)), whole),
  field<state.IdlePart>('part', state.idlePart, 'causes', unless<string>('causes'), among(state.IDLE_PARTS)),
  field<state.TreeOrder>('tree', state.treeOrder, 'cause', unless<string>('cause'), among(state.TREE_ORDERS)),
  field('idle', state.idleKey, null, printIdleKey, parseIdleKey),
  field<string>('launches', state.launchBy, 'op', unless<string>('op'), among(state.LAUNCH_GROUPINGS)),
  field('held', state.heldBy, 'blocking', unless<string>('blocking'), among(['blocking', 'allocation'] as const)),
  field('reason', state.heldReason, null, short, same),
  field('kind', state.pathKind, null, short, same),
  field(
    'path',
    state.pathShown,
    false,
    (value) => (value ? '1' : null),
    (text) => (text === '1' ? true : undefined),
  ),
];

/** Reads the state out of a hash; what makes no sense falls back, with a notice. */
export function takeAddress(hash: string): void {
  const values = readAddress(hash);
  batch(() => {
    for (const one of FIELDS) {
      const text = values.get(one.key) ?? null;
      if (!one.take(text)) state.notice(`The address asks for ${one.key} “${text}”, which is unknown here: left out.`);
    }
  });
}

export function printAddress(hash: string): string {
  return writeAddress(hash, Object.fromEntries(FIELDS.map((one) => [one.key, one.print()])));
}

const DEBOUNCE_MS = 300;

/** Starts the exchange; returns what ends it. */
export function bindAddress(): () => void {
  const window_ = host();
  const hash = () => attempt(() => window_.location.hash, '');
  takeAddress(hash());
  let shownPage = state.page.peek();
  let moving = false;
  let timer = 0;
  const write = (push: boolean) => {
    const next = printAddress(hash());
    if (isHidden() || !isOurs(hash()) || next === hash()) return;
    // The state object carries TensorBoard's namespace: it goes on as it is.
    const { history } = window_;
    attempt(
      () => (push ? history.pushState(history.state, '', next) : history.replaceState(history.state, '', next)),
      undefined,
    );
  };
  const stop = effect(() => {
    for (const one of FIELDS) one.print();
    const turned = state.page.value !== shownPage;
    shownPage = state.page.value;
    clearTimeout(timer);
    if (moving) return;
    if (turned) write(true);
    else timer = window.setTimeout(() => write(false), DEBOUNCE_MS);
  });
  const onMove = () => {
    if (!isOurs(hash())) return;
    moving = true;
    takeAddress(hash());
    moving = false;
    // What made no sense, and was left out, leaves the address too.
    write(false);
  };
  window_.addEventListener('popstate', onMove);
  window_.addEventListener('hashchange', onMove);
  return () => {
    stop();
    clearTimeout(timer);
    window_.removeEventListener('popstate', onMove);
    window_.removeEventListener('hashchange', onMove);
  };
}
