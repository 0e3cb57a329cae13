/** A made-up training run: six steps of a small network, one GPU, host threads, a data loader that is late. */
import type { Lane, Step } from '../../src/model/wire';

export interface MockEvent {
  id: number;
  name: string;
  kind: string;
  row: number;
  start: number;
  length: number;
  step: number;
  launch: number | null;
  op: number | null;
}

export interface MockTrace {
  events: MockEvent[];
  lanes: Lane[];
  steps: Step[];
  end: number;
  /** Kernel whose end was lost, as recorded or as repaired; null in a sound trace. */
  lost: { id: number; repaired: boolean } | null;
  gaps: { start: number; end: number; next: MockEvent | null; previous: MockEvent | null }[];
}

const LAYERS = 24;
const KERNELS = [
  'void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>)',
  'ampere_sgemm_128x64_tn',
  'void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_tr_1C11_args<float>)',
  'void at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>(float*, float const*, int, int, int, bool const*, int, bool)',
  'sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16',
  'triton_poi_fused_add_relu_3',
];
const OPS = ['aten::mul', 'aten::linear', 'aten::batch_norm', 'aten::softmax', 'aten::conv2d', 'aten::add_'];

/** Rows: 0 idle, 1 compute stream, 2 communication stream, 3–6 main thread, 7–8 autograd thread. */
const ROWS = { idle: 0, compute: 1, nccl: 2, main: 3, autograd: 7 };

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

class Maker {
  readonly events: MockEvent[] = [];
  readonly chance = random(7);
  host = 1_000_000;
  device = 0;
  step = 0;

  add(
    name: string,
    kind: string,
    row: number,
    start: number,
    length: number,
    links: Partial<MockEvent> = {},
  ): MockEvent {
    const event = {
      id: this.events.length,
      name,
      kind,
      row,
      start: Math.round(start),
      length: Math.round(length),
      step: this.step,
      launch: null,
      op: null,
      ...links,
    };
    this.events.push(event);
    return event;
  }

  /** An op, its launch, and the kernel, which waits for the stream. */
  work(row: number, layer: number, scale: number): void {
    const which = layer % KERNELS.length;
    const op = this.add(OPS[which], 'op', row, this.host, 26_000);
    const launch = this.add('cudaLaunchKernel', 'api_call', row + 1, this.host + 9_000, 8_000 + this.chance() * 4_000, {
      op: op.id,
    });
    const start = Math.max(this.device, launch.start + launch.length * 0.8);
    const length = (12_000 + which * 34_000 * this.chance()) * scale;
    this.add(KERNELS[which], 'kernel', ROWS.compute, start, length, { launch: launch.id, op: op.id });
    this.device = start + length + (this.chance() > 0.6 ? 1_400 : 0);
    this.host += 30_000 + this.chance() * 9_000;
  }
}

function makeStep(maker: Maker, step: number): Step {
  maker.step = step;
  const from = maker.host;
  const loader = step === 3 ? 9_000_000 : 1_700_000 + maker.chance() * 600_000;
  maker.add(
    'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__',
    'data_loader',
    ROWS.main + 1,
    maker.host + 20_000,
    loader,
  );
  maker.host += loader + 60_000;
  maker.device = Math.max(maker.device, maker.host + 60_000);
  const copy = maker.add('cudaMemcpyAsync', 'api_call', ROWS.main + 2, maker.host, 30_000);
  maker.add('Memcpy HtoD (Pinned -> Device)', 'memcpy', ROWS.compute, maker.device, 420_000, { launch: copy.id });
  maker.device += 422_000;
  maker.host += 60_000;
  const forward = maker.host;
  for (let layer = 0; layer < LAYERS * 4; layer++) maker.work(ROWS.main + 2, layer, 1);
  maker.add('forward', 'annotation', ROWS.main + 1, forward - 5_000, maker.host - forward);
  for (let layer = LAYERS * 4; layer > 0; layer--) maker.work(ROWS.autograd, layer, 1.5);
  const reduce = maker.device - 1_900_000;
  maker.add(
    'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
    'communication',
    ROWS.nccl,
    reduce,
    2_300_000,
  );
  maker.device = Math.max(maker.device, reduce + 2_310_000);
  maker.add(
    'cudaStreamSynchronize',
    'api_call',
    ROWS.main + 1,
    maker.host,
    Math.max(10_000, maker.device - maker.host),
  );
  const end = Math.max(maker.host, maker.device) + 40_000;
  maker.add(`ProfilerStep#${step}`, 'step', ROWS.main, from, end - from);
  maker.host = end + 5_000;
  return {
    step,
    name: `ProfilerStep#${step}`,
    start_ns: Math.round(from),
    end_ns: Math.round(end),
    host_start_ns: Math.round(from),
    host_end_ns: Math.round(end),
    incomplete: step === 10,
  };
}

