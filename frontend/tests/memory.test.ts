import { describe, expect, it } from 'vitest';
import { categoryColour, RANKS, rankColour } from '../src/lib/memory_colours';
import { showEvidence } from '../src/model/advice';
import { boxAt, layByAddress, packBySize } from '../src/model/block_map';
import { printAddress, takeAddress } from '../src/model/location';
import * as memory from '../src/model/memory';
import * as state from '../src/model/state';
import { byteTicks, makePlot } from '../src/views/memory/plot';
import { tableOf } from './helpers';

/** Blocks as `[address, bytes, from µs, to µs, state?]`. */
function blocksOf(list: [string, number, number | null, number | null, string?][]): memory.Blocks {
  return memory.readBlocks(
    tableOf({
      device: list.map(() => 'cuda:0'),
      address: list.map(([address]) => address),
      bytes: list.map(([, bytes]) => bytes),
      from_us: list.map(([, , from]) => from),
      to_us: list.map(([, , , to]) => to),
      state: list.map(([, , , , one]) => one ?? 'freed'),
      op: list.map(([address]) => (address === '0x10' ? 'aten::mm' : null)),
    }),
  );
}

const WINDOW = { t0: 0, t1: 100_000 };

describe('the curve', () => {
  const curve = memory.readCurve(
    tableOf({
      time_us: [1, 2.5, 2.5, 9],
      allocated_bytes: [100, 300, 250, 0],
      reserved_bytes: [null, null, null, null],
      unknown_bytes: [100, 100, 50, 0],
      gradient_bytes: [0, 200, 200, 0],
      input_bytes: [0, 0, 0, 0],
    }),
  );

  it('is exact in time, and knows that nothing was reserved', () => {
    expect(curve.time).toEqual([1000, 2500, 2500, 9000]);
    expect(curve.reserved).toBeNull();
  });

  it('stacks what is there in one order, the unknown on top', () => {
    expect(curve.parts.map((part) => part.category)).toEqual(['gradient', 'unknown']);
  });

  it('holds what the last event up to a time left', () => {
    expect([999, 1000, 2499, 2500, 1e9].map((time) => memory.entryAt(curve, time))).toEqual([-1, 0, 0, 2, 3]);
    expect(memory.highest(curve.allocated)).toBe(1);
    expect(memory.highest([])).toBe(-1);
  });
});

describe('the device that is shown', () => {
  const devices = memory.readDevices(
    tableOf({
      device: ['cuda:0', 'cuda:1', 'cpu'],
      peak_allocated_bytes: [10, 30, 900],
      recorded_totals: [true, true, false],
    }),
  );
  const chosen = (wanted: string | null, some = devices) => memory.chosenDevice(some, wanted)?.device;

  it('is the fullest accelerator, unless another is asked for', () => {
    expect(chosen(null)).toBe('cuda:1');
    expect(chosen('cpu')).toBe('cpu');
    expect(chosen('hip:7')).toBe('cuda:1');
    expect(chosen(null, devices.slice(2))).toBe('cpu');
    expect(chosen(null, [])).toBeUndefined();
  });

  it('says whether its totals were recorded', () => {
    expect(devices.map((one) => one.recorded)).toEqual([true, true, false]);
  });
});

