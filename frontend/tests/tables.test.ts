import { describe, expect, it } from 'vitest';
import { wordFilter } from '../src/lib/names';
import { callParameters, keyOf, titleOf } from '../src/model/kernels';
import { allRows, column, filterRows, nanoseconds, sortRows, toCsv, toJson } from '../src/model/tables';
import { largestHostPart, summariseSteps, verdict } from '../src/model/verdict';
import type { Info } from '../src/model/wire';
import { tableOf } from './helpers';

const kernels = tableOf({
  name: ['gemm', 'nccl, "ring"', 'relu'],
  calls: [2, 1, 5],
  total_us: [10.5, null, 3.001],
});

describe('tables', () => {
  it('sort by value, missing last either way', () => {
    const rows = allRows(kernels);
    expect(sortRows(rows, column(kernels, 'total_us'), true)).toEqual([0, 2, 1]);
    expect(sortRows(rows, column(kernels, 'total_us'), false)).toEqual([2, 0, 1]);
    expect(sortRows(rows, column(kernels, 'name'), false)).toEqual([0, 1, 2]);
    expect(rows).toEqual([0, 1, 2]);
  });

  it('keep the order of equal rows', () => {
    expect(sortRows([0, 1, 2], [1, 1, 1], true)).toEqual([0, 1, 2]);
  });

  it('filter by words', () => {
    expect(filterRows(kernels, allRows(kernels), ['name'], wordFilter('-nccl'))).toEqual([0, 2]);
  });

  it('turn microseconds into exact nanoseconds', () => {
    expect(nanoseconds(kernels, 'total_us')).toEqual([10500, null, 3001]);
  });

  it('export what is shown, quoted, missing empty', () => {
    expect(toCsv(kernels, [1, 0])).toBe('name,calls,total_us\r\n"nccl, ""ring""",1,\r\ngemm,2,10.5\r\n');
    expect(JSON.parse(toJson(kernels, [1])).rows).toEqual([{ name: 'nccl, "ring"', calls: 1, total_us: null }]);
  });
});

describe('kernel groups', () => {
  it('ask for the calls of their key', () => {
    const key = keyOf(kernels, 0);
    expect(key).toEqual({ name: 'gemm' });
    expect(callParameters(key, 'name', null)).toEqual({ name: 'gemm' });
    expect(titleOf({ device: 0, stream: 7 })).toBe('GPU 0, stream 7');
    expect(titleOf({ step: null })).toBe('Outside all steps');
    expect(titleOf({ op: null })).toBe('unattributed');
  });
});

const parts = { compute_us: [50, 50, 9], communication_us: [0, 0, 0], memcpy_us: [0, 0, 0], memset_us: [0, 0, 0] };
const hostParts = {
  api_us: [5, 5, 0],
  data_loader_us: [40, 60, 0],
  op_us: [0, 0, 0],
  python_us: [0, 0, 0],
  unrecorded_us: [5, 5, 0],
};
const steps = tableOf({
  step: [1, 2, 3],
  period_us: [100, 120, 9],
  incomplete: [false, false, true],
  ...parts,
  ...hostParts,
});

describe('the verdict', () => {
  const text = (fragments: ReturnType<typeof verdict>) =>
    fragments
      .map((one) => (typeof one === 'string' ? one : one.text))
      .join('')
      .replaceAll('\u202f', ' ');
  const info = { end_ns: 5_000_000 } as Info;

  it('leaves incomplete steps out', () => {
    expect(summariseSteps(steps)).toMatchObject({ complete: 2, median: 110_000 });
    expect(largestHostPart(steps)).toEqual({ label: 'data loading', share: expect.closeTo(45.45, 1) });
  });

  const devices = tableOf({ device: [0], utilization_pct: [57.12], window_us: [100], idle_us: [42.88], gaps: [3] });

  it('is a sentence of figures', () => {
    expect(text(verdict(info, steps, devices, null))).toBe(
      'A step takes 110 µs in the median (±9 %). The GPU works 57.1 % of the steps and idles 42.9 %. ',
    );
  });

  it('says what the device waits for, each figure with the way to it', () => {
    const cause = ['late start', 'host work', 'data loading', 'launch calls', 'synchronization'];
    const causes = tableOf({
      device: [0, 0, 0, 0, 0],
      cause,
      total_us: [20, 3, 15, 4.5, 0.38],
      count: [1, 1, 1, 1, 1],
    });
    const told = verdict(info, steps, devices, causes);
    expect(text(told)).toBe(
      'A step takes 110 µs in the median (±9 %). The GPU works 57.1 % of the steps and idles 42.9 %: in 15.0 % it waits for data loading, in 4.5 % it waits for launch calls. ',
    );
    const links = told.filter((one) => typeof one !== 'string').map((one) => one.cause);
    expect(links).toEqual([undefined, undefined, undefined, 'data loading', 'launch calls']);
  });

  it('tells of the host where no device worked', () => {
    const none = tableOf({ device: [], utilization_pct: [] });
    expect(text(verdict(info, steps, none, null))).toBe(
      'A step takes 110 µs in the median (±9 %). No GPU work was recorded. Most time goes to data loading: 45.5 % of the steps.',
    );
  });

  it('says what there is without steps and without devices', () => {
    const none = tableOf({ device: [], utilization_pct: [] });
    const empty = tableOf({ step: [], period_us: [], incomplete: [] });
    expect(text(verdict(info, empty, none, null))).toBe('The recording covers 5.00 ms. No GPU work was recorded. ');
  });
});
