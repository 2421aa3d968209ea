// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scans along one axis.
//
// Note [Scans by layout]
// A line is scanned by one team, or in parts: what each part joins to, then what the parts before
// it join to, then the part itself, which is read a second time. Neighbouring threads read
// neighbouring elements (as in Note [Rows by layout]):
//   neighbours along the axis, many or short lines   a warp per line
//   neighbours along the axis, otherwise             a block per part of a line
//   neighbours across the lines                      a thread per part of a line
// The parts depend on the plan alone. A scan that looks back at parts that are still being formed
// reads once less, but joins floats in an order that changes from run to run.
#include "backend/common/scan_step.h"
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::ScanOp;
using kernel::ScanPlan;
using kernel::Status;

namespace {

constexpr int64_t kOfWarp = 1024;         // elements of a line that a warp scans
constexpr int64_t kManyLines = 8192;      // enough to fill the device with a warp each
constexpr int64_t kManyThreads = 131072;  // enough to fill the device with a thread each
constexpr int64_t kEnoughBlocks = 1024;
constexpr int kEach = 8;              // elements of a tile per thread
constexpr int64_t kBlockPart = 4096;  // elements of a part of a block, at least
constexpr int64_t kThreadPart = 64;   // elements of a part of a thread, at least

template <int kDims>
struct Lines {
  Walk<3, kDims> others;  // strides of the input, of the output and of the positions
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

// The parts of every line; states[line * count + part] is first what the part joins to, then what
// the parts before it do. Null where a line is one part.
template <class State>
struct Parts {
  int64_t count, size;
  State* states;

  [[nodiscard]] __device__ int64_t end(int64_t begin, int64_t all) const {
    return begin + size < all ? begin + size : all;
  }
};

template <class Step>
struct JoinStates {
  using State = typename Step::State;
  __device__ State operator()(State a, State b) const { return Step::join(a, b); }
};

// ---- A thread per part: t is part * lines + line, so that neighbours are lines ----

template <class Step, bool kTotals, int kDims>
__global__ void by_thread_kernel(const __grid_constant__ Lines<kDims> lines,
                                 Parts<typename Step::State> parts) {
  const int64_t count = lines.others.numel;
  for (int64_t t = first_index(); t < count * parts.count; t += index_step()) {
    const int64_t part = divide(t, count);
    const int64_t line = t - part * count;
    int64_t at[3];
    lines.others.offsets(line, at);
    auto* const kept = parts.states == nullptr ? nullptr : parts.states + line * parts.count + part;
    auto state = kTotals || kept == nullptr ? Step::none() : *kept;
    const int64_t begin = part * parts.size;
    for (int64_t i = begin; i < parts.end(begin, lines.size); ++i) {
      state = Step::join(state, lines.template load<Step>(at, i));
      if constexpr (!kTotals) lines.template store<Step>(at, i, state);
    }
    if constexpr (kTotals) *kept = state;
  }
}

// ---- A warp per line ----

template <class Step, int kDims>
__global__ void by_warp_kernel(const __grid_constant__ Lines<kDims> lines) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * warps_of_block();
  for (int64_t k = first_index() / kWarp; k < lines.others.numel; k += step) {
    int64_t at[3];
    lines.others.offsets(k, at);
    auto carried = Step::none();
    for (int64_t begin = 0; begin < lines.size; begin += kWarp) {
      const int64_t i = begin + lane_of_thread();
      auto state = i < lines.size ? lines.template load<Step>(at, i) : Step::none();
      state = Step::join(carried, joined_to(state, JoinStates<Step>{}));
      if (i < lines.size) lines.template store<Step>(at, i, state);
      carried = from_lane(state, kWarp - 1);
    }
  }
}

// ---- A block per part, which goes along it in tiles and carries the state on ----

template <class Step, int kDims>
__global__ void totals_kernel(const __grid_constant__ Lines<kDims> lines,
                              Parts<typename Step::State> parts) {
  using State = typename Step::State;
  __shared__ State place[kWarps];
  for (int64_t task = blockIdx.x; task < lines.others.numel * parts.count; task += gridDim.x) {
    const int64_t line = divide(task, parts.count);
    int64_t at[3];
    lines.others.offsets(line, at);
    int64_t begin = (task - line * parts.count) * parts.size;
    const int64_t end = parts.end(begin, lines.size);
    State total = Step::none();
    for (; begin < end; begin += int64_t{kEach} * blockDim.x) {
      const int64_t first = begin + int64_t{kEach} * threadIdx.x;
      State own = Step::none();
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        if (first + k < end) own = Step::join(own, lines.template load<Step>(at, first + k));
      }
      total = Step::join(total, join_block(own, place, JoinStates<Step>{}));
    }
    if (threadIdx.x == 0) parts.states[task] = total;
  }
}

