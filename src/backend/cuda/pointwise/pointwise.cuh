// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Two kernels for every pointwise functor: in packs (packs.cuh), and for any layout, where a thread
// computes an element.
#pragma once

#include <optional>
#include <utility>

#include "backend/common/functor_call.h"
#include "backend/common/functor_types.h"
#include "backend/cuda/fault.cuh"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/number_special.cuh"
#include "backend/cuda/pointwise/packs.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::ElementwisePlan;
using kernel::Parameter;
using kernel::Status;

// ---- Parameters ----

struct Parameters {
  Parameter p[2];
};
template <class V>
__device__ V parameter(const Parameter& bytes) {
  if constexpr (requires { typename V::Element; }) {
    return V(*reinterpret_cast<const typename V::Element*>(&bytes));
  } else {
    using T = decltype(V::re.v);
    const T* parts = reinterpret_cast<const T*>(&bytes);
    return V(Number<T>(parts[0]), Number<T>(parts[1]));
  }
}

// ---- Operands ----

// A condition is none, and has no type of values.
template <class S>
inline constexpr bool kMayBeNumber = requires {
  typename S::Value;
};

// Operand kOperand of packs as values of a functor.
template <class S, int kItems, int kOperand>
struct ValueInput {
  static constexpr int kWhich = kOperand;
  using Value = decltype(S::load(std::declval<typename S::Type>()));
  struct Values {
    Value items[kItems];
  };
  PackInput<typename S::Type, kItems, kOperand> stored;
  const Parameter* number;  // null: the operand is in memory

  __device__ Values pack(int64_t offset) const {
    Values found;
    if constexpr (kMayBeNumber<S>) {
      if (number != nullptr) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) found.items[i] = parameter<Value>(*number);
        return found;
      }
    }
    const auto raw = stored.pack(offset);
#pragma unroll
    for (int i = 0; i < kItems; ++i) found.items[i] = S::load(raw.items[i]);
    return found;
  }
  __device__ Value single(int64_t i) const {
    if constexpr (kMayBeNumber<S>) {
      if (number != nullptr) return parameter<Value>(*number);
    }
    return S::load(stored.single(i));
  }
};

// Operand 0 is the output. A host number among the inputs is passed in the kernel's arguments.
template <int K>
struct Operands {
  void* data[K];
  uint32_t host;  // bit k: operand k is numbers[k]
  Parameter numbers[K];

  __device__ const void* at(int k, int64_t offset) const {
    return (host >> k & 1U) != 0 ? static_cast<const void*>(&numbers[k])
                                 : static_cast<const char*>(data[k]) + offset;
  }
  template <class T>
  __device__ T read(int k, int64_t offset) const {
    return *static_cast<const T*>(at(k, offset));
  }
  template <class T, int kItems, int kOperand>
  __device__ PackInput<T, kItems, kOperand> input(const Packs<K>& packs) const {
    return {packs, at(kOperand, 0)};
  }
  // The same as values (Note [Numbers beside tensors] in kernel/numbers.h).
  template <class S>
  __device__ auto value(int k, int64_t offset) const {
    if constexpr (kMayBeNumber<S>) {
      if ((host >> k & 1U) != 0) return parameter<typename S::Value>(numbers[k]);
    }
    return S::load(read<typename S::Type>(k, offset));
  }
  template <class S, int kItems, int kOperand>
  __device__ ValueInput<S, kItems, kOperand> values(const Packs<K>& packs) const {
    return {input<typename S::Type, kItems, kOperand>(packs),
            (host >> kOperand & 1U) != 0 ? &numbers[kOperand] : nullptr};
  }
};

template <int K>
Operands<K> operands_of(const ElementwisePlan& plan) {
  Operands<K> operands{};
  operands.host = plan.host_operands;
  for (int k = 0; k < K; ++k) {
    operands.data[k] = plan.data[k];
    if ((plan.host_operands >> k & 1U) != 0)
      std::memcpy(&operands.numbers[k], plan.data[k], sizeof(Parameter));
  }
  return operands;
}

