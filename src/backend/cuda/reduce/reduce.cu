// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions: one thread per result if results are many and contiguous, one block per result if
// they are not, and several blocks per result if there are few. The choice and the number of parts
// depend on the plan alone, so that a result does not depend on the device's load.
#include <optional>

#include "backend/common/generated/visit_reduce.h"
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/reduce/accumulator.cuh"

namespace tsr::cuda {

using kernel::ReducePlan;
using kernel::Status;

namespace {

constexpr int64_t kFewElements = 32;     // one thread alone reduces up to so many
constexpr int64_t kManyResults = 16384;  // enough to keep the device busy with one thread each
constexpr int64_t kFewResults = 256;     // below: several blocks per result
constexpr int64_t kPart = 65536;         // elements of a part
constexpr int64_t kMaxParts = 1024;

// The plan for kernels.
struct Reduction {
  Walk<2> kept;  // strides of the input and of the output
  Walk<1> reduced;
  const char* input;
  char* output;
  DType from, to;
  double p;
};

Reduction reduction_of(const ReducePlan& plan) {
  Reduction r;
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

// Loads an element as the accumulator's value.
template <class V>
struct Direct {
  __device__ static V load(const Reduction& r, int64_t offset) {
    return load_value<V>(r.from, r.input + offset);
  }
};
struct Magnitude {
  __device__ static Number<double> load(const Reduction& r, int64_t offset) {
    return abs(load_as<ComplexNumber<double>>(r.from, r.input + offset));
  }
};
struct Nonzero {
  __device__ static Number<int64_t> load(const Reduction& r, int64_t offset) {
    return Number<int64_t>(is_nonzero(r.from, r.input + offset) ? 1 : 0);
  }
};

template <class A, class Source>
__device__ void take_range(const Reduction& r, int64_t base, int64_t begin, int64_t end,
                           int64_t step, A& total) {
  for (int64_t i = begin; i < end; i += step) {
    int64_t at[1];
    r.reduced.offsets(i, at);
    total.take(Source::load(r, base + at[0]), i, r.p);
  }
}

__device__ void store(const Reduction& r, int64_t offset, double value) {
  store_as(r.to, r.output + offset, value);
}
__device__ void store(const Reduction& r, int64_t offset, int64_t value) {
  store_as(r.to, r.output + offset, value);
}
__device__ void store(const Reduction& r, int64_t offset, uint64_t value) {
  store_as(r.to, r.output + offset, value);
}
__device__ void store(const Reduction& r, int64_t offset, bool value) {
  store_as(r.to, r.output + offset, static_cast<int64_t>(value));
}
__device__ void store(const Reduction& r, int64_t offset, math::Complex<double> value) {
  store_as(r.to, r.output + offset,
           ComplexNumber<double>(Number<double>(value.re), Number<double>(value.im)));
}

template <class A, class Source>
__global__ void by_thread_kernel(Reduction r) {
  for (int64_t k = first_index(); k < r.kept.numel; k += index_step()) {
    int64_t at[2];
    r.kept.offsets(k, at);
    A total;
    total.start();
    take_range<A, Source>(r, at[0], 0, r.reduced.numel, 1, total);
    store(r, at[1], total.finish(r.reduced.numel, r.p));
  }
}

// Block k * parts + p reduces part p of result k; with one part it writes the result.
template <class A, class Source>
__global__ void by_block_kernel(Reduction r, int64_t parts, int64_t part_size, A* partial) {
  __shared__ A place[kThreads];
  for (int64_t task = blockIdx.x; task < r.kept.numel * parts; task += gridDim.x) {
    int64_t at[2];
    r.kept.offsets(task / parts, at);
    const int64_t begin = task % parts * part_size;
    const int64_t end = begin + part_size < r.reduced.numel ? begin + part_size : r.reduced.numel;
    A own;
    own.start();
    take_range<A, Source>(r, at[0], begin + threadIdx.x, end, blockDim.x, own);
    const A whole = join_block(own, place, [](A a, const A& b) {
      a.join(b);
      return a;
    });
    if (threadIdx.x != 0) continue;
    if (parts == 1)
      store(r, at[1], whole.finish(r.reduced.numel, r.p));
    else
      partial[task] = whole;
  }
}

template <class A>
__global__ void join_parts_kernel(Reduction r, int64_t parts, const A* partial) {
  for (int64_t k = first_index(); k < r.kept.numel; k += index_step()) {
    int64_t at[2];
    r.kept.offsets(k, at);
    A total = partial[k * parts];
    for (int64_t p = 1; p < parts; ++p) total.join(partial[k * parts + p]);
    store(r, at[1], total.finish(r.reduced.numel, r.p));
  }
}

template <class A, class Source>
Status run(const ReducePlan& plan) {
  const Reduction r = reduction_of(plan);
  const int64_t kept = plan.kept_numel;
  const int64_t reduced = plan.reduced_numel;
  const bool neighbours = plan.kept_input_strides[plan.kept_ndim - 1] == itemsize(plan.input_dtype);
  if (reduced <= kFewElements || (neighbours && kept >= kManyResults))
    return launch(plan.place, kept, &by_thread_kernel<A, Source>, r);
  int64_t parts = 1;
  if (kept < kFewResults) parts = std::clamp<int64_t>(reduced / kPart, 1, kMaxParts);
  const int64_t part_size = (reduced + parts - 1) / parts;
  parts = (reduced + part_size - 1) / part_size;
  const Workspace partial(plan.place,
                          parts > 1 ? kept * parts * static_cast<int64_t>(sizeof(A)) : 0);
  if (partial.missing()) return no_workspace();
  const Status status =
      launch_blocks(plan.place, kept * parts, kThreads, &by_block_kernel<A, Source>, r, parts,
                    part_size, partial.data<A>());
  if (status != kernel::kOk || parts == 1) return status;
  return launch(plan.place, kept, &join_parts_kernel<A>, r, parts,
                static_cast<const A*>(partial.data<A>()));
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
    return run<CountAccumulator<F>, Nonzero>(plan);
  } else {
    if constexpr (requires { F::kOfMagnitudes; }) {
      if (is_complex(dtype))
        return run<typename AccumulatorOf<F, Number<double>>::type, Magnitude>(plan);
    }
    if constexpr (kHas(math::kComplexes)) {
      if (is_complex(dtype)) return fold.template operator()<ComplexNumber<double>>();
    }
    if (is_floating(dtype)) return fold.template operator()<Number<double>>();
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
