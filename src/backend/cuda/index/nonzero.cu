// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The positions of nonzero elements: chunks are counted first, so that each knows where it writes.
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::NonzeroPlan;
using kernel::Status;

namespace {

constexpr int64_t kChunk = 16384;  // elements

struct Source {
  Walk<1> walk;
  const char* data;
  DType dtype;

  __device__ bool holds(int64_t i) const {
    int64_t at[1];
    walk.offsets(i, at);
    return is_nonzero(dtype, data + at[0]);
  }
  __device__ int64_t end_of(int64_t chunk) const {
    const int64_t end = (chunk + 1) * kChunk;
    return end < walk.numel ? end : walk.numel;
  }
};

Source source_of(const NonzeroPlan& plan) {
  Source source;
  source.walk.ndim = std::max(plan.ndim, 1);
  source.walk.numel = plan.numel;
  source.walk.sizes[0] = 1;
  source.walk.strides[0][0] = 0;
  std::copy_n(plan.sizes, plan.ndim, source.walk.sizes);
  std::copy_n(plan.strides, plan.ndim, source.walk.strides[0]);
  source.data = static_cast<const char*>(plan.input);
  source.dtype = plan.dtype;
  return source;
}

__global__ void count_kernel(Source source, int64_t chunks, int64_t* counts) {
  __shared__ int64_t place[kWarps];
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    int64_t found = 0;
    for (int64_t i = chunk * kChunk + threadIdx.x; i < source.end_of(chunk); i += blockDim.x)
      found += source.holds(i) ? 1 : 0;
    found = join_block(found, place, [](int64_t a, int64_t b) { return a + b; });
    if (threadIdx.x == 0) counts[chunk] = found;
  }
}

// Run by one block: an exclusive prefix sum of the counts; the total is stored after the last.
__global__ void offsets_kernel(int64_t chunks, int64_t* counts) {
  __shared__ int64_t place[kWarps];
  int64_t carried = 0;
  for (int64_t begin = 0; begin < chunks; begin += blockDim.x) {
    const int64_t i = begin + threadIdx.x;
    int64_t total;
    const int64_t before = sum_before(i < chunks ? counts[i] : int64_t{0}, place, total);
    if (i < chunks) counts[i] = carried + before;
    carried += total;
  }
  if (threadIdx.x == 0) counts[chunks] = carried;
}

__device__ void write_position(const Walk<1>& walk, int64_t linear, int64_t* output, int64_t row,
                               int64_t count) {
  for (int d = walk.ndim - 1; d >= 0; --d) {
    const int64_t rest = divide(linear, walk.sizes[d]);
    output[d * count + row] = linear - rest * walk.sizes[d];
    linear = rest;
  }
}

__global__ void write_kernel(Source source, int64_t chunks, const int64_t* offsets, int64_t* output,
                             int64_t count) {
  __shared__ int64_t place[kWarps];
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    int64_t row = offsets[chunk];
    for (int64_t begin = chunk * kChunk; begin < source.end_of(chunk); begin += blockDim.x) {
      const int64_t i = begin + threadIdx.x;
      const bool found = i < source.end_of(chunk) && source.holds(i);
      int64_t total;
      const int64_t before = sum_before(int64_t{found ? 1 : 0}, place, total);
      // Other work may have written the elements after they were counted.
      if (found && row + before < count)
        write_position(source.walk, i, output, row + before, count);
      row += total;
    }
  }
}

}  // namespace

// The call that counts waits for the device, because the caller allocates by the count.
Status nonzero(const NonzeroPlan& plan) {
  if (plan.output == nullptr) *plan.count = 0;
  const bool writes = plan.output != nullptr && plan.ndim > 0 && *plan.count > 0;
  if (plan.numel == 0 || (plan.output != nullptr && !writes)) return kernel::kOk;
  const Source source = source_of(plan);
  const int64_t chunks = (plan.numel + kChunk - 1) / kChunk;
  const Workspace space(plan.place, (chunks + 1) * static_cast<int64_t>(sizeof(int64_t)));
  if (space.missing()) return no_workspace();
  auto* counts = space.data<int64_t>();
  Status status =
      launch_blocks(plan.place, chunks, kThreads, &count_kernel, source, chunks, counts);
  if (status != kernel::kOk) return status;
  status = launch_blocks(plan.place, 1, kThreads, &offsets_kernel, chunks, counts);
  if (status != kernel::kOk) return status;
  if (!writes) return read_back(plan.place, counts + chunks, plan.count);
  return launch_blocks(plan.place, chunks, kThreads, &write_kernel, source, chunks,
                       static_cast<const int64_t*>(counts), plan.output, *plan.count);
}

}  // namespace tsr::cuda
