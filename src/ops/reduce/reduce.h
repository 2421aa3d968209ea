// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes: one row each, with the derivative beside the op, or a function
// where there are parameters.
#pragma once

#include <optional>
#include <tuple>

#include "base/scalar.h"
#include "kernel/reduce.h"
#include "ops/generated/reduce_rows.h"
#include "ops/result.h"

namespace tsr::ops {

// No axes (nullopt): all of them. Bad axes throw kIndex, repeated ones kValue. With keepdims the
// reduced axes stay with size 1.
using Axes = std::optional<DimsView>;

// ---- rows: one each in reduce.cpp, declared in generated/reduce_rows.h ----

// What dtypes a reduction takes and what it returns.
enum class ReductionType : uint8_t {
  kReal,       // real, returned as it is
  kFloatReal,  // as kReal, integers and bool become default_dtype()
  kInexact,    // floating and complex
  kTotal,      // any dtype; integers and bool add up in int64 (unsigned ones in uint64)
  kPredicate,  // any dtype, returns bool
  kCount,      // any dtype, returns int64
};

enum class ReductionSaves : uint8_t { kNothing, kInput, kInputAndOutput };

// What the derivative of a reduction sees. g and y have the shape of the result with its reduced
// axes kept as size 1, so they broadcast with x.
struct ReductionContext {
  const Tensor& g;  // dL/dy
  const Tensor& x;  // where the rule saves it, undefined otherwise
  const Tensor& y;  // likewise
  DimsView axes;    // the reduced ones, wrapped
  DimsView shape;   // of x
  bool create_graph;
};

struct ReductionRule {
  kernel::ReduceOp op;
  const char* node;  // the name of the backward node; null when the op is not differentiable
  ReductionType type;
  ReductionSaves saves = ReductionSaves::kNothing;
  Tensor (*derivative)(const ReductionContext& ctx) = nullptr;  // dL/dx, of the shape of x
  bool needs_elements = false;                                  // throws kValue over nothing
};

// A row that can be called: max(x), max(x, axes, keepdims), max(x, axes, keepdims, Out::into(y)).
struct Reduction {
  ReductionRule rule;
  Tensor operator()(const Tensor& input, Axes axes = {}, bool keepdims = false, Out out = {}) const;
};
// The same with a dtype, to which the input is cast first; 16-bit floats add up in float32.
struct Total {
  ReductionRule rule;
  Tensor operator()(const Tensor& input, Axes axes = {}, bool keepdims = false,
                    std::optional<DType> dtype = {}, Out out = {}) const;
};

// ---- statistics: floating; NaN over nothing ----
// Divides by N - correction; NaN or infinite when that is not positive.
Tensor var(const Tensor& input, Axes axes = {}, double correction = 0, bool keepdims = false,
           Out out = {});
Tensor std(const Tensor& input, Axes axes = {}, double correction = 0, bool keepdims = false,
           Out out = {});

// int64 positions of the first extremum along one axis, or in the flattened input.
Tensor argmax(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});
Tensor argmin(const Tensor& input, std::optional<int64_t> axis = {}, bool keepdims = false,
              Out out = {});

// (Σ |x|^ord)^(1/ord); ord 0 counts nonzeros, inf and -inf take extrema. Floating and complex; the
// result is real.
Tensor vector_norm(const Tensor& input, Axes axes = {}, bool keepdims = false, double ord = 2,
                   Out out = {});

// The wrapped axes of a reduction; every axis when none are named. A 0-dim tensor has none, though
// 0 and -1 may be named.
Dims reduction_axes(const Tensor& input, const Axes& axes);
// The result of a reduction with its reduced axes put back as size 1 (when keepdims was false).
// Differentiable.
Tensor restore_axes(const Tensor& reduced, DimsView axes, bool keepdims);

}  // namespace tsr::ops
