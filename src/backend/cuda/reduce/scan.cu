// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running sums and products along one axis: a thread per line where lines are many, otherwise a
// block per line, which goes along it in tiles and carries the total on.
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::ScanOp;
using kernel::ScanPlan;
using kernel::Status;

namespace {

constexpr int64_t kManyLines = 8192;

struct Lines {
  Walk<2> others;  // strides of the input and of the output
  int64_t size, input_stride, output_stride;
  const char* input;
  char* output;
  DType dtype;
  bool product;

  template <class V>
  __device__ V join(V a, V b) const {
    return product ? a * b : a + b;
  }
  template <class V>
  __device__ V load(int64_t offset) const {
    return load_value<V>(dtype, input + offset);
  }
  template <class V>
  __device__ void store(int64_t offset, V value) const {
    store_value(dtype, output + offset, value);
  }
};

template <class V>
__global__ void by_thread_kernel(Lines lines) {
  for (int64_t k = first_index(); k < lines.others.numel; k += index_step()) {
    int64_t at[2];
    lines.others.offsets(k, at);
    V total(lines.product ? 1 : 0);
    for (int64_t i = 0; i < lines.size; ++i) {
      total = lines.join(total, lines.load<V>(at[0] + i * lines.input_stride));
      lines.store(at[1] + i * lines.output_stride, total);
    }
  }
}

// Hillis and Steele (1986) within a tile of as many elements as the block has threads.
template <class V>
__global__ void by_block_kernel(Lines lines) {
  __shared__ V tile[2][kThreads];
  const int me = static_cast<int>(threadIdx.x);
  const int width = static_cast<int>(blockDim.x);
  for (int64_t k = blockIdx.x; k < lines.others.numel; k += gridDim.x) {
    int64_t at[2];
    lines.others.offsets(k, at);
    V carried(lines.product ? 1 : 0);
    for (int64_t begin = 0; begin < lines.size; begin += width) {
      const int64_t i = begin + me;
      const V neutral(lines.product ? 1 : 0);
      int from = 0;
      tile[0][me] = i < lines.size ? lines.load<V>(at[0] + i * lines.input_stride) : neutral;
      __syncthreads();
      for (int reach = 1; reach < width; reach *= 2) {
        tile[1 - from][me] =
            me >= reach ? lines.join(tile[from][me - reach], tile[from][me]) : tile[from][me];
        from = 1 - from;
        __syncthreads();
      }
      if (i < lines.size)
        lines.store(at[1] + i * lines.output_stride, lines.join(carried, tile[from][me]));
      carried = lines.join(carried, tile[from][width - 1]);
      __syncthreads();
    }
  }
}

}  // namespace

Status scan(const ScanPlan& plan) {
  if (plan.numel == 0 || plan.axis_size == 0) return kernel::kOk;
  Lines lines;
  const size_t bytes = sizeof(int64_t) * static_cast<size_t>(plan.ndim);
  lines.others.ndim = plan.ndim;
  lines.others.numel = plan.numel;
  std::memcpy(lines.others.sizes, plan.sizes, bytes);
  std::memcpy(lines.others.strides[0], plan.input_strides, bytes);
  std::memcpy(lines.others.strides[1], plan.output_strides, bytes);
  lines.size = plan.axis_size;
  lines.input_stride = plan.axis_input_stride;
  lines.output_stride = plan.axis_output_stride;
  lines.input = static_cast<const char*>(plan.input);
  lines.output = static_cast<char*>(plan.output);
  lines.dtype = plan.dtype;
  lines.product = plan.op == ScanOp::kProd;
  return visit_arithmetic(plan.dtype, [&]<class V>() {
    if (plan.numel >= kManyLines)
      return launch(plan.place, plan.numel, &by_thread_kernel<V>, lines);
    return launch_blocks(plan.place, plan.numel, kThreads, &by_block_kernel<V>, lines);
  });
}

}  // namespace tsr::cuda