// Calls launch(walk, operands): see Note [Short walks].
template <int K, class Launch>
Status each_walk(const ElementwisePlan& plan, const Launch& launch) {
  const Operands<K> operands = operands_of<K>(plan);
  return each_short_walk<K>(plan, [&](const ShortWalk<K>& walk, const int64_t(&at)[K]) {
    Operands<K> moved = operands;
    for (int k = 0; k < K; ++k) {
      if ((operands.host >> k & 1U) == 0)
        moved.data[k] = static_cast<char*>(operands.data[k]) + at[k];
    }
    return launch(walk, moved);
  });
}

// ---- Results: values of the storage, masks as bytes, magnitudes of complex numbers, complex
// numbers of two real ones ----

template <class S, class R>
struct ResultOf {
  using Type = typename R::Element;
  __device__ static Type of(R result) { return result.v; }
};
template <class S, class R>
requires std::is_integral_v<R>
struct ResultOf<S, R> {
  using Type = uint8_t;
  __device__ static Type of(R result) { return result != 0 ? 1 : 0; }
};
template <class S, class T>
requires(
    !std::is_same_v<ComplexNumber<T>, typename S::Value>) struct ResultOf<S, ComplexNumber<T>> {
  using Type = Pair<T>;
  __device__ static Type of(ComplexNumber<T> result) { return Paired<T>::store(result); }
};
template <class S, class R>
requires std::is_same_v<R, typename S::Value>
struct ResultOf<S, R> {
  using Type = typename S::Type;
  __device__ static Type of(R result) { return S::store(result); }
};

template <class F, class S, class First, int... kRest>
using FunctorResult = std::remove_cvref_t<decltype(math::call_functor<F, typename S::Value>(
    std::declval<const typename S::Value (&)[2]>(),
    First::load(std::declval<typename First::Type>()),
    S::load((static_cast<void>(kRest), std::declval<typename S::Type>()))...))>;

// Applies F to values, for storage of the result. Inputs have storage S, except for the first,
// which may differ (a condition).
template <class F, class S, class First, int... kRest>
struct Applied {
  using V = typename S::Value;
  using Result = ResultOf<S, FunctorResult<F, S, First, kRest...>>;
  using Out = typename Result::Type;
  // As many as a pack has of the largest type.
  static constexpr int kItems =
      kPackOf<Out> < kPackOf<typename S::Type> ? kPackOf<Out> : kPackOf<typename S::Type>;
  V params[2];

  __device__ explicit Applied(const Parameters& parameters)
      : params{parameter<V>(parameters.p[0]), parameter<V>(parameters.p[1])} {}
  template <class... Values>
  __device__ Out operator()(Values... values) const {
    return Result::of(math::call_functor<F, V>(params, values...));
  }
};

// ---- The kernels ----

template <class F, class S, class First, int... kRest>
__global__ void pointwise_kernel(const __grid_constant__ ShortWalk<sizeof...(kRest) + 2> walk,
                                 const __grid_constant__ Operands<sizeof...(kRest) + 2> operands,
                                 const __grid_constant__ Parameters parameters) {
  using Apply = Applied<F, S, First, kRest...>;
  const Apply apply(parameters);
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[sizeof...(kRest) + 2];
    walk.offsets(i, at);
    *reinterpret_cast<typename Apply::Out*>(static_cast<char*>(operands.data[0]) + at[0]) = apply(
        operands.template value<First>(1, at[1]), operands.template value<S>(kRest, at[kRest])...);
  }
}

