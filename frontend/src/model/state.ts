/** The page's state as named atoms. Views read them; actions below and the address write them. */
import { batch, computed, signal } from '@preact/signals';
import type { KernelKey } from './kernels';
import type { BlockKey } from './memory';
import type { Subject } from './source';
import {
  FIXES,
  type FixName,
  type Info,
  type PageName,
  type Problem,
  type Rank,
  type Run,
  type Runs,
  type Session,
  type Span,
} from './wire';

export interface Range {
  t0: number;
  t1: number;
}

/** What every page is narrowed to; `step` names it when a step was picked. */
export interface Filter extends Range {
  step: number | null;
}

export type Selection =
  | { kind: 'event'; id: number }
  | { kind: 'gap'; gap: number }
  /** `like` is a call of the group: its name is asked for by this id, however long it is. */
  | { kind: 'kernel'; by: string; key: KernelKey; like: number | null }
  /** `like` is the longest call of the group: it stands for texts too long for an address. */
  | { kind: 'operator'; by: string; key: KernelKey; like: number | null }
  /** A node of the tree by its number, or a class by its name; null is what is outside all modules. */
  | { kind: 'module'; key: number | string | null }
  /** A frame; without a name, what has no stack. `node` is where in the tree it was picked. */
  | { kind: 'frame'; name: string | null; node?: number }
  | { kind: 'block'; block: BlockKey }
  | { kind: 'area'; rows: string; t0: number; t1: number };

export type SplitView = 'all' | 'device' | 'host';
export type Bar = { column: string; descending: boolean };

export const PAGES: { page: PageName; title: string; key: string }[] = [
  { page: 'overview', title: 'Overview', key: 'o' },
  { page: 'timeline', title: 'Timeline', key: 't' },
  { page: 'idle', title: 'GPU idle', key: 'i' },
  { page: 'kernels', title: 'Kernels', key: 'k' },
  { page: 'operators', title: 'Operators', key: 'p' },
  { page: 'modules', title: 'Modules', key: 'm' },
  { page: 'flame', title: 'Flame', key: 'f' },
  { page: 'memory', title: 'Memory', key: 'y' },
];

/** Parts of the page of idle time. */
export const IDLE_PARTS = ['causes', 'launches', 'blocking', 'input', 'path'] as const;
export type IdlePart = (typeof IDLE_PARTS)[number];

/** Which way the tree of idle time is read: from the cause, or from the source line. */
export const TREE_ORDERS = ['cause', 'source'] as const;
export type TreeOrder = (typeof TREE_ORDERS)[number];

/** A row of the tree: what its segments agree in; null asks for those without. */
export type IdleKey = Partial<Record<'cause' | 'module' | 'op' | 'source', string | null>>;

export const LAUNCH_GROUPINGS = ['op', 'name', 'module', 'source', 'annotation', 'step', 'thread'];

/** Which work belongs to a range of time or a step: what starts in it, was launched in it, or runs in it. */
export const WITHIN = ['start', 'launch', 'run'] as const;
export type Within = (typeof WITHIN)[number];

export const MODULE_GROUPINGS = ['tree', 'class'] as const;
export type ModuleGrouping = (typeof MODULE_GROUPINGS)[number];

export const FLAME_FORMS = ['top_down', 'inverted', 'file'] as const;
export type FlameForm = (typeof FLAME_FORMS)[number];
export const FLAME_WEIGHTS = ['auto', 'device', 'host', 'idle', 'allocated'] as const;
export type FlameWeight = (typeof FLAME_WEIGHTS)[number];
export const FLAME_FRAMES = ['python', 'all'] as const;
export type FlameFrames = (typeof FLAME_FRAMES)[number];
export const FLAME_COLOURS = ['kind', 'device'] as const;
export type FlameColour = (typeof FLAME_COLOURS)[number];
/** Whether what has no stack is shown: by itself, while it is the smaller part. */
export const FLAME_STACKLESS = ['auto', 'shown', 'hidden'] as const;
export type FlameStackless = (typeof FLAME_STACKLESS)[number];

/** Parts of the page of memory, below the curve. */
export const MEMORY_PARTS = ['live', 'growth', 'totals', 'map'] as const;
export type MemoryPart = (typeof MEMORY_PARTS)[number];
/** What blocks are grouped by. */
export const MEMORY_KEYS = ['caller', 'op', 'module', 'source', 'annotation', 'phase', 'category'] as const;
export type MemoryBy = (typeof MEMORY_KEYS)[number];
/** What the curve shows: totals, categories, or the file that PyTorch exported. */
export const MEMORY_CURVES = ['total', 'category', 'exported'] as const;
export type MemoryCurve = (typeof MEMORY_CURVES)[number];
export const MEMORY_LAYOUTS = ['size', 'address'] as const;
export type MemoryLayout = (typeof MEMORY_LAYOUTS)[number];

/** The list of traces as last read; null before the first answer. */
export const runs = signal<Runs | null>(null);
/** Why the list could not be read. */
export const runsProblem = signal<Problem | null>(null);

