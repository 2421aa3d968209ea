// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions.
//
// Note [Reductions by layout]
// Neighbouring threads read neighbouring elements (as in Note [Rows by layout]), and there is work
// for the whole device also if there is one result:
//   up to 16 elements         a thread per result
//   neighbouring results      a block for 32 results and a part of their elements (strips)
//   up to 1024 elements       a warp per result
//   more                      a block per result and part
// The states of the parts are joined in order by a second kernel. The choice and the number of
// parts depend on the plan alone, so that a result does not depend on the device's load.
#include <optional>

#include "backend/common/generated/visit_reduce.h"
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/reduce/reduction.cuh"

namespace tsr::cuda {

using kernel::ReducePlan;
using kernel::Status;

namespace {

constexpr int64_t kFewElements = 16;     // one thread alone reduces up to so many
constexpr int64_t kOfWarp = 1024;        // elements that a warp reduces
constexpr int64_t kEnoughBlocks = 2048;  // enough to fill the device with blocks
constexpr int64_t kPart = 4096;          // elements of a part of one result, at least
constexpr int64_t kStripPart = 256;      // elements of a part of each result of a strip, at least

template <int kDims>
Reduction<kDims> reduction_of(const ReducePlan& plan) {
  Reduction<kDims> r;
  const auto copy = [](int64_t* to, const int64_t* from, int32_t count) {
    std::memcpy(to, from, sizeof(int64_t) * static_cast<size_t>(count));
  };
  r.kept.ndim = plan.kept_ndim;
  r.kept.numel = plan.kept_numel;
  copy(r.kept.sizes, plan.kept_sizes, plan.kept_ndim);
  copy(r.kept.strides[0], plan.kept_input_strides, plan.kept_ndim);
  copy(r.kept.strides[1], plan.kept_output_strides, plan.kept_ndim);
  r.reduced.ndim = plan.reduced_ndim;
  r.reduced.numel = plan.reduced_numel;
  copy(r.reduced.sizes, plan.reduced_sizes, plan.reduced_ndim);
  copy(r.reduced.strides[0], plan.reduced_strides, plan.reduced_ndim);
  r.input = static_cast<const char*>(plan.input);
  r.output = static_cast<char*>(plan.output);
  r.from = plan.input_dtype;
  r.to = plan.output_dtype;
  std::memcpy(&r.p, plan.params[0].bytes, sizeof r.p);
  return r;
}

// The parts of every result; the state of part p of result k is partial[p * kept + k].
template <class A>
struct Parts {
  int64_t count, size;
  A* partial;

