import { describe, expect, it } from 'vitest';
import { briefStory, plainStory, readGaps, storyOf } from '../src/model/gaps';
import type { Cell } from '../src/model/wire';
import { tableOf } from './helpers';

const ROW: Record<string, Cell> = {
  device: 0,
  start_us: 10,
  duration_us: 142,
  ended_by: 'kernel',
  next_name: 'gemm',
  launch_name: 'cudaLaunchKernel',
  launch_delay_us: 9,
  previous_name: 'add',
  step: 1,
  next_id: 1,
  launch_id: 2,
  previous_id: 3,
  gap: 0,
  cause: 'synchronization',
  cause_us: 142,
  op: 'aten::item',
  module: null,
  source: '/home/ada/train.py(81): main',
  event_name: 'cudaStreamSynchronize',
  event_id: 4,
  event_us: 142,
};

function gapOf(changes: Record<string, Cell>) {
  return readGaps(
    tableOf(Object.fromEntries(Object.entries({ ...ROW, ...changes }).map(([key, one]) => [key, [one]]))),
  );
}

const told = (changes: Record<string, Cell>) => plainStory(gapOf(changes), 0).replaceAll('\u202f', ' ');

describe('the story of a gap', () => {
  it('says who held the host up, where, and when the next launch came', () => {
    expect(told({})).toBe(
      'the host was blocked in cudaStreamSynchronize inside aten::item, called from train.py:81 (main); the next kernel was launched 133 µs into the gap by cudaLaunchKernel and began 9.00 µs later',
    );
  });

  it('says how much of the gap that was', () => {
    expect(told({ event_us: 71, cause_us: 100 })).toContain('(main), for 50.0 % of it; the next kernel');
  });

  it('names the operator of host work once', () => {
    const one = { cause: 'host work', op: 'aten::add', event_name: 'aten::add', source: null };
    expect(told(one)).toMatch(/^the host was in aten::add; the next/);
    expect(told({ ...one, event_name: 'step_fn' })).toMatch(/^the host was in step_fn, mostly in aten::add;/);
    expect(briefStory(gapOf(one), 0)).toMatch(/^aten::add; /);
  });

  it('says where Python was, as far as the recording knows', () => {
    expect(told({ cause: 'host python' })).toMatch(/^the host was in Python at train\.py:81 \(main\); /);
    expect(told({ cause: 'host python', source: null })).toMatch(/^the host was in Python; /);
    expect(told({ cause: 'untraced host', event_name: null })).toMatch(/^nothing was recorded on the host; /);
  });

  it('speaks of the device where the host has no part', () => {
    const queued = { cause: 'device scheduling', ended_by: 'memcpy', launch_delay_us: 1142 };
    expect(told(queued)).toBe('the next copy was queued already; cudaLaunchKernel launched it 1.00 ms before the gap');
    expect(told({ cause: 'no launch recorded', launch_delay_us: null, launch_name: null })).toBe(
      'the next kernel has no recorded launch',
    );
  });

  it('ends with the window where nothing followed', () => {
    const last = { ended_by: 'window end', launch_delay_us: null, cause: 'untraced host', event_name: null };
    expect(told(last)).toBe('nothing was recorded on the host; the window ends here');
  });

  it('links the events it names', () => {
    const links = storyOf(gapOf({}), 0).filter((part) => typeof part !== 'string' && part.id !== null);
    expect(links).toEqual([
      { name: 'cudaStreamSynchronize', id: 4 },
      { name: 'cudaLaunchKernel', id: 2 },
    ]);
  });

  it('takes a cause that is not known yet', () => {
    expect(told({ cause: 'cosmic rays' })).toMatch(/^cosmic rays: cudaStreamSynchronize, mostly in aten::item/);
    expect(told({ cause: null })).toBe('no cause was told');
  });
});