function findGaps(events: MockEvent[], from: number, to: number): MockTrace['gaps'] {
  const work = events
    .filter((event) => event.row === ROWS.compute || event.row === ROWS.nccl)
    .sort((a, b) => a.start - b.start);
  const gaps: MockTrace['gaps'] = [];
  let reached = from;
  let previous: MockEvent | null = null;
  for (const event of work) {
    if (event.start > reached) gaps.push({ start: reached, end: event.start, next: event, previous });
    if (event.start + event.length >= reached) {
      reached = event.start + event.length;
      previous = event;
    }
  }
  if (reached < to) gaps.push({ start: reached, end: to, next: null, previous });
  return gaps;
}

function makeLanes(events: MockEvent[]): Lane[] {
  const lane = (
    lane: number,
    parent: number | null,
    kind: Lane['kind'],
    title: string,
    detail: string,
    first_row: number,
    rows: number,
  ): Lane => {
    const own = events.filter((event) => event.row >= first_row && event.row < first_row + rows);
    const busy_ns = own.filter((event) => event.row === first_row).reduce((sum, event) => sum + event.length, 0);
    return {
      lane,
      parent,
      kind,
      title,
      detail,
      device: kind === 'process' || kind === 'thread' ? null : 0,
      first_row,
      rows,
      events: own.length,
      busy_ns,
      unit: '',
      low: null,
      high: null,
    };
  };
  return [
    lane(0, null, 'gpu', 'GPU 0', 'NVIDIA A100-SXM4-80GB', 0, 0),
    lane(1, 0, 'idle', 'Idle', 'no stream works', ROWS.idle, 1),
    lane(2, 0, 'stream', 'Stream 7', 'compute', ROWS.compute, 1),
    lane(3, 0, 'stream', 'Stream 20', 'communication', ROWS.nccl, 1),
    lane(4, null, 'process', 'python train.py', 'pid 4711', 3, 0),
    lane(5, 4, 'thread', 'Main thread', '4711', ROWS.main, 4),
    lane(6, 4, 'thread', 'pt_autograd_0', '4790', ROWS.autograd, 2),
  ];
}

export type Variant = 'sound' | 'broken' | 'repaired';

const LOST_NS = 60_000_000;

/** Gives a kernel of the last step an end long after everything else. */
function loseEnd(events: MockEvent[], end: number, variant: Variant): MockTrace['lost'] {
  const kernels = events.filter((event) => event.kind === 'kernel');
  const victim = kernels[kernels.length - 60];
  if (variant === 'sound') return null;
  if (variant === 'broken') victim.length = end + LOST_NS - victim.start;
  return { id: victim.id, repaired: variant === 'repaired' };
}

export function makeTrace(variant: Variant = 'sound'): MockTrace {
  const maker = new Maker();
  const steps = [5, 6, 7, 8, 9, 10].map((step) => makeStep(maker, step));
  for (let i = 0; i < 40_000; i++)
    maker.add(
      'aten::empty',
      'op',
      ROWS.main + 3,
      1_000_000 + (i * (maker.host - 1e6)) / 40_000,
      300 + maker.chance() * 900,
    );
  const sound = Math.round(maker.host);
  const lost = loseEnd(maker.events, sound, variant);
  const end = variant === 'broken' ? sound + LOST_NS : sound;
  const gaps = findGaps(maker.events, steps[0].start_ns, steps[steps.length - 1].end_ns);
  return { events: maker.events, lanes: makeLanes(maker.events), steps, end, lost, gaps };
}