/** Chosen run, rank and span by name; null stands for the first. */
export const run = signal<string | null>(null);
export const rank = signal<string | null>(null);
export const span = signal<string | null>(null);

export const page = signal<PageName>('overview');
export const filter = signal<Filter | null>(null);
/** What the timeline shows; null is the whole recording. */
export const viewport = signal<Range | null>(null);
/** What the drawer tells about. */
export const selection = signal<Selection | null>(null);

/** Fixes that are asked for; none is the recording as it is. */
export const fixes = signal<readonly FixName[]>([]);
/** Check of health whose events the timeline goes through. */
export const evidence = signal<string | null>(null);

/** One search text a page: events, gaps, kernels. */
export const eventQuery = signal('');
/** Time that the search for events is narrowed to. */
export const eventTime = signal<Range | null>(null);
export const gapQuery = signal('');
export const kernelQuery = signal('');
export const operatorQuery = signal('');
export const moduleQuery = signal('');
export const flameQuery = signal('');

export const kernelBy = signal('name');
export const kernelSort = signal<Bar>({ column: 'total_us', descending: true });
export const operatorBy = signal('name');
/** Null sorts by device work where there is some, else by host time. */
export const operatorSort = signal<Bar | null>(null);
export const within = signal<Within>('start');
export const moduleBy = signal<ModuleGrouping>('tree');
export const flameForm = signal<FlameForm>('top_down');
export const flameWeight = signal<FlameWeight>('auto');
export const flameFrames = signal<FlameFrames>('python');
export const flameColour = signal<FlameColour>('kind');
export const flameStackless = signal<FlameStackless>('auto');
/** What fills the picture of stacks: a node of the tree, or (`under`) its children that have less than so many % of it. */
export interface FlameZoom {
  /** Null stands for the top. */
  node: number | null;
  under: number | null;
}

/** Null is all of it. */
export const flameZoom = signal<FlameZoom | null>(null);
export const FLAME_LEAST = 0.5;
/** Frames with a smaller share, in %, are added up. */
export const flameLeast = signal(FLAME_LEAST);
/** Host thread by its title; null is all of them. */
export const flameThread = signal<string | null>(null);
export const memoryQuery = signal('');
/** Device by its name; null is the one that the page picks. */
export const memoryDevice = signal<string | null>(null);
/** What the curve is zoomed to. */
export const memoryZoom = signal<Range | null>(null);
/** Instant whose blocks are listed, ns; null is the peak. */
export const memoryAt = signal<number | null>(null);
export const memoryPart = signal<MemoryPart>('live');
export const memoryBy = signal<MemoryBy>('caller');
/** Group whose blocks are listed. */
export const memoryGroup = signal<{ value: string | null } | null>(null);
export const memoryCurve = signal<MemoryCurve>('total');
/** Whether the curve leaves room for all that the device has. */
export const memoryCapacity = signal(false);
export const memoryLayout = signal<MemoryLayout>('size');
export const splitView = signal<SplitView>('all');
/** GPU whose gaps are listed; null is all of them. */
export const idleDevice = signal<number | null>(null);

export const idlePart = signal<IdlePart>('causes');
export const treeOrder = signal<TreeOrder>('cause');
/** Row of the tree whose gaps are listed. */
export const idleKey = signal<IdleKey | null>(null);
export const launchBy = signal('op');
/** Which calls the host was held up in: those that waited for the device, or those that managed memory. */
export const heldBy = signal<'blocking' | 'allocation'>('blocking');
/** Reason, or name of the allocation, whose calls are listed. */
export const heldReason = signal<string | null>(null);
/** Kind of the critical path whose events are listed. */
export const pathKind = signal<string | null>(null);
/** Whether the timeline draws the critical path. */
export const pathShown = signal(false);

/** Loading state of the chosen trace. */
export const session = signal<Session | null>(null);
export const sessionProblem = signal<Problem | null>(null);
/** Grows with every reload, so that what was read before is read again. */
export const epoch = signal(0);

export const notices = signal<string[]>([]);
export const helpOpen = signal(false);
/** Whether the overview lists every check of health. */
export const healthOpen = signal(false);
export const theme = signal<'light' | 'dark'>('light');

export interface Chosen {
  run: Run;
  rank: Rank;
  span: Span;
}

/** The trace in view; what the address asks for and does not exist falls back to the first. */
export const chosen = computed<Chosen | null>(() => {
  const list = runs.value?.runs ?? [];
  const inRun = list.find((one) => one.name === run.value) ?? list[0];
  const inRank = inRun?.ranks.find((one) => one.label === rank.value) ?? inRun?.ranks[0];
  const inSpan = inRank?.spans.find((one) => one.span === span.value) ?? inRank?.spans[0];
  return inRun && inRank && inSpan ? { run: inRun, rank: inRank, span: inSpan } : null;
});

export const trace = computed<string | null>(() => chosen.value?.span.trace ?? null);