template <class F, class S, class First, int... kRest>
__global__ void packs_kernel(const __grid_constant__ Packs<sizeof...(kRest) + 2> packs,
                             const __grid_constant__ Operands<sizeof...(kRest) + 2> operands,
                             const __grid_constant__ Parameters parameters) {
  using Apply = Applied<F, S, First, kRest...>;
  constexpr int kItems = Apply::kItems;
  write_packs<typename Apply::Out, kItems>(packs, operands.data[0], Apply(parameters),
                                           operands.template values<First, kItems, 1>(packs),
                                           operands.template values<S, kItems, kRest>(packs)...);
}

// The same for a functor that refuses some integers as second operand: the kernel reports them and
// writes 0.
template <class F, class S>
__global__ void refusing_kernel(const __grid_constant__ ShortWalk<3> walk,
                                const __grid_constant__ Operands<3> operands,
                                const __grid_constant__ Parameters parameters, Reporter reporter) {
  using T = typename S::Type;
  const Applied<F, S, S, 2> apply(parameters);
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[3];
    walk.offsets(i, at);
    const T second = operands.template read<T>(2, at[2]);
    T* const to = reinterpret_cast<T*>(static_cast<char*>(operands.data[0]) + at[0]);
    if (F::refuses(second)) {
      report(reporter, 0, static_cast<int64_t>(second), 0, 0);
      *to = 0;
    } else {
      *to = apply(operands.template value<S>(1, at[1]), S::load(second));
    }
  }
}

template <class F, class S>
Status run_refusing(const ElementwisePlan& plan) {
  Reporter reporter;
  const Status status = reporter_for(plan.place, FaultKind::kOperand, F::kRefusal, reporter);
  if (status != kernel::kOk) return status;
  return each_walk<3>(plan, [&](const ShortWalk<3>& walk, const Operands<3>& operands) {
    return launch(plan.place, walk.numel, &refusing_kernel<F, S>, walk, operands,
                  Parameters{{plan.params[0], plan.params[1]}}, reporter);
  });
}

// Checks a host number before the launch.
template <class F, class T>
bool refuses_number(const ElementwisePlan& plan) {
  T number;
  std::memcpy(&number, plan.data[2], sizeof(T));
  return F::refuses(number);
}

// ---- From a functor to its kernel for a dtype ----

// nullopt: the functor is not written for the dtype.
using Served = std::optional<Status>;

// The two kernels of a functor for a dtype, and the bytes of an element of each operand. Kernels of
// K operands have the same types, whatever the functor: what chooses between them is compiled once.
template <int K>
struct PointwiseKernels {
  int64_t sizes[K];
  int items;  // of a pack
  void (*packs)(Packs<K>, Operands<K>, Parameters);
  void (*each)(ShortWalk<K>, Operands<K>, Parameters);
};

template <int K>
Status run_kernels(const ElementwisePlan& plan, const PointwiseKernels<K>& kernels) {
  const Parameters parameters{{plan.params[0], plan.params[1]}};
  if (const auto packs = packs_of<K>(plan, kernels.sizes, kernels.items))
    return launch_packs(plan.place, *packs, kernels.packs, operands_of<K>(plan), parameters);
  return each_walk<K>(plan, [&](const ShortWalk<K>& walk, const Operands<K>& operands) {
    return launch(plan.place, walk.numel, kernels.each, walk, operands, parameters);
  });
}

template <class F, class S, class First, int... kRest>
Served run_pointwise(const ElementwisePlan& plan) {
  if (plan.numel == 0) return kernel::kOk;
  if constexpr (requires { F::kRefusal; } && std::is_integral_v<typename S::Type>) {
    if ((plan.host_operands >> 2 & 1U) == 0) return run_refusing<F, S>(plan);
    if (refuses_number<F, typename S::Type>(plan)) return failure(Code::kValue, F::kRefusal);
  }
  using Apply = Applied<F, S, First, kRest...>;
  return run_kernels<sizeof...(kRest) + 2>(
      plan, {{sizeof(typename Apply::Out), sizeof(typename First::Type),
              (static_cast<void>(kRest), sizeof(typename S::Type))...},
             Apply::kItems,
             &packs_kernel<F, S, First, kRest...>,
             &pointwise_kernel<F, S, First, kRest...>});
}