describe('what changed', () => {
  const change = { t0: 2000, t1: 3000 };
  const sums = tableOf({
    caller: ['aten::mm', null],
    allocated_bytes: [400, 0],
    freed_bytes: [0, 700],
    frees: [0, 3],
  });
  const blocks = tableOf({ caller: ['aten::add', 'aten::add', 'late'], bytes: [300, 250, 999], to_us: [2, 2.5, 3] });

  it('is told by who had allocated it, not by what ran at the free', () => {
    expect(memory.changesOf(sums, blocks, change)).toEqual([
      { owner: 'aten::add', allocated: 0, freed: 550 },
      { owner: 'aten::mm', allocated: 400, freed: 0 },
      { owner: null, allocated: 0, freed: 150 },
    ]);
  });

  it('is of nobody known where no block is', () => {
    expect(memory.changesOf(sums, null, change)).toEqual([
      { owner: null, allocated: 0, freed: 700 },
      { owner: 'aten::mm', allocated: 400, freed: 0 },
    ]);
  });

  it('asks for few blocks, one that ends at the very start among them', () => {
    expect(memory.freedParameters('cuda:0', change, 700, 3)).toEqual({
      device: 'cuda:0',
      state: 'freed',
      start_us: '1.999',
      end_us: '3.000',
      min_bytes: 233,
      largest: 2000,
    });
  });
});

it('operators are called as on the command line', () => {
  expect([memory.KEY_WORDS.op.title, memory.KEY_WORDS.caller.title]).toEqual(['Operator', 'Calling operator']);
});

describe('phases of training', () => {
  const phases = memory.readPhases(
    tableOf({
      phase: ['data', 'forward', 'backward'],
      start_us: [1, 2.5, 9],
      end_us: [2, 9, 12],
    }),
  );

  it('are found by an instant, their end left out', () => {
    expect([999, 1000, 1999, 2000, 2500, 9000, 12_000].map((time) => memory.phaseAt(phases, time))).toEqual([
      -1, 0, 0, -1, 1, 2, -1,
    ]);
    expect(['data', 'backward'].map(memory.phaseLabel)).toEqual(['Data loading', 'Backward']);
  });

  it('have room of their own below the plot, above the axis of time', () => {
    const [bare, footed] = [0, 12].map((foot) => makePlot(580, 142, WINDOW, 1000, foot));
    expect([bare.axis, bare.bottom]).toEqual([122, 122]);
    expect([footed.axis, footed.bottom, footed.y(0)]).toEqual([122, 110, 110]);
  });
});

it('reads what casts doubt on the figures of a device', () => {
  const table = { device: ['cuda:0', 'cpu'], peak_us: [1, 1], unmatched_frees: [2, 0], jumps: [null, 1] };
  expect(memory.readDevices(tableOf(table)).map(({ unmatchedFrees, jumps }) => [unmatchedFrees, jumps])).toEqual([
    [2, 0],
    [0, 1],
  ]);
});

it('asks for times exactly, and for one block with few others', () => {
  expect(memory.rangeParameters({ t0: 1, t1: 1_000_001 })).toEqual({ start_us: '0.001', end_us: '1000.001' });
  expect(memory.rangeParameters(null)).toEqual({});
  expect(memory.liveParameters(2500)).toEqual({ start_us: '2.500', end_us: '2.501' });
  const key = { device: 'cpu', address: '0x1', bytes: 8 };
  expect(memory.blockParameters({ ...key, from: 2500 })).toEqual({
    device: 'cpu',
    min_bytes: 8,
    start_us: '2.499',
    end_us: '2.501',
  });
  expect(memory.blockParameters({ ...key, from: 0 })).toEqual({ device: 'cpu', min_bytes: 8, end_us: '0.001' });
  expect(memory.blockParameters({ ...key, from: null })).toMatchObject({ state: 'before recording' });
});

it('asks for the blocks of a group, unless its name is too long or empty', () => {
  expect(memory.keyParameters('op', 'aten::mm')).toEqual({ op: 'aten::mm' });
  expect(memory.keyParameters('module', null)).toEqual({ module: '' });
  expect(memory.keyParameters('op', '')).toBeNull();
  expect(memory.keyParameters('op', '\ufffdbackwards')).toBeNull();
  expect(memory.keyParameters('op', 'x'.repeat(3000))).toBeNull();
});

