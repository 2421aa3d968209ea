// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Teams: the threads that share a row of numbers, either a single thread or a block. Code for a
// team visits its part with `for (i = team.first(); i < n; i += team.step())`.
#pragma once

#include "backend/cuda/block.cuh"

namespace tsr::cuda {

struct Alone {
  __device__ int64_t first() const { return 0; }
  __device__ int64_t step() const { return 1; }
  __device__ bool leads() const { return true; }
  __device__ double sum(double value) const { return value; }
  __device__ double largest(double value) const { return value; }
};

// `place` is shared memory for kThreads numbers.
struct Together {
  double* place;
  __device__ int64_t first() const { return threadIdx.x; }
  __device__ int64_t step() const { return blockDim.x; }
  __device__ bool leads() const { return threadIdx.x == 0; }
  __device__ double sum(double value) const {
    return join_block(value, place, [](double a, double b) { return a + b; });
  }
  __device__ double largest(double value) const {
    return join_block(value, place, [](double a, double b) { return a < b ? b : a; });
  }
};

// ---- Rows of work: work(row, team) for each ----

template <class Work>
__global__ void rows_alone_kernel(int64_t rows, Work work) {
  for (int64_t row = first_index(); row < rows; row += index_step()) work(row, Alone{});
}
template <class Work>
__global__ void rows_together_kernel(int64_t rows, Work work) {
  __shared__ double place[kThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) work(row, Together{place});
}

// One thread per row if rows are many or short, otherwise one block per row.
template <class Work>
kernel::Status launch_rows(kernel::Place where, int64_t rows, int64_t columns, const Work& work) {
  constexpr int64_t kManyRows = 16384;
  constexpr int64_t kFewColumns = 32;
  if (rows >= kManyRows || columns <= kFewColumns)
    return launch(where, rows, &rows_alone_kernel<Work>, rows, work);
  return launch_blocks(where, rows, kThreads, &rows_together_kernel<Work>, rows, work);
}

}  // namespace tsr::cuda