// Each thread scans kEach neighbours of a tile in shared memory. There one place is left free after
// those of each thread, so that threads meet different banks.
template <class Step, int kDims>
__global__ void by_block_kernel(const __grid_constant__ Lines<kDims> lines,
                                Parts<typename Step::State> parts) {
  using State = typename Step::State;
  __shared__ State place[kWarps];
  __shared__ State tile[(kEach + 1) * kThreads];
  const int me = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
  const int width = kEach * step;
  for (int64_t task = blockIdx.x; task < lines.others.numel * parts.count; task += gridDim.x) {
    const int64_t line = divide(task, parts.count);
    int64_t at[3];
    lines.others.offsets(line, at);
    int64_t begin = (task - line * parts.count) * parts.size;
    const int64_t end = parts.end(begin, lines.size);
    State carried = parts.states == nullptr ? Step::none() : parts.states[task];
    for (; begin < end; begin += width) {
      for (int i = me; i < width; i += step) {
        tile[i + i / kEach] =
            begin + i < end ? lines.template load<Step>(at, begin + i) : Step::none();
      }
      __syncthreads();
      State* const own = tile + me * (kEach + 1);
      State reached = Step::none();
      for (int k = 0; k < kEach; ++k) own[k] = reached = Step::join(reached, own[k]);
      State total;
      State before = joined_before(reached, Step::none(), place, total, JoinStates<Step>{});
      before = Step::join(carried, before);
      for (int k = 0; k < kEach; ++k) own[k] = Step::join(before, own[k]);
      carried = Step::join(carried, total);
      __syncthreads();
      for (int i = me; i < width && begin + i < end; i += step)
        lines.template store<Step>(at, begin + i, tile[i + i / kEach]);
      __syncthreads();  // the next tile is read here
    }
  }
}

// What the parts before each part join to: a block per line.
template <class Step>
__global__ void carry_kernel(int64_t lines, Parts<typename Step::State> parts) {
  using State = typename Step::State;
  __shared__ State place[kWarps];
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    State* const states = parts.states + line * parts.count;
    State carried = Step::none();
    for (int64_t begin = 0; begin < parts.count; begin += blockDim.x) {
      const int64_t part = begin + threadIdx.x;
      const State own = part < parts.count ? states[part] : Step::none();
      State total;
      const State before = joined_before(own, Step::none(), place, total, JoinStates<Step>{});
      if (part < parts.count) states[part] = Step::join(carried, before);
      carried = Step::join(carried, total);
    }
  }
}

// ---- The choice ----

template <int kDims>
Lines<kDims> lines_of(const ScanPlan& plan) {
  Lines<kDims> lines;
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
  return lines;
}