/** What every question is about. */
export const subject = computed<Subject | null>(() =>
  trace.value === null ? null : { trace: trace.value, fix: fixes.value.join(',') || null },
);

/** `Info` of the fixed trace; until it came, the one shown before. */
export const fixedInfo = signal<Info | null>(null);

export const info = computed<Info | null>(() => {
  if (session.value?.state !== 'ready') return null;
  return subject.value?.fix ? fixedInfo.value : session.value.info;
});

export function notice(text: string): void {
  if (!notices.value.includes(text)) notices.value = [...notices.value, text];
}

export function dropNotice(text: string): void {
  notices.value = notices.value.filter((one) => one !== text);
}

/** Picks another trace; times and ids of the one before mean nothing in it. */
export function choose(next: { run?: string; rank?: string; span?: string }): void {
  batch(() => {
    const now = chosen.value;
    run.value = next.run ?? now?.run.name ?? null;
    rank.value = next.run !== undefined ? (next.rank ?? null) : (next.rank ?? now?.rank.label ?? null);
    span.value = next.span ?? null;
    filter.value = null;
    viewport.value = null;
    selection.value = null;
    fixes.value = [];
    evidence.value = null;
    idleKey.value = null;
    heldReason.value = null;
    pathKind.value = null;
    memoryZoom.value = null;
    memoryAt.value = null;
    memoryGroup.value = null;
    flameZoom.value = null;
    flameThread.value = null;
    eventTime.value = null;
  });
}

/** Switches a fix on or off; events stay what they are, gaps and rows do not. */
export function setFix(fix: FixName, on: boolean): void {
  batch(() => {
    fixedInfo.value = info.value;
    fixes.value = FIXES.filter((one) => (one === fix ? on : fixes.value.includes(one)));
    if (selection.value?.kind === 'gap' || selection.value?.kind === 'area') selection.value = null;
  });
}

/** Looks for events by name, in all of the time or in a part of it; ends a tour of other ones. */
export function findEvents(query: string, time: Range | null = null): void {
  batch(() => {
    eventQuery.value = query;
    eventTime.value = time;
    evidence.value = null;
  });
}

/** Opens the timeline on the first of the events behind a check. */
export function showCheck(check: string): void {
  batch(() => {
    page.value = 'timeline';
    eventQuery.value = '';
    viewport.value = null;
    selection.value = null;
    evidence.value = check;
  });
}

/** Opens a part of the page of idle time. */
export function showIdle(part: IdlePart): void {
  batch(() => {
    go('idle');
    idlePart.value = part;
  });
}

/** Opens a part of the page of memory. */
export function showMemory(part: MemoryPart, device: string | null = null): void {
  batch(() => {
    go('memory');
    memoryPart.value = part;
    memoryGroup.value = null;
    if (device) memoryDevice.value = device;
  });
}

/** Opens the page of idle time at a cause. */
export function showCause(cause: string): void {
  batch(() => {
    showIdle('causes');
    treeOrder.value = 'cause';
    idleKey.value = { cause };
  });
}

/** Opens the timeline with the critical path over it, on a step where there is one. */
export function showCriticalPath(step: Range | null): void {
  batch(() => {
    pathShown.value = true;
    if (step) showInTimeline(step.t0, step.t1 - step.t0, null, 0.02);
    else go('timeline');
  });
}

export function go(to: PageName): void {
  batch(() => {
    if (page.value !== to && selection.value?.kind !== 'event') selection.value = null;
    page.value = to;
  });
}

/** Opens the timeline on `[start, start + duration]` with room around it. */
export function showInTimeline(start: number, duration: number, what: Selection | null, margin = 1.5): void {
  const around = Math.max(duration * margin, 500);
  const end = info.value?.end_ns ?? start + duration + around;
  batch(() => {
    page.value = 'timeline';
    viewport.value = { t0: Math.max(0, start - around), t1: Math.min(end, start + duration + around) };
    if (what) selection.value = what;
  });
}

/** What the filter is called in a sentence. */
export function filterWords(narrowed: Filter): string {
  return narrowed.step === null ? 'in the chosen time' : `in step ${narrowed.step}`;
}

export function filterStep(step: { step: number; start_ns: number; end_ns: number }): void {
  const same = filter.value?.step === step.step;
  filter.value = same ? null : { t0: step.start_ns, t1: step.end_ns, step: step.step };
}

/** The filter as the views take it: a step by its number, other times by their bounds. */
export function filterParameters(narrowed: Filter | null): { step?: number; start_us?: string; end_us?: string } {
  if (!narrowed) return {};
  if (narrowed.step !== null) return { step: narrowed.step };
  return { start_us: (narrowed.t0 / 1e3).toFixed(3), end_us: (narrowed.t1 / 1e3).toFixed(3) };
}

/** The filter with what belongs to it, for the views that can tell. */
export function selectionParameters(
  narrowed: Filter | null,
): ReturnType<typeof filterParameters> & { within?: Within } {
  if (!narrowed || within.value === 'start') return filterParameters(narrowed);
  return { ...filterParameters(narrowed), within: within.value };
}
