// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizer steps over a whole list of parameters. One launch handles as many parameters as fit
// into a kernel's arguments; they are cut into chunks, and blocks loop over the chunks.
#include "backend/common/optim_step.h"
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::OptimOp;
using kernel::OptimPlan;
using kernel::OptimSlot;
using kernel::Status;

namespace {

constexpr int64_t kChunk = 4096;  // elements; also what one partial norm covers
constexpr int kSlots = 64;        // of one launch

// Some slots of a plan; `ends[s]` counts the chunks of the slots up to s.
struct Slots {
  int32_t count = 0;
  int64_t chunks = 0;
  OptimSlot slots[kSlots];
  int64_t ends[kSlots];

  // Calls work(slot, i) for the elements of all chunks.
  template <class Work>
  __device__ void each_element(const Work& work) const {
    for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) each_of_chunk(chunk, work);
  }
  template <class Work>
  __device__ void each_of_chunk(int64_t chunk, const Work& work) const {
    int s = 0;
    while (ends[s] <= chunk) ++s;
    const int64_t first = (chunk - (s == 0 ? 0 : ends[s - 1])) * kChunk;
    const int64_t end = first + kChunk < slots[s].numel ? first + kChunk : slots[s].numel;
    for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) work(slots[s], i);
  }
};

// Calls launch(slots, number of the first chunk) until all slots of the plan are done.
template <class Launch>
Status each_launch(const OptimPlan& plan, const Launch& launch) {
  int64_t before = 0;
  for (int64_t first = 0; first < plan.count;) {
    Slots some;
    for (; first < plan.count && some.count < kSlots; ++first) {
      some.chunks += (plan.slots[first].numel + kChunk - 1) / kChunk;
      some.slots[some.count] = plan.slots[first];
      some.ends[some.count++] = some.chunks;
    }
    const Status status = launch(some, before);
    if (status != kernel::kOk) return status;
    before += some.chunks;
  }
  return kernel::kOk;
}

// ---- Steps ----

// Element i of an array of storage S, as a number that is written back if it was changed.
template <class S>
struct Element {
  using T = typename S::Value::Element;
  typename S::Type* at;
  T value;

  __device__ Element(const void* data, int64_t i)
      : at(static_cast<typename S::Type*>(const_cast<void*>(data)) + i), value(S::load(*at).v) {}
  __device__ void put() { *at = S::store(Number<T>(value)); }
};

template <class S, class Step>
__global__ void step_kernel(const __grid_constant__ Slots slots, Step step) {
  constexpr bool kA = (Step::kStates & 1) != 0;
  constexpr bool kB = (Step::kStates & 2) != 0;
  constexpr bool kC = (Step::kStates & 4) != 0;
  slots.each_element([&](const OptimSlot& slot, int64_t i) {
    Element<S> p(slot.parameter, i);
    // A missing state needs any readable address: the parameter's.
    Element<S> a(kA ? slot.state0 : slot.parameter, i);
    Element<S> b(kB ? slot.state1 : slot.parameter, i);
    Element<S> c(kC ? slot.state2 : slot.parameter, i);
    step.take(p.value, Element<S>(slot.gradient, i).value, a.value, b.value, c.value);
    p.put();
    if constexpr (kA) a.put();
    if constexpr (kB) b.put();
    if constexpr (kC) c.put();
  });
}

template <class S>
__global__ void clip_kernel(const __grid_constant__ Slots slots, double max_norm,
                            const double* norm) {
  const double factor = math::clip_factor(max_norm, *norm);
  // A NaN factor does not return here, so that the gradients become NaN.
  if (factor >= 1) return;
  slots.each_element([&](const OptimSlot& slot, int64_t i) {
    Element<S> p(slot.parameter, i);
    p.value *= static_cast<typename S::Value::Element>(factor);
    p.put();
  });
}

