// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Ternary kernels: every functor over the types it is written for; where() moves elements by size.
#include "backend/common/generated/visit_ternary.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/pointwise/pointwise.cuh"

namespace tsr::cuda {
namespace {

// An element of which only the size matters.
template <class T>
struct Opaque {
  using Element = T;
  T v;
  Opaque() = default;
  __device__ explicit Opaque(T bits) : v(bits) {}
};
template <class T>
__device__ Opaque<T> select(bool mask, Opaque<T> yes, Opaque<T> no) {
  return mask ? yes : no;
}

template <class T>
struct Moved {
  using Type = T;
  using Value = Opaque<T>;
  __device__ static Value load(Type raw) { return Value(raw); }
  __device__ static Type store(Value value) { return value.v; }
};
struct Condition {
  using Type = uint8_t;
  __device__ static bool load(Type raw) { return raw != 0; }
};

template <class F>
Served move(const ElementwisePlan& plan) {
  return visit_size(plan.dtypes[0],
                    [&]<class T>() { return run_pointwise<F, Moved<T>, Condition, 2, 3>(plan); });
}

}  // namespace

Status ternary(kernel::TernaryOp op, const ElementwisePlan& plan) {
  return status_of(math::visit_functor(op, [&]<class F>() -> Served {
    if constexpr ((F::kTypes & math::kMoved) != 0)
      return move<F>(plan);
    else
      return serve<F, 2, 3>(plan.dtypes[1], plan);
  }));
}

}  // namespace tsr::cuda
