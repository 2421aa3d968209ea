// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A reduction for kernels: where elements are, how they are loaded, and how a thread takes its
// share of them.
#pragma once

#include "backend/cuda/launch.cuh"
#include "backend/cuda/packed.cuh"
#include "backend/cuda/reduce/accumulator.cuh"

namespace tsr::cuda {

template <int kDims>
struct Reduction {
  Walk<2, kDims> kept;  // strides of the input and of the output
  Walk<1, kDims> reduced;
  const char* input;
  char* output;
  DType from, to;
  double p;
};

// ---- Sources: an element as the accumulator's value ----

// Tests the dtype for each element, so that one kernel serves many: the time to compile them counts
// too.
template <class V>
struct Direct {
  __device__ static V load(DType from, const char* at) { return load_value<V>(from, at); }
};
struct Magnitude {
  __device__ static Number<double> load(DType from, const char* at) {
    return abs(load_as<ComplexNumber<double>>(from, at));
  }
};
struct Nonzero {
  __device__ static Number<int64_t> load(DType from, const char* at) {
    return Number<int64_t>(is_nonzero(from, at) ? 1 : 0);
  }
};
// The dtypes whose reductions are limited by the memory: neighbours are loaded in packs. `Any` is
// for layouts where that makes no difference.
template <class S, class V>
struct Stored {
  using Type = typename S::Type;
  using Any = Direct<V>;
  __device__ static V value(Type raw) {
    return V(static_cast<typename V::Element>(S::load(raw).v));
  }
  __device__ static V load(DType, const char* at) {
    return value(*reinterpret_cast<const Type*>(at));
  }
};

template <class Source>
inline constexpr bool kIsTyped = requires {
  typename Source::Type;
};
template <class Source>
struct AnySource {
  using type = Source;
};
template <class Source>
requires kIsTyped<Source>
struct AnySource<Source> {
  using type = typename Source::Any;
};

// ---- Shares: elements first, first + step, ... of [begin, end) ----

// Independent states, so that an element need not wait for the one before it.
template <class A, int kCount>
struct States {
  A each[kCount];

  __device__ States() {
    for (A& state : each) state.start();
  }
  __device__ void join_into(A& total) {
    for (A& state : each) total.join(state);
  }
};
inline constexpr int kStates = 4;

template <class A, class Source, int kDims>
__device__ void take_apart(const Reduction<kDims>& r, int64_t base, int64_t first, int64_t end,
                           int64_t step, A& total) {
  const auto element = [&](int64_t i) {
    int64_t at[1];
    r.reduced.offsets(i, at);
    return Source::load(r.from, r.input + base + at[0]);
  };
  int64_t i = first;
  if constexpr (kIsTyped<Source>) {
    if (i + (kStates - 1) * step < end) {
      States<A, kStates> states;
      for (; i + (kStates - 1) * step < end; i += kStates * step) {
        typename A::Value loaded[kStates];
#pragma unroll
        for (int k = 0; k < kStates; ++k) loaded[k] = element(i + k * step);
#pragma unroll
        for (int k = 0; k < kStates; ++k) states.each[k].take(loaded[k], i + k * step, r.p);
      }
      states.join_into(total);
    }
  }
  for (; i < end; i += step) total.take(element(i), i, r.p);
}

// The elements are neighbours: packs, and single elements before and after them.
template <class A, class Source, int kDims>
__device__ void take_packs(const Reduction<kDims>& r, int64_t base, int64_t begin, int64_t end,
                           int64_t me, int64_t step, A& total) {
  using Type = typename Source::Type;
  constexpr int kItems = kPackOf<Type>;
  constexpr int kUsed = kItems < kStates ? kItems : kStates;
  const Type* const data = reinterpret_cast<const Type*>(r.input + base);
  const int64_t head = begin + elements_before_pack<Type, kItems>(data + begin, end - begin);
  const int64_t packs = (end - head) / kItems;
  for (int64_t i = begin + me; i < head; i += step) total.take(Source::value(data[i]), i, r.p);
  if (me < packs) {
    States<A, kUsed> states;
    for (int64_t pack = me; pack < packs; pack += step) {
      const int64_t i = head + pack * kItems;
      const auto loaded = *reinterpret_cast<const Pack<Type, kItems>*>(data + i);
#pragma unroll
      for (int k = 0; k < kItems; ++k)
        states.each[k % kUsed].take(Source::value(loaded.items[k]), i + k, r.p);
    }
    states.join_into(total);
  }
  for (int64_t i = head + packs * kItems + me; i < end; i += step)
    total.take(Source::value(data[i]), i, r.p);
}

// Thread `me` of `step` takes its share; `base` is the offset of the result's first element.
template <class A, class Source, int kDims>
__device__ void take_share(const Reduction<kDims>& r, int64_t base, int64_t begin, int64_t end,
                           int64_t me, int64_t step, A& total) {
  if constexpr (kIsTyped<Source>) {
    if (r.reduced.ndim == 1 &&
        r.reduced.strides[0][0] == static_cast<int64_t>(sizeof(typename Source::Type))) {
      take_packs<A, Source>(r, base, begin, end, me, step, total);
      return;
    }
  }
  take_apart<A, Source>(r, base, begin + me, end, step, total);
}

// ---- Results ----

template <int kDims, class T>
__device__ void store_result(const Reduction<kDims>& r, int64_t offset, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    store_as(r.to, r.output + offset, static_cast<int64_t>(value));
  } else if constexpr (requires { value.re; }) {
    store_as(r.to, r.output + offset,
             ComplexNumber<double>(Number<double>(value.re), Number<double>(value.im)));
  } else {
    store_as(r.to, r.output + offset, value);
  }
}

}  // namespace tsr::cuda
