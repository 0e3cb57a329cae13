/** The shapes of docs/wire.md. Points in time are integer nanoseconds from the trace's origin. */

export interface Problem {
  code: string;
  message: string;
  hint: string;
  where: string;
}

export interface Runs {
  state: 'scanning' | 'ready' | 'failed';
  logdir: string;
  folders: number;
  generation: number;
  runs: Run[];
  problems: { file: string; code: string; message: string }[];
  error: Problem | null;
}

export interface Run {
  name: string;
  ranks: Rank[];
}

export interface Rank {
  rank: number | null;
  label: string;
  worker: string;
  spans: Span[];
}

export interface Span {
  span: string;
  trace: string;
  file: string;
  bytes: number;
}

export interface Session {
  state: 'queued' | 'loading' | 'ready' | 'failed' | 'cancelled';
  stage: 'start' | 'read' | 'decode' | 'link' | 'done';
  bytes_done: number;
  bytes_total: number;
  events: number;
  elapsed_ms: number;
  changed: boolean;
  error: Problem | null;
  info: Info | null;
}

export interface Step {
  step: number;
  name: string;
  start_ns: number;
  end_ns: number;
  host_start_ns: number;
  host_end_ns: number;
  incomplete: boolean;
}

export interface Device {
  device: number;
  name: string | null;
  memory_bytes: number | null;
  sm_count: number | null;
  capability: string | null;
}

export type PageName = 'overview' | 'timeline' | 'idle' | 'kernels' | 'operators' | 'modules' | 'flame' | 'memory';

export const SEVERITIES = ['ok', 'info', 'warning', 'error'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** Fixes in the order in which they are applied. */
export const FIXES = ['durations', 'clock'] as const;

export type FixName = (typeof FIXES)[number];

export interface Fix {
  fix: FixName;
  events: number;
  applied: boolean;
}

export interface Health {
  worst: Severity;
  counts: Record<Severity, number>;
}

export interface Info {
  origin_ns: string;
  end_ns: number;
  file: string;
  bytes: number;
  events: number;
  synthetic: string | null;
  kinds: Record<string, number>;
  accounting: { what: string; reason: string; events: number; kept: boolean }[];
  devices: Device[];
  steps: Step[];
  recording: { key: string; value: string }[];
  switches: { shapes: boolean; memory: boolean; stacks: boolean; modules: boolean; flops: boolean };
  pages: Record<string, { available: boolean; reason: string }>;
  notes: string[];
  health: Health;
  fixes: Fix[];
}

export type Cell = number | string | boolean | null;

export interface Column {
  name: string;
  unit: string | null;
  type: 'number' | 'integer' | 'text' | 'boolean';
  description: string;
}

export interface Table {
  view: string;
  trace: { path: string; run: string | null; rank: number | null; span: string | null; origin_ns: string };
  columns: Column[];
  data: Record<string, Cell[]>;
  rows: number;
  notes: string[];
}

export type LaneKind = 'gpu' | 'idle' | 'stream' | 'ranges' | 'counter' | 'process' | 'thread';

export interface Lane {
  lane: number;
  parent: number | null;
  kind: LaneKind;
  title: string;
  detail: string;
  device: number | null;
  first_row: number;
  rows: number;
  events: number;
  busy_ns: number;
  /** Of a counter: what it counts, its least and its most value. */
  unit: string;
  low: number | null;
  high: number | null;
}

export interface Lanes {
  end_ns: number;
  rows: number;
  lanes: Lane[];
}

export interface Names {
  names: string[];
}

export interface Ref {
  id: number;
  name: string;
  kind: string;
  start_ns: number;
  duration_ns: number;
  row: number | null;
}

export interface EventDetail extends Ref {
  category: string;
  thread: string;
  device: number | null;
  stream: number | null;
  correlation: number | null;
  step: number | null;
  args: Record<string, unknown>;
  parents: Ref[];
  op: Ref | null;
  launch: Ref | null;
  works: Ref[];
  works_total: number;
  forward: Ref | null;
  backward: Ref[];
  same_name: { calls: number; total_ns: number; mean_ns: number; min_ns: number; max_ns: number };
  unfinished: boolean;
}

/** Stretches of the critical paths, in time order. */
export interface CriticalPath {
  start_ns: number[];
  end_ns: number[];
  row: (number | null)[];
  kind: string[];
  stretches: number;
}

/** The longest event, or gap, of a merged bar. */
export interface Longest {
  id: number;
  name: number;
  kind: string;
  start_ns: number;
  duration_ns: number;
  row: number;
}

export interface Neighbor {
  event: Ref | null;
}

export interface SearchResult {
  total: number;
  names: number[];
  hits: { id: number[]; name: number[]; start_ns: number[]; duration_ns: number[]; row: number[] };
}

export interface AreaRow {
  name: string;
  kind: string;
  calls: number;
  total_ns: number;
  mean_ns: number;
  min_ns: number;
  max_ns: number;
}

export interface Area {
  rows: AreaRow[];
  total_ns: number;
  events: number;
}

export interface Minimap {
  px: number;
  end_ns: number;
  devices: { device: number; busy: number[] }[];
  host: number[];
}

/** Kind codes of a tile, in order. */
export const KINDS = [
  'op',
  'annotation',
  'python',
  'api_call',
  'kernel',
  'memcpy',
  'memset',
  'device_range',
  'sync',
  'counter',
  'overhead',
  'memory',
  'trace',
  'other',
  'communication',
  'idle',
  'step',
  'data_loader',
  'idle synchronization',
  'idle memory allocation',
  'idle data loading',
  'idle compilation',
  'idle launch calls',
  'idle host work',
  'idle host python',
  'idle untraced host',
  'idle launch latency',
  'idle inside a graph',
  'idle device scheduling',
  'idle stream dependency',
  'idle late start',
  'idle no launch recorded',
] as const;

export type Kind = (typeof KINDS)[number];

export const FLAG_MERGED = 1;
export const FLAG_CLIPPED_LEFT = 2;
export const FLAG_CLIPPED_RIGHT = 4;
export const FLAG_UNFINISHED = 8;
