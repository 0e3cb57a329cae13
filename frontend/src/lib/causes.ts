/** What kept a device waiting, in words: the one place for them. The order is that of `CAUSES` in kinetoscope.idle.causes. */

export interface Term {
  title: string;
  /** One line for hovers. */
  help: string;
}

interface CauseTerm extends Term {
  /** What the device does meanwhile, after “in 33 % it …”. */
  phrase: string;
}

const TERMS = {
  synchronization: {
    title: 'Synchronization',
    phrase: 'stands empty behind blocking calls',
    help: 'The host waited inside a blocking call until the device had finished, so that nothing was queued behind it.',
  },
  'memory allocation': {
    title: 'Memory allocation',
    phrase: 'waits for memory allocation',
    help: 'The host was allocating or freeing device or pinned memory in the driver.',
  },
  'data loading': {
    title: 'Data loading',
    phrase: 'waits for data loading',
    help: 'The host was inside a data loader range: fetching, waiting for workers, collating or pinning.',
  },
  compilation: {
    title: 'Compilation',
    phrase: 'waits for compilation',
    help: 'The host was compiling or tracing (torch.compile, Triton, graph capture).',
  },
  'launch calls': {
    title: 'Launch calls',
    phrase: 'waits for launch calls',
    help: 'The host was inside calls to the device driver, launching work or asking for it.',
  },
  'host work': {
    title: 'Host work',
    phrase: 'waits for work on the host',
    help: 'The host was inside an operator or annotation, between its calls to the driver.',
  },
  'host python': {
    title: 'Host Python',
    phrase: 'waits for Python',
    help: 'The host ran Python outside of operators. Seen only where stacks were recorded.',
  },
  'untraced host': {
    title: 'Untraced host',
    phrase: 'waits for a host that recorded nothing',
    help: 'Nothing was recorded on the host meanwhile: Python without stacks, or another process had the processor.',
  },
  'launch latency': {
    title: 'Launch latency',
    phrase: 'waits for work that is on its way',
    help: 'The launch call had returned; the work was on its way to the device. At most 1 ms, longer is a late start.',
  },
  'inside a graph': {
    title: 'Inside a graph',
    phrase: 'is between works of a graph',
    help: 'Between works of one graph launch.',
  },
  'device scheduling': {
    title: 'Device scheduling',
    phrase: 'switches from one work to the next',
    help: 'The next work was queued before the gap began; the device took its time to start it.',
  },
  'stream dependency': {
    title: 'Stream dependency',
    phrase: 'waits for another stream',
    help: 'The next work was told to wait for work of another stream that ended when the gap began or later.',
  },
  'late start': {
    title: 'Late start',
    phrase: 'shows nothing though work is queued',
    help: 'The device showed nothing for more than 1 ms after the launch returned: probably busy with work that is not in the recording. In no advice.',
  },
  'no launch recorded': {
    title: 'No launch recorded',
    phrase: 'waits for launches that were not recorded',
    help: 'The recording does not hold the call that launched the next work, so that nobody can tell.',
  },
} satisfies Record<string, CauseTerm>;

export type Cause = keyof typeof TERMS;

export const CAUSES = Object.keys(TERMS) as Cause[];

/** Words of a cause; one that is not known yet is called by its key. */
export function causeTerm(cause: string): CauseTerm {
  if (Object.hasOwn(TERMS, cause)) return TERMS[cause as Cause];
  return { title: cause, help: '', phrase: `waits: ${cause}` };
}

/** Kinds of the critical path that are no causes of idle time: device work. */
const WORK: Record<string, Term> = {
  compute: { title: 'Compute', help: 'A kernel that computes.' },
  communication: { title: 'Communication', help: 'A kernel of a collective.' },
  memcpy: { title: 'Copy', help: 'A copy of memory on the device or to and from it.' },
  memset: { title: 'Memset', help: 'Memory being set on the device.' },
};

/** The one kind that is neither work nor a cause of idle time. */
export const OTHER_STREAMS = 'other streams';
const BESIDE: Term = {
  title: 'Other streams',
  help: 'The next work was queued, and another stream of the device worked: it may have waited for that, recorded or not.',
};

/** Words of a kind of stretch of the critical path. */
export function pathTerm(kind: string): Term {
  if (kind === OTHER_STREAMS) return BESIDE;
  return isWorkKind(kind) ? WORK[kind] : causeTerm(kind);
}

/** Whether a kind of stretch is work of a device. */
export function isWorkKind(kind: string): boolean {
  return Object.hasOwn(WORK, kind);
}

/** Place of a cause in the order of the analysis, unknown ones last. */
export function causeOrder(cause: string): number {
  const at = CAUSES.indexOf(cause as Cause);
  return at < 0 ? CAUSES.length : at;
}
