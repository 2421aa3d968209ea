// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes: one row for each, with the op and its derivative; a function for
// a reduction with parameters.
#pragma once

#include <optional>
#include <tuple>

#include "base/scalar.h"
#include "kernel/reduce.h"
#include "ops/generated/reduce_rows.h"
#include "ops/result.h"

namespace tsr::ops {

// nullopt means all axes. Bad axes throw kIndex, repeated axes kValue. With keepdims, the reduced
// axes stay with size 1.
using Axes = std::optional<DimsView>;

// ---- rows: one each in reduce.cpp, declared in generated/reduce_rows.h ----

// The dtypes that a reduction takes and the dtype that it returns.
enum class ReductionType : uint8_t {
  kReal,       // real, returned as it is
  kFloatReal,  // as kReal, integers and bool become default_dtype()
  kInexact,    // floating and complex
  kTotal,      // any dtype; integers and bool are added in int64 (unsigned ones in uint64)
  kPredicate,  // any dtype, returns bool
  kCount,      // any dtype, returns int64
};

enum class ReductionSaves : uint8_t { kNothing, kInput, kInputAndOutput };

// The arguments of a reduction's derivative. g and y have the shape of the result with the reduced
// axes as size 1, so that they broadcast with x.
struct ReductionContext {
  const Tensor& g;  // dL/dy
  const Tensor& x;  // defined if the rule saves it
  const Tensor& y;  // defined if the rule saves it
  DimsView axes;    // the reduced ones, wrapped
  DimsView shape;   // of x
  DimsView full;    // of dL/dx: as shape, behind the samples of a batched backward
  bool create_graph;
};

struct ReductionRule {
  kernel::ReduceOp op;
  const char* node;  // the name of the backward node; null if the op is not differentiable
  ReductionType type;
  ReductionSaves saves = ReductionSaves::kNothing;
  Tensor (*derivative)(const ReductionContext& ctx) = nullptr;  // dL/dx, of the shape of x
  bool needs_elements = false;                                  // throws kValue over no elements
};

// A row that can be called: max(x), max(x, axes, keepdims), max(x, axes, keepdims, Out::into(y)).
struct Reduction {
  ReductionRule rule;
  Tensor operator()(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {}) const;
};
// As Reduction, with a dtype to which the input is cast first. 16-bit floats are added in float32.
struct Total {
  ReductionRule rule;
  Tensor operator()(const Tensor& input, Axes axes = {}, bool keepdims = false,
                    std::optional<DType> dtype = {}, Out out = {}) const;
};

// ---- statistics: floating; NaN over no elements ----
// Divides by N - correction; NaN or infinite if that is not positive.
Tensor var(const Tensor& input, Axes axes = {}, double correction = 0, bool keepdims = false,
           Out out = {});
Tensor std(const Tensor& input, Axes axes = {}, double correction = 0, bool keepdims = false,
           Out out = {});

// int64 positions of the first extremum along one axis, or in the flattened input.
Tensor argmax(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});
Tensor argmin(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});

// (Σ |x|^ord)^(1/ord). ord 0 counts nonzero elements; inf and -inf take the largest and smallest
// |x|. Floating and complex; the result is real.
Tensor vector_norm(const Tensor& input, Axes axes = {}, bool keepdims = false, double ord = 2,
                   Out out = {});

// The derivative of vector_norm with respect to its input x, from g = dL/dr and the result r, both
// with the reduced axes as size 1. 0 at r = 0; equal extrema share the gradient.
Tensor norm_gradient(const Tensor& g, const Tensor& x, const Tensor& r, double ord, DimsView axes);

// The wrapped axes of a reduction; every axis when none are named. A 0-dim tensor has none, though
// 0 and -1 may be named.
Dims reduction_axes(const Tensor& input, const Axes& axes);
// Inserts the reduced axes as size 1 into the result of a reduction, if keepdims is false.
// Differentiable.
Tensor restore_axes(const Tensor& reduced, DimsView axes, bool keepdims);

}  // namespace tsr::ops
