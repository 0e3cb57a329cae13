import { describe, expect, it } from 'vitest';
import { accountLabel, runLabel, sourceLabel, sourcePlace, tame, threadLabel, wordFilter } from '../src/lib/names';

describe('tame', () => {
  it.each([
    ['aten::mul', 'aten::mul'],
    ['ampere_sgemm_128x64_tn', 'ampere_sgemm_128x64_tn'],
    ['Memcpy HtoD (Pinned -> Device)', 'Memcpy HtoD (Pinned -> Device)'],
    ['train.py(12): <module>', 'train.py(12): <module>'],
    [
      'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
      'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
    ],
    [
      'void at::native::(anonymous namespace)::softmax_warp_forward<float, float, 8>(float*, int)',
      'softmax_warp_forward<float, float, 8>',
    ],
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>)',
      'vectorized_elementwise_kernel<…MulFunctor<float>…>',
    ],
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)',
      'vectorized_elementwise_kernel<…CUDAFunctor_add<float>…>',
    ],
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::threshold_kernel_impl<float>(at::TensorIteratorBase&, float, float)::{lambda(float, float)#1}, at::detail::Array<char*, 3> >(int)',
      'vectorized_elementwise_kernel<…threshold_kernel_impl<float>…>',
    ],
    ['void broken<at::native::', 'void broken<at::native::'],
  ])('%s', (name, short) => {
    expect(tame(name)).toBe(short);
  });

  it('never makes a name empty', () => {
    for (const name of ['void ', 'void (int)', '<>', '()', 'void <int>()']) expect(tame(name)).not.toBe('');
  });
});

describe('wordFilter', () => {
  it('wants every word and none of the refused, in any case', () => {
    const passes = wordFilter('GEMM -nccl tn');
    expect(passes('ampere_sgemm_128x64_tn')).toBe(true);
    expect(passes('ampere_sgemm_128x64_nn')).toBe(false);
    expect(passes('nccl_gemm_tn')).toBe(false);
    expect(wordFilter(' - ')('anything')).toBe(true);
  });
});

describe('labels', () => {
  it('call a run of the log folder as the folder is called', () => {
    expect(runLabel('.', '/data/log/')).toBe('log');
    expect(runLabel('', 'C:\\traces\\mine')).toBe('mine');
    expect(runLabel('.', '.')).toBe('(log folder)');
    expect(runLabel('a/b', '/data')).toBe('a/b');
  });

  it('say the letters of the trace format in words', () => {
    expect(accountLabel('X cpu_op')).toBe('cpu_op, complete events');
    expect(accountLabel('M no category')).toBe('no category, metadata');
    expect(accountLabel('events without a time')).toBe('events without a time');
  });

  it('say a thread once', () => {
    expect(threadLabel('process 4000, thread 4000 (thread 4000 (python))')).toBe('process 4000, thread 4000 (python)');
    expect(threadLabel('process 1, thread 2 (thread 2)')).toBe('process 1, thread 2');
    expect(threadLabel('process 1, thread 2 (main)')).toBe('process 1, thread 2 (main)');
  });
});

describe('a line of a source', () => {
  it.each([
    ['/home/ada/train.py(81): main', 'train.py:81 (main)'],
    ['C:\\work\\train.py(7): <module>', 'train.py:7 (<module>)'],
    ['train.py(12): ', 'train.py:12'],
    ['a(1).py(2): f', 'a(1).py:2 (f)'],
    ['nn.Module: Linear_0', null],
    ['<built-in method sum of type>', null],
    ['', null],
  ])('%s', (name, label) => expect(sourceLabel(name)).toBe(label));
});

it('a source line has a file and a line', () => {
  expect(sourcePlace('/home/a(1)/train.py(81): main')).toEqual({ file: '/home/a(1)/train.py', line: 81 });
  expect(sourcePlace('aten::mm')).toBeNull();
});
