/** What could be faster: rules that apply, rules that do not, and rules that could not be checked. */
import { batch } from '@preact/signals';
import { attempt } from '../lib/browser';
import {
  go,
  heldBy,
  heldReason,
  kernelBy,
  LAUNCH_GROUPINGS,
  launchBy,
  MEMORY_KEYS,
  type MemoryPart,
  memoryBy,
  selection,
  showCause,
  showIdle,
  showMemory,
  treeOrder,
} from './state';
import { nanoseconds, numbers, texts } from './tables';
import type { Table } from './wire';

export interface Finding {
  rule: string;
  status: string;
  /** The most that a step can gain, ns; null where none can be told. */
  gain: number | null;
  gainShare: number | null;
  title: string;
  claim: string;
  fix: string;
  link: string;
  evidence: Evidence;
}

export interface Evidence {
  view: string;
  parameters: Record<string, string>;
}

export function readAdvice(table: Table): Finding[] {
  const text = (name: string) => texts(table, name);
  const columns = {
    rule: text('rule'),
    status: text('status'),
    title: text('title'),
    claim: text('claim'),
    fix: text('fix'),
    link: text('link'),
    view: text('evidence_view'),
    parameters: text('evidence_parameters'),
  };
  const gain = nanoseconds(table, 'gain_us');
  const share = numbers(table, 'gain_pct');
  return columns.rule.map((rule, row) => ({
    rule,
    status: columns.status[row],
    gain: gain[row],
    gainShare: share[row],
    title: columns.title[row],
    claim: columns.claim[row],
    fix: columns.fix[row],
    link: columns.link[row],
    evidence: { view: columns.view[row], parameters: readParameters(columns.parameters[row]) },
  }));
}

function readParameters(json: string): Record<string, string> {
  const read = attempt(() => JSON.parse(json) as unknown, null);
  if (typeof read !== 'object' || read === null) return {};
  return Object.fromEntries(Object.entries(read).map(([key, value]) => [key, String(value)]));
}

/** Whether a link may be offered: documentation on the web, nothing that runs. */
export function isWebLink(link: string): boolean {
  return attempt(() => ['https:', 'http:'].includes(new URL(link).protocol), false);
}

type Show = (parameters: Record<string, string>) => void;

const scrollTo = (id: string) => () => document.getElementById(id)?.scrollIntoView({ block: 'start' });

/** Where each view is shown. */
const PLACES: Record<string, Show> = {
  idle_segments: ({ cause }) => (cause ? showCause(cause) : showIdle('causes')),
  idle: ({ by }) => {
    showIdle('causes');
    treeOrder.value = by === 'source' ? 'source' : 'cause';
  },
  input_pipeline: () => showIdle('input'),
  copies: () => showIdle('input'),
  launches: ({ by }) => {
    showIdle('launches');
    if (LAUNCH_GROUPINGS.includes(by)) launchBy.value = by;
  },
  syncs: () => showHeld('blocking'),
  api_calls: ({ kind }) => showHeld(kind === 'allocation' ? 'allocation' : 'blocking'),
  critical_path: () => showIdle('path'),
  kernels: ({ by }) => {
    go('kernels');
    if (by) kernelBy.value = by;
  },
  kernel_calls: ({ op }) => {
    go('kernels');
    if (!op) return;
    kernelBy.value = 'op';
    selection.value = { kind: 'kernel', by: 'op', key: { op }, like: null };
  },
  memory: memoryPlace('live'),
  memory_timeline: memoryPlace('live'),
  memory_peak: memoryPlace('live'),
  memory_steps: memoryPlace('growth'),
  memory_growth: memoryPlace('growth'),
  memory_churn: memoryPlace('growth'),
  memory_by_op: memoryPlace('totals'),
  allocations: memoryPlace('map'),
  steps: scrollTo('steps'),
  devices: scrollTo('devices'),
};

function memoryPlace(part: MemoryPart): Show {
  return ({ device, by }) => {
    showMemory(part, device ?? null);
    memoryBy.value = MEMORY_KEYS.find((one) => one === by) ?? memoryBy.value;
  };
}

function showHeld(by: 'blocking' | 'allocation'): void {
  showIdle('blocking');
  heldBy.value = by;
  heldReason.value = null;
}

export function canShow({ view }: Evidence): boolean {
  return Object.hasOwn(PLACES, view);
}

/** Opens what a finding rests on. */
export function showEvidence({ view, parameters }: Evidence): void {
  batch(() => PLACES[view]?.(parameters));
}