it('shows the zoom, else the filter, else everything', () => {
  const narrowed = { t0: 5, t1: 9, step: 1 };
  expect(memory.shownRange(null, null, 50)).toEqual({ t0: 0, t1: 50 });
  expect(memory.shownRange(null, narrowed, 50)).toEqual({ t0: 5, t1: 9 });
  expect(memory.shownRange({ t0: 6, t1: 7 }, narrowed, 50)).toEqual({ t0: 6, t1: 7 });
  expect(memory.shownRange(null, null, 0)).toEqual({ t0: 0, t1: 1 });
});

describe('the block map', () => {
  it('puts the largest at the bottom, and others into the lowest gap that is free while they live', () => {
    const blocks = blocksOf([
      ['0x10', 10, 0, 50],
      ['0x20', 30, 10, 40],
      ['0x30', 10, 40, 90],
      ['0x40', 20, 60, 100],
    ]);
    const { boxes, height } = packBySize(blocks, WINDOW);
    const placed = Object.fromEntries(boxes.map(({ row, low, high }) => [row, [low, high]]));
    // 30 at 0; 20 at 0, when that is over; the 10s above them, while they live.
    expect(placed).toEqual({ 0: [30, 40], 1: [0, 30], 2: [20, 30], 3: [0, 20] });
    expect(height).toBe(40);
  });

  it('never lets two blocks share a byte at the same time', () => {
    let seed = 7;
    const random = (limit: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % limit;
    };
    const list = Array.from({ length: 120 }, (_, i): [string, number, number, number] => {
      const from = random(80);
      return [`0x${(i * 4096).toString(16)}`, 1 + random(50), from, from + 1 + random(20)];
    });
    const { boxes } = packBySize(blocksOf(list), WINDOW);
    expect(boxes).toHaveLength(120);
    for (const a of boxes) {
      for (const b of boxes) {
        const apart = a === b || a.t1 <= b.t0 || b.t1 <= a.t0 || a.high <= b.low || b.high <= a.low;
        expect(apart).toBe(true);
      }
    }
  });

  it('lays blocks by address without the space that none uses', () => {
    const blocks = blocksOf([
      ['0x7fff00000010', 16, 0, 10],
      ['0x1000', 32, 0, 10],
      ['0x1010', 8, 20, 30],
      ['nonsense', 4, 0, 1],
    ]);
    const { boxes, height } = layByAddress(blocks, WINDOW);
    const placed = Object.fromEntries(boxes.map(({ row, low, high }) => [row, [low, high]]));
    expect(placed).toEqual({ 3: [0, 4], 1: [4, 36], 2: [20, 28], 0: [36, 52] });
    expect(height).toBe(52);
  });

  it('ends a block that lost its free where its address begins again, and an open one at the edge', () => {
    const blocks = blocksOf([
      ['0x10', 1, null, null, 'lost'],
      ['0x10', 1, 30, null, 'open'],
    ]);
    const lives = packBySize(blocks, WINDOW).boxes.sort((a, b) => a.row - b.row);
    expect(lives.map(({ t0, t1 }) => [t0, t1])).toEqual([
      [0, 30_000],
      [30_000, 100_000],
    ]);
  });

  it('finds the block under the mouse, and short ones beside it', () => {
    const map = packBySize(
      blocksOf([
        ['0x10', 10, 10, 20],
        ['0x20', 10, 40, 40],
      ]),
      WINDOW,
    );
    expect(boxAt(map, 15_000, 5, 0)?.row).toBe(0);
    expect(boxAt(map, 15_000, 10, 0)).toBeNull();
    expect(boxAt(map, 41_000, 5, 0)).toBeNull();
    expect(boxAt(map, 41_000, 5, 2_000)?.row).toBe(1);
  });

  it('sums groups, most bytes first', () => {
    const blocks = blocksOf([
      ['0x20', 5, 0, 1],
      ['0x10', 4, 0, 1],
      ['0x10', 4, 2, 3],
    ]);
    expect(memory.groupsOf(blocks, 'op')).toEqual([
      { value: 'aten::mm', bytes: 8 },
      { value: null, bytes: 5 },
    ]);
    const key = memory.blockKey(blocks, 2);
    expect(memory.findBlock(blocks, key)).toBe(2);
    expect(memory.findBlock(blocks, { ...key, from: 5 })).toBe(-1);
  });
});