// Launches one team per part with launch_parts(totals, parts), with the passes that `most` parts of
// at least `least` elements need.
template <class Step, class Launch>
Status in_parts(const ScanPlan& plan, int64_t most, int64_t least, const Launch& launch_parts) {
  using State = typename Step::State;
  Parts<State> parts{std::clamp<int64_t>(plan.axis_size / least, 1, std::max<int64_t>(most, 1)),
                     plan.axis_size, nullptr};
  if (parts.count == 1) return launch_parts(false, parts);
  parts.size = (plan.axis_size + parts.count - 1) / parts.count;
  parts.count = (plan.axis_size + parts.size - 1) / parts.size;
  const Workspace space(plan.place, plan.numel * parts.count * static_cast<int64_t>(sizeof(State)));
  if (space.missing()) return no_workspace();
  parts.states = space.data<State>();
  Status status = launch_parts(true, parts);
  if (status != kernel::kOk) return status;
  status = launch_blocks(plan.place, plan.numel, kThreads, &carry_kernel<Step>, plan.numel, parts);
  return status != kernel::kOk ? status : launch_parts(false, parts);
}

template <class Step, int kDims>
Status by_threads(const ScanPlan& plan, const Lines<kDims>& lines) {
  return in_parts<Step>(plan, kManyThreads / plan.numel, kThreadPart,
                        [&](bool totals, const Parts<typename Step::State>& parts) {
                          return launch(plan.place, plan.numel * parts.count,
                                        totals ? &by_thread_kernel<Step, true, kDims>
                                               : &by_thread_kernel<Step, false, kDims>,
                                        lines, parts);
                        });
}
template <class Step, int kDims>
Status by_blocks(const ScanPlan& plan, const Lines<kDims>& lines) {
  return in_parts<Step>(plan, kEnoughBlocks / plan.numel, kBlockPart,
                        [&](bool totals, const Parts<typename Step::State>& parts) {
                          return launch_blocks(
                              plan.place, plan.numel * parts.count, kThreads,
                              totals ? &totals_kernel<Step, kDims> : &by_block_kernel<Step, kDims>,
                              lines, parts);
                        });
}

template <class Step>
Status run(const ScanPlan& plan) {
  constexpr int kAll = kernel::kMaxRank;
  if (plan.ndim > kShortRank) return by_blocks<Step, kAll>(plan, lines_of<kAll>(plan));
  const auto lines = lines_of<kShortRank>(plan);
  const bool along = plan.axis_input_stride == itemsize(plan.dtype);
  if (!along && plan.numel >= kWarp) return by_threads<Step>(plan, lines);
  if (plan.numel >= kManyLines || plan.axis_size <= kOfWarp) {
    return launch_blocks(plan.place, (plan.numel + kWarps - 1) / kWarps, kThreads,
                         &by_warp_kernel<Step, kShortRank>, lines);
  }
  return by_blocks<Step>(plan, lines);
}

Status run_extremum(const ScanPlan& plan) {
  if (is_complex(plan.dtype)) return failure(Code::kDType, "scan: expected a real dtype");
  return visit_wide(plan.dtype, [&]<class V>() -> Status {
    if constexpr (kIsComplexWide<V>) {
      return kernel::kOk;
    } else {
      return plan.op == ScanOp::kMax ? run<math::RunningExtremum<V, true>>(plan)
                                     : run<math::RunningExtremum<V, false>>(plan);
    }
  });
}

}  // namespace

Status scan(const ScanPlan& plan) {
  if (plan.numel == 0 || plan.axis_size == 0) return kernel::kOk;
  if (plan.op == ScanOp::kMax || plan.op == ScanOp::kMin) return run_extremum(plan);
  if (plan.op == ScanOp::kLogSumExp) {
    if (!is_floating(plan.dtype)) return failure(Code::kDType, "scan: expected a floating dtype");
    return run<math::RunningLogSumExp>(plan);
  }
  return visit_arithmetic(plan.dtype, [&]<class V>() {
    return plan.op == ScanOp::kProd ? run<math::RunningProduct<V>>(plan)
                                    : run<math::RunningSum<V>>(plan);
  });
}

}  // namespace tsr::cuda