  [[nodiscard]] __device__ int64_t begin(int64_t part) const { return part * size; }
  [[nodiscard]] __device__ int64_t end(int64_t part, int64_t all) const {
    return (part + 1) * size < all ? (part + 1) * size : all;
  }
};

struct JoinStates {
  template <class A>
  __device__ A operator()(A a, const A& b) const {
    a.join(b);
    return a;
  }
};

// Writes a result, or the state of its part.
template <class A, int kDims>
__device__ void finish_part(const Reduction<kDims>& r, const Parts<A>& parts, int64_t part,
                            int64_t k, const int64_t (&at)[2], const A& whole) {
  if (parts.count == 1)
    store_result(r, at[1], whole.finish(r.reduced.numel, r.p));
  else
    parts.partial[part * r.kept.numel + k] = whole;
}

// ---- Kernels by layout ----

template <class A, class Source, int kDims>
__global__ void by_thread_kernel(const __grid_constant__ Reduction<kDims> r) {
  for (int64_t k = first_index(); k < r.kept.numel; k += index_step()) {
    int64_t at[2];
    r.kept.offsets(k, at);
    A total;
    total.start();
    take_apart<A, Source>(r, at[0], 0, r.reduced.numel, 1, total);
    store_result(r, at[1], total.finish(r.reduced.numel, r.p));
  }
}

template <class A, class Source, int kDims>
__global__ void by_warp_kernel(const __grid_constant__ Reduction<kDims> r) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * warps_of_block();
  for (int64_t k = first_index() / kWarp; k < r.kept.numel; k += step) {
    int64_t at[2];
    r.kept.offsets(k, at);
    A own;
    own.start();
    take_share<A, Source>(r, at[0], 0, r.reduced.numel, lane_of_thread(), kWarp, own);
    const A whole = join_warp(own, JoinStates{});
    if (lane_of_thread() == 0) store_result(r, at[1], whole.finish(r.reduced.numel, r.p));
  }
}

// Block k * parts + p reduces part p of result k.
template <class A, class Source, int kDims>
__global__ void by_block_kernel(const __grid_constant__ Reduction<kDims> r, Parts<A> parts) {
  __shared__ A place[kWarps];
  for (int64_t task = blockIdx.x; task < r.kept.numel * parts.count; task += gridDim.x) {
    const int64_t k = divide(task, parts.count);
    const int64_t part = task - k * parts.count;
    int64_t at[2];
    r.kept.offsets(k, at);
    A own;
    own.start();
    take_share<A, Source>(r, at[0], parts.begin(part), parts.end(part, r.reduced.numel),
                          threadIdx.x, blockDim.x, own);
    const A whole = join_block(own, place, JoinStates{});
    if (threadIdx.x == 0) finish_part(r, parts, part, k, at, whole);
  }
}

// Joins the states of the threads that have the same lane; only the first warp gets the result.
template <class A>
__device__ A join_lanes(const A& own, A* place) {
  place[threadIdx.x] = own;
  __syncthreads();
  A whole = own;
  if (warp_of_thread() == 0) {
    for (int warp = 1; warp < warps_of_block(); ++warp)
      whole.join(place[warp * kWarp + lane_of_thread()]);
  }
  __syncthreads();  // the next call writes here
  return whole;
}

// Block s * parts + p reduces part p of the results 32 s to 32 s + 31: one for each lane.
template <class A, class Source, int kDims>
__global__ void by_strip_kernel(const __grid_constant__ Reduction<kDims> r, Parts<A> parts) {
  __shared__ A place[kThreads];
  const int64_t strips = (r.kept.numel + kWarp - 1) / kWarp;
  for (int64_t task = blockIdx.x; task < strips * parts.count; task += gridDim.x) {
    const int64_t strip = divide(task, parts.count);
    const int64_t part = task - strip * parts.count;
    const int64_t k = strip * kWarp + lane_of_thread();
    int64_t at[2] = {0, 0};
    A own;
    own.start();
    if (k < r.kept.numel) {
      r.kept.offsets(k, at);
      take_apart<A, Source>(r, at[0], parts.begin(part) + warp_of_thread(),
                            parts.end(part, r.reduced.numel), warps_of_block(), own);
    }
    const A whole = join_lanes(own, place);
    if (warp_of_thread() == 0 && k < r.kept.numel) finish_part(r, parts, part, k, at, whole);
  }
}

// ---- Joining the parts ----

// A block per result.
template <class A, int kDims>
__global__ void join_parts_kernel(const __grid_constant__ Reduction<kDims> r, Parts<A> parts) {
  __shared__ A place[kWarps];
  for (int64_t k = blockIdx.x; k < r.kept.numel; k += gridDim.x) {
    A own;
    own.start();
    for (int64_t part = threadIdx.x; part < parts.count; part += blockDim.x)
      own.join(parts.partial[part * r.kept.numel + k]);
    const A whole = join_block(own, place, JoinStates{});
    if (threadIdx.x != 0) continue;
    int64_t at[2];
    r.kept.offsets(k, at);
    store_result(r, at[1], whole.finish(r.reduced.numel, r.p));
  }
}

// A block for 32 results, whose warps share the parts.
template <class A, int kDims>
__global__ void join_strips_kernel(const __grid_constant__ Reduction<kDims> r, Parts<A> parts) {
  __shared__ A place[kThreads];
  const int64_t strips = (r.kept.numel + kWarp - 1) / kWarp;
  for (int64_t strip = blockIdx.x; strip < strips; strip += gridDim.x) {
    const int64_t k = strip * kWarp + lane_of_thread();
    A own;
    own.start();
    for (int64_t part = warp_of_thread(); k < r.kept.numel && part < parts.count;
         part += warps_of_block())
      own.join(parts.partial[part * r.kept.numel + k]);
    const A whole = join_lanes(own, place);
    if (warp_of_thread() != 0 || k >= r.kept.numel) continue;
    int64_t at[2];
    r.kept.offsets(k, at);
    store_result(r, at[1], whole.finish(r.reduced.numel, r.p));
  }
}

// ---- The choice ----

// Runs kernel(r, parts) in groups * parts blocks, with parts of at least `least` elements, and
// joins the parts. `strips` says how the results are grouped.
template <class A, int kDims>
Status run_parts(const ReducePlan& plan, const Reduction<kDims>& r, bool strips, int64_t least,
                 void (*entry)(Reduction<kDims>, Parts<A>)) {
  const int64_t groups = strips ? (plan.kept_numel + kWarp - 1) / kWarp : plan.kept_numel;
  const int64_t most = std::max<int64_t>(kEnoughBlocks / groups, 1);
  Parts<A> parts;
  parts.count = std::clamp<int64_t>(plan.reduced_numel / least, 1, most);
  parts.size = std::max<int64_t>((plan.reduced_numel + parts.count - 1) / parts.count, 1);
  parts.count = std::max<int64_t>((plan.reduced_numel + parts.size - 1) / parts.size, 1);
  const Workspace space(
      plan.place,
      parts.count > 1 ? plan.kept_numel * parts.count * static_cast<int64_t>(sizeof(A)) : 0);
  if (space.missing()) return no_workspace();
  parts.partial = space.data<A>();
  const Status status = launch_blocks(plan.place, groups * parts.count, kThreads, entry, r, parts);
  if (status != kernel::kOk || parts.count == 1) return status;
  if (strips)
    return launch_blocks(plan.place, groups, kThreads, &join_strips_kernel<A, kDims>, r, parts);
  return launch_blocks(plan.place, groups, kThreads, &join_parts_kernel<A, kDims>, r, parts);
}

template <class A, class Source>
Status run(const ReducePlan& plan) {
  const int64_t kept = plan.kept_numel;
  const int64_t reduced = plan.reduced_numel;
  constexpr int kDims = kShortRank;
  using Any = typename AnySource<Source>::type;
  if (plan.kept_ndim > kDims || plan.reduced_ndim > kDims) {
    constexpr int kAll = kernel::kMaxRank;
    return run_parts<A, kAll>(plan, reduction_of<kAll>(plan), false, kPart,
                              &by_block_kernel<A, Any, kAll>);
  }
  const auto r = reduction_of<kDims>(plan);
  const bool neighbours = plan.kept_input_strides[plan.kept_ndim - 1] == itemsize(plan.input_dtype);
  if (reduced <= kFewElements) return launch(plan.place, kept, &by_thread_kernel<A, Any, kDims>, r);
  if (neighbours && kept > 1)
    return run_parts<A, kDims>(plan, r, true, kStripPart, &by_strip_kernel<A, Source, kDims>);
  if (reduced <= kOfWarp) {
    return launch_blocks(plan.place, (kept + kWarps - 1) / kWarps, kThreads,
                         &by_warp_kernel<A, Source, kDims>, r);
  }
  return run_parts<A, kDims>(plan, r, false, kPart, &by_block_kernel<A, Source, kDims>);
}

// The folds that programs spend time in have kernels for each of the short dtypes.
template <class F>
inline constexpr bool kIsFrequent =
    std::is_same_v<F, math::Sum> || std::is_same_v<F, math::Mean> || std::is_same_v<F, math::Max> ||
    std::is_same_v<F, math::Min> || std::is_same_v<F, math::Argmax> ||
    std::is_same_v<F, math::Var> || std::is_same_v<F, math::Logsumexp> ||
    std::is_same_v<F, math::EuclideanNorm>;

template <class F>
Status serve_floats(const ReducePlan& plan) {
  using V = Number<double>;
  using A = typename AccumulatorOf<F, V>::type;
  if constexpr (kIsFrequent<F>) {
    switch (plan.input_dtype) {
      case DType::kFloat16:
        return run<A, Stored<Short<Half>, V>>(plan);
      case DType::kBFloat16:
        return run<A, Stored<Short<BFloat16>, V>>(plan);
      case DType::kFloat32:
        return run<A, Stored<Plain<float>, V>>(plan);
      default:
        break;
    }
  }
  return run<A, Direct<V>>(plan);
}

// nullopt: the fold is not written for the dtype.
template <class F>
std::optional<Status> serve(const ReducePlan& plan) {
  const DType dtype = plan.input_dtype;
  constexpr auto kHas = [](unsigned types) { return (F::kTypes & types) != 0; };
  const auto fold = [&]<class V>() {
    return run<typename AccumulatorOf<F, V>::type, Direct<V>>(plan);
  };
  if constexpr (F::kTypes == math::kBools) {
    if (dtype == DType::kBool)
      return run<CountAccumulator<F>, Stored<Plain<uint8_t>, Number<int64_t>>>(plan);
    return run<CountAccumulator<F>, Nonzero>(plan);
  } else {
    if constexpr (requires { F::kOfMagnitudes; }) {
      if (is_complex(dtype))
        return run<typename AccumulatorOf<F, Number<double>>::type, Magnitude>(plan);
    }
    if constexpr (kHas(math::kComplexes)) {
      if (is_complex(dtype)) return fold.template operator()<ComplexNumber<double>>();
    }
    if (is_floating(dtype)) return serve_floats<F>(plan);
    if constexpr (kHas(math::kIntegers)) {
      if (dtype == DType::kUInt64) return fold.template operator()<Number<uint64_t>>();
    }
    if constexpr (kHas(math::kIntegers | math::kSignless)) {
      if (is_integral_or_bool(dtype)) return fold.template operator()<Number<int64_t>>();
    }
    return std::nullopt;
  }
}

}  // namespace

Status reduce(const ReducePlan& plan) {
  if (plan.kept_numel == 0) return kernel::kOk;
  const std::optional<Status> status =
      math::visit_functor(plan.op, [&]<class F>() { return serve<F>(plan); });
  return status ? *status
                : failure(Code::kNotImplemented,
                          "expected a reduction that exists for this dtype, got one that does not");
}

}  // namespace tsr::cuda
