// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One kernel for every pointwise functor: a thread computes an element, whatever the layout.
#pragma once

#include <optional>

#include "backend/common/functor_call.h"
#include "backend/common/functor_types.h"
#include "backend/cuda/fault.cuh"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/number_special.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::ElementwisePlan;
using kernel::Parameter;
using kernel::Status;

// ---- Operands ----

// Operand 0 is the output. A host number among the inputs is passed in the kernel's arguments.
template <int K>
struct Operands {
  void* data[K];
  uint32_t host;  // bit k: operand k is numbers[k]
  Parameter numbers[K];

  template <class T>
  __device__ T read(int k, int64_t offset) const {
    const void* from = (host >> k & 1U) != 0 ? static_cast<const void*>(&numbers[k])
                                             : static_cast<const char*>(data[k]) + offset;
    return *static_cast<const T*>(from);
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

// ---- Results: values of the storage, masks as bytes, magnitudes of complex numbers ----

template <class S, class R>
__device__ void store_result(void* at, R result) {
  if constexpr (std::is_integral_v<R>)
    *static_cast<uint8_t*>(at) = result != 0 ? 1 : 0;
  else if constexpr (std::is_same_v<R, typename S::Value>)
    *static_cast<typename S::Type*>(at) = S::store(result);
  else
    *static_cast<typename R::Element*>(at) = result.v;
}

// ---- The kernel ----

// Inputs have storage S, except for the first, which may differ (a condition).
template <class F, class S, class First, int... kRest>
__global__ void pointwise_kernel(Walk<sizeof...(kRest) + 2> walk,
                                 Operands<sizeof...(kRest) + 2> operands, Parameters parameters) {
  using V = typename S::Value;
  const V params[2] = {parameter<V>(parameters.p[0]), parameter<V>(parameters.p[1])};
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[sizeof...(kRest) + 2];
    walk.offsets(i, at);
    store_result<S>(static_cast<char*>(operands.data[0]) + at[0],
                    math::call_functor<F, V>(
                        params, First::load(operands.template read<typename First::Type>(1, at[1])),
                        S::load(operands.template read<typename S::Type>(kRest, at[kRest]))...));
  }
}

// The same for a functor that refuses some integers as second operand: the kernel reports them and
// writes 0.
template <class F, class S>
__global__ void refusing_kernel(Walk<3> walk, Operands<3> operands, Parameters parameters,
                                Reporter reporter) {
  using V = typename S::Value;
  using T = typename S::Type;
  const V params[2] = {parameter<V>(parameters.p[0]), parameter<V>(parameters.p[1])};
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[3];
    walk.offsets(i, at);
    const T second = operands.template read<T>(2, at[2]);
    void* const to = static_cast<char*>(operands.data[0]) + at[0];
    if (F::refuses(second)) {
      report(reporter, 0, static_cast<int64_t>(second), 0, 0);
      *static_cast<T*>(to) = 0;
    } else {
      store_result<S>(to,
                      math::call_functor<F, V>(params, S::load(operands.template read<T>(1, at[1])),
                                               S::load(second)));
    }
  }
}

template <class F, class S>
Status run_refusing(const ElementwisePlan& plan) {
  Reporter reporter;
  const Status status = reporter_for(plan.place, FaultKind::kOperand, F::kRefusal, reporter);
  if (status != kernel::kOk) return status;
  return launch(plan.place, plan.numel, &refusing_kernel<F, S>, walk_of<3>(plan),
                operands_of<3>(plan), Parameters{{plan.params[0], plan.params[1]}}, reporter);
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

template <class F, class S, class First, int... kRest>
Served run_pointwise(const ElementwisePlan& plan) {
  constexpr int kOperands = sizeof...(kRest) + 2;
  if (plan.numel == 0) return kernel::kOk;
  if constexpr (requires { F::kRefusal; } && std::is_integral_v<typename S::Type>) {
    if ((plan.host_operands >> 2 & 1U) == 0) return run_refusing<F, S>(plan);
    if (refuses_number<F, typename S::Type>(plan)) return failure(Code::kValue, F::kRefusal);
  }
  return launch(plan.place, plan.numel, &pointwise_kernel<F, S, First, kRest...>,
                walk_of<kOperands>(plan), operands_of<kOperands>(plan),
                Parameters{{plan.params[0], plan.params[1]}});
}

// As on the CPU: see Note [Functors] for what F says of types.
template <class F, int... kRest>
Served serve(DType dtype, const ElementwisePlan& plan) {
  const auto run = [&]<class S>() { return run_pointwise<F, S, S, kRest...>(plan); };
  constexpr auto kHas = [](unsigned types) { return (F::kTypes & types) != 0; };
  if constexpr (kHas(math::kReal)) {
    if (dtype == DType::kFloat16) return run.template operator()<Short<Half>>();
    if (dtype == DType::kBFloat16) return run.template operator()<Short<BFloat16>>();
    if (dtype == DType::kFloat32) return run.template operator()<Plain<float>>();
    if (dtype == DType::kFloat64) return run.template operator()<Plain<double>>();
  }
  if constexpr (kHas(math::kComplexes)) {
    if (dtype == DType::kComplex64) return run.template operator()<Paired<float>>();
    if (dtype == DType::kComplex128) return run.template operator()<Paired<double>>();
  }
  if constexpr (kHas(math::kBools)) {
    if (dtype == DType::kBool) return run.template operator()<Truth>();
  } else if constexpr (requires { typename F::OnBools; }) {
    if (dtype == DType::kBool) return serve<typename F::OnBools, kRest...>(dtype, plan);
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
    if (is_integral(dtype)) return serve<typename F::OnIntegers, kRest...>(dtype, plan);
  }
  return std::nullopt;
}

inline Status status_of(Served served) {
  return served ? *served
                : failure(Code::kNotImplemented,
                          "expected an op that exists for these dtypes, got one that does not");
}

}  // namespace tsr::cuda