// Every thread that sees an infinite element writes the same 1.
template <class S>
__global__ void unscale_kernel(const __grid_constant__ Slots slots, const float* factor,
                               float* found) {
  const auto by = static_cast<typename S::Value::Element>(*factor);
  slots.each_element([&](const OptimSlot& slot, int64_t i) {
    Element<S> p(slot.parameter, i);
    if (!(p.value - p.value == 0)) *found = 1;
    p.value *= by;
    p.put();
  });
}

template <class S>
Status step(const OptimPlan& plan, const Slots& slots) {
  using T = typename S::Value::Element;
  const auto run = [&](auto entry, const auto&... arguments) {
    return launch_blocks(plan.place, slots.chunks, kThreads, entry, slots, arguments...);
  };
  if (plan.op == OptimOp::kClip)
    return run(&clip_kernel<S>, plan.max_norm, static_cast<const double*>(plan.norm));
  if (plan.op == OptimOp::kUnscale) return run(&unscale_kernel<S>, plan.factor, plan.found);
  return math::with_step<T>(plan, [&](const auto& numbers) {
    return run(&step_kernel<S, std::remove_cvref_t<decltype(numbers)>>, numbers);
  });
}

// ---- The norm of all gradients ----

template <class S>
__global__ void norm_kernel(const __grid_constant__ Slots slots, double p, double* partial) {
  __shared__ double place[kWarps];
  const auto join = [p](double a, double b) { return math::joined_norms(a, b, p); };
  for (int64_t chunk = blockIdx.x; chunk < slots.chunks; chunk += gridDim.x) {
    double own = math::norm_start(p);
    slots.each_of_chunk(chunk, [&](const OptimSlot& slot, int64_t i) {
      const double g = Element<S>(slot.gradient, i).value;
      own = join(own, math::norm_term(std::fabs(g), p));
    });
    const double whole = join_block(own, place, join);
    if (threadIdx.x == 0) partial[chunk] = whole;
  }
}

// Run by one block.
__global__ void join_kernel(int64_t count, double p, bool joins, const double* partial,
                            double* norm) {
  __shared__ double place[kWarps];
  const auto join = [p](double a, double b) { return math::joined_norms(a, b, p); };
  double own = math::norm_start(p);
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) own = join(own, partial[i]);
  double whole = join_block(own, place, join);
  if (threadIdx.x != 0) return;
  if (joins) whole = join(whole, math::started_norm(*norm, p));
  *norm = math::finished_norm(whole, p);
}

template <class S>
Status norm(const OptimPlan& plan) {
  int64_t chunks = 0;
  for (int64_t s = 0; s < plan.count; ++s) chunks += (plan.slots[s].numel + kChunk - 1) / kChunk;
  const Workspace space(plan.place, chunks * static_cast<int64_t>(sizeof(double)));
  if (space.missing()) return no_workspace();
  auto* partial = space.data<double>();
  const Status status = each_launch(plan, [&](const Slots& slots, int64_t before) {
    return launch_blocks(plan.place, slots.chunks, kThreads, &norm_kernel<S>, slots, plan.norm_type,
                         partial + before);
  });
  if (status != kernel::kOk) return status;
  return launch_blocks(plan.place, 1, kThreads, &join_kernel, chunks, plan.norm_type,
                       plan.joins != 0, static_cast<const double*>(partial), plan.norm);
}

template <class S>
Status run(const OptimPlan& plan) {
  if (plan.op == OptimOp::kNorm) return norm<S>(plan);
  return each_launch(plan, [&](const Slots& slots, int64_t) { return step<S>(plan, slots); });
}

}  // namespace

Status optim(const OptimPlan& plan) {
  switch (plan.dtype) {
    case DType::kFloat16:
      return run<Short<Half>>(plan);
    case DType::kBFloat16:
      return run<Short<BFloat16>>(plan);
    case DType::kFloat32:
      return run<Plain<float>>(plan);
    case DType::kFloat64:
      return run<Plain<double>>(plan);
    default:
      return failure(Code::kDType, "expected parameters of a real floating dtype");
  }
}

}  // namespace tsr::cuda