describe('the plot', () => {
  it('goes from pixels to values and back', () => {
    const plot = makePlot(580, 142, { t0: 100, t1: 600 }, 1000);
    expect(plot.timeOf(plot.x(250))).toBeCloseTo(250);
    expect(plot.bytesOf(plot.y(400))).toBeCloseTo(400);
    expect(plot.timeOf(-50)).toBe(100);
  });

  it('has round ticks in units by 1024', () => {
    const gib = 2 ** 30;
    expect(byteTicks(2.5 * gib).map(({ at }) => at / gib)).toEqual([0, 1, 2]);
    expect(byteTicks(2.5 * gib)[1].label).toBe('1\u202fGiB');
    expect(byteTicks(3).map(({ at }) => at)).toEqual([0, 1, 2, 3]);
  });
});

it('has a colour for every category, and greys for what is beyond', () => {
  const colours = memory.CATEGORIES.map(categoryColour);
  expect(new Set(colours).size).toBe(memory.CATEGORIES.length);
  expect(categoryColour('constructor')).toBe(rankColour(RANKS));
});

describe('the address', () => {
  const round = () => {
    const hash = printAddress('#kinetoscope');
    takeAddress('#kinetoscope');
    expect(state.memoryGroup.value).toBeNull();
    takeAddress(hash);
  };

  it('holds instant, zoom, part, group and block', () => {
    state.memoryAt.value = 123;
    state.memoryZoom.value = { t0: 5, t1: 9 };
    state.memoryPart.value = 'map';
    state.memoryBy.value = 'source';
    state.memoryGroup.value = { value: 'a(1): <b>&=' };
    state.memoryCapacity.value = true;
    const block = { device: 'cuda:0', address: '0x7f', from: null, bytes: 9 };
    state.selection.value = { kind: 'block', block };
    round();
    expect(state.memoryAt.value).toBe(123);
    expect(state.memoryZoom.value).toEqual({ t0: 5, t1: 9 });
    expect(state.memoryPart.value).toBe('map');
    expect(state.memoryBy.value).toBe('source');
    expect(state.memoryGroup.value).toEqual({ value: 'a(1): <b>&=' });
    expect(state.memoryCapacity.value).toBe(true);
    expect(state.selection.value).toEqual({ kind: 'block', block });
    state.memoryGroup.value = { value: null };
    round();
    expect(state.memoryGroup.value).toEqual({ value: null });
  });

  it.each(['block:{}', 'block:[1,2,3,4]', 'block:["a","b",null]', 'block:['])('knows that %s is no block', (text) => {
    state.notices.value = [];
    takeAddress(`#kinetoscope&p.kinetoscope.select=${encodeURIComponent(text)}`);
    expect(state.selection.value).toBeNull();
    expect(state.notices.value).toHaveLength(1);
  });

  it('forgets instants and groups of the trace before', () => {
    state.memoryAt.value = 5;
    state.memoryGroup.value = { value: 'x' };
    state.choose({ run: 'other' });
    expect([state.memoryAt.value, state.memoryGroup.value, state.memoryZoom.value]).toEqual([null, null, null]);
  });
});

it('opens what a finding about memory rests on', () => {
  showEvidence({ view: 'memory_growth', parameters: { by: 'source' } });
  expect([state.page.value, state.memoryPart.value, state.memoryBy.value]).toEqual(['memory', 'growth', 'source']);
  showEvidence({ view: 'memory_churn', parameters: { device: 'cpu' } });
  expect(state.memoryDevice.value).toBe('cpu');
  showEvidence({ view: 'memory_peak', parameters: {} });
  expect(state.memoryPart.value).toBe('live');
});
