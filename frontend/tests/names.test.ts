import { describe, expect, it } from 'vitest';
import { tame, wordFilter } from '../src/lib/names';

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
