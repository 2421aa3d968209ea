// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scans along one axis: a thread per line where lines are many, otherwise a block per line, which
// goes along it in tiles and carries the state on.
#include "backend/common/scan_step.h"
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
  Walk<3> others;  // strides of the input, of the output and of the positions
  int64_t size, input_stride, output_stride, position_stride;
  const char* input;
  char* output;
  char* positions;
  DType dtype;

  template <class Step>
  __device__ auto load(const int64_t (&at)[3], int64_t i) const {
    using Value = typename Step::Value;
    return Step::of(load_value<Value>(dtype, input + at[0] + i * input_stride), i);
  }
  template <class Step, class State>
  __device__ void store(const int64_t (&at)[3], int64_t i, State state) const {
    store_value(dtype, output + at[1] + i * output_stride, Step::value(state));
    if constexpr (requires { state.position; })
      *reinterpret_cast<int64_t*>(positions + at[2] + i * position_stride) = state.position;
  }
};

template <class Step>
__global__ void by_thread_kernel(Lines lines) {
  for (int64_t k = first_index(); k < lines.others.numel; k += index_step()) {
    int64_t at[3];
    lines.others.offsets(k, at);
    auto state = Step::none();
    for (int64_t i = 0; i < lines.size; ++i) {
      state = Step::join(state, lines.load<Step>(at, i));
      lines.store<Step>(at, i, state);
    }
  }
}

// Hillis and Steele (1986) within a tile of as many elements as the block has threads.
template <class Step>
__global__ void by_block_kernel(Lines lines) {
  __shared__ typename Step::State tile[2][kThreads];
  const int me = static_cast<int>(threadIdx.x);
  const int width = static_cast<int>(blockDim.x);
  for (int64_t k = blockIdx.x; k < lines.others.numel; k += gridDim.x) {
    int64_t at[3];
    lines.others.offsets(k, at);
    auto carried = Step::none();
    for (int64_t begin = 0; begin < lines.size; begin += width) {
      const int64_t i = begin + me;
      int from = 0;
      tile[0][me] = i < lines.size ? lines.load<Step>(at, i) : Step::none();
      __syncthreads();
      for (int reach = 1; reach < width; reach *= 2) {
        tile[1 - from][me] =
            me >= reach ? Step::join(tile[from][me - reach], tile[from][me]) : tile[from][me];
        from = 1 - from;
        __syncthreads();
      }
      if (i < lines.size) lines.store<Step>(at, i, Step::join(carried, tile[from][me]));
      carried = Step::join(carried, tile[from][width - 1]);
      __syncthreads();
    }
  }
}

template <class Step>
Status run(const ScanPlan& plan, const Lines& lines) {
  if (plan.numel >= kManyLines)
    return launch(plan.place, plan.numel, &by_thread_kernel<Step>, lines);
  return launch_blocks(plan.place, plan.numel, kThreads, &by_block_kernel<Step>, lines);
}

Status run_extremum(const ScanPlan& plan, const Lines& lines) {
  if (is_complex(plan.dtype)) return failure(Code::kDType, "scan: expected a real dtype");
  return visit_wide(plan.dtype, [&]<class V>() -> Status {
    if constexpr (kIsComplexWide<V>) {
      return kernel::kOk;
    } else {
      return plan.op == ScanOp::kMax ? run<math::RunningExtremum<V, true>>(plan, lines)
                                     : run<math::RunningExtremum<V, false>>(plan, lines);
    }
  });
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
  std::memcpy(lines.others.strides[2], plan.position_strides, bytes);
  lines.size = plan.axis_size;
  lines.input_stride = plan.axis_input_stride;
  lines.output_stride = plan.axis_output_stride;
  lines.position_stride = plan.axis_position_stride;
  lines.input = static_cast<const char*>(plan.input);
  lines.output = static_cast<char*>(plan.output);
  lines.positions = reinterpret_cast<char*>(plan.positions);
  lines.dtype = plan.dtype;
  if (plan.op == ScanOp::kMax || plan.op == ScanOp::kMin) return run_extremum(plan, lines);
  if (plan.op == ScanOp::kLogSumExp) {
    if (!is_floating(plan.dtype)) return failure(Code::kDType, "scan: expected a floating dtype");
    return run<math::RunningLogSumExp>(plan, lines);
  }
  return visit_arithmetic(plan.dtype, [&]<class V>() {
    return plan.op == ScanOp::kProd ? run<math::RunningProduct<V>>(plan, lines)
                                    : run<math::RunningSum<V>>(plan, lines);
  });
}

}  // namespace tsr::cuda