// As on the CPU: see Note [Functors] for what F says of types.
template <class F, int... kRest>
Served serve_reals(DType dtype, const ElementwisePlan& plan) {
  const auto run = [&]<class S>() { return run_pointwise<F, S, S, kRest...>(plan); };
  constexpr auto kHas = [](unsigned types) { return (F::kTypes & types) != 0; };
  if constexpr (kHas(math::kReal)) {
    if (dtype == DType::kFloat16) return run.template operator()<Short<Half>>();
    if (dtype == DType::kBFloat16) return run.template operator()<Short<BFloat16>>();
    if (dtype == DType::kFloat32) return run.template operator()<Plain<float>>();
    if (dtype == DType::kFloat64) return run.template operator()<Plain<double>>();
  }
  return std::nullopt;
}

template <class F, int... kRest>
Served serve_complexes(DType dtype, const ElementwisePlan& plan) {
  const auto run = [&]<class S>() { return run_pointwise<F, S, S, kRest...>(plan); };
  if constexpr ((F::kTypes & math::kComplexes) != 0) {
    if (dtype == DType::kComplex64) return run.template operator()<Paired<float>>();
    if (dtype == DType::kComplex128) return run.template operator()<Paired<double>>();
  }
  return std::nullopt;
}

// Bools and integers.
template <class F, int... kRest>
Served serve_integers(DType dtype, const ElementwisePlan& plan) {
  const auto run = [&]<class S>() { return run_pointwise<F, S, S, kRest...>(plan); };
  constexpr auto kHas = [](unsigned types) { return (F::kTypes & types) != 0; };
  if constexpr (kHas(math::kBools)) {
    if (dtype == DType::kBool) return run.template operator()<Truth>();
  } else if constexpr (requires { typename F::OnBools; }) {
    if (dtype == DType::kBool) return serve_integers<typename F::OnBools, kRest...>(dtype, plan);
  }
  if constexpr (kHas(math::kIntegers)) {
    if (dtype == DType::kUInt8) return run.template operator()<Plain<uint8_t>>();
    if (dtype == DType::kUInt16) return run.template operator()<Plain<uint16_t>>();
    if (dtype == DType::kUInt32) return run.template operator()<Plain<uint32_t>>();
    if (dtype == DType::kUInt64) return run.template operator()<Plain<uint64_t>>();
  }
  if constexpr (kHas(math::kIntegers | math::kSignless)) {
    if (!is_integral(dtype)) return std::nullopt;
    if (itemsize(dtype) == 1) return run.template operator()<Plain<int8_t>>();
    if (itemsize(dtype) == 2) return run.template operator()<Plain<int16_t>>();
    if (itemsize(dtype) == 4) return run.template operator()<Plain<int32_t>>();
    return run.template operator()<Plain<int64_t>>();
  } else if constexpr (requires { typename F::OnIntegers; }) {
    if (is_integral(dtype)) return serve_integers<typename F::OnIntegers, kRest...>(dtype, plan);
  }
  return std::nullopt;
}

template <class F, int... kRest>
Served serve_floats(DType dtype, const ElementwisePlan& plan) {
  return is_complex(dtype) ? serve_complexes<F, kRest...>(dtype, plan)
                           : serve_reals<F, kRest...>(dtype, plan);
}

template <class F, int... kRest>
Served serve(DType dtype, const ElementwisePlan& plan) {
  return is_integral_or_bool(dtype) ? serve_integers<F, kRest...>(dtype, plan)
                                    : serve_floats<F, kRest...>(dtype, plan);
}

inline Status status_of(Served served) {
  return served ? *served
                : failure(Code::kNotImplemented,
                          "expected an op that exists for these dtypes, got one that does not");
}

}  // namespace tsr::cuda
