// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of small matrices, as batches have them: the right matrix is packed in the first-level
// cache. A call of BLAS or oneDNN would take as long as the product.
#include <algorithm>
#include <utility>

#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/product_rows.h"
#include "backend/cpu/pointwise/strided.h"

namespace tsr::cpu {
namespace {

using kernel::GemmPlan;

constexpr int64_t kMostBytes = 16384;  // of each operand: both stay in the first-level cache
constexpr int64_t kFewestRows = 8;     // packing pays for these
constexpr int64_t kMostRows = 256;

template <class T>
bool run(GemmPlan plan, const void* a, const void* b, void* c) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kMost = kMostBytes / kSize;
  const T beta = parameter<T>(plan.beta);
  if (parameter<T>(plan.alpha) != T{1} || (beta != T{0} && beta != T{1})) return false;
  if (plan.c_strides[1] != 1) {
    // Columns of the result are contiguous: it is the transpose of the transposes' product.
    std::swap(a, b);
    std::swap(plan.m, plan.n);
    std::swap(plan.c_strides[0], plan.c_strides[1]);
    std::swap(plan.a_strides[0], plan.b_strides[1]);
    std::swap(plan.a_strides[1], plan.b_strides[0]);
  }
  const PackedRows<T>& rows = rows_of<PackedRows<T>>();
  const int64_t panels = (plan.n + rows.panel - 1) / rows.panel;
  const bool fits = plan.m >= kFewestRows && plan.m <= kMostRows && 2 * plan.n >= rows.panel &&
                    plan.k >= 1 && plan.k * panels * rows.panel <= kMost &&
                    plan.m * plan.k <= kMost && plan.c_strides[1] == 1;
  if (!fits) return false;
  alignas(64) T packed[kMost];
  alignas(64) T lines[kMost];
  const T* left = static_cast<const T*>(a);
  int64_t left_step = plan.a_strides[0];
  if (plan.a_strides[1] != 1) {
    if (plan.a_strides[0] != 1) return false;
    transpose(plan.m, plan.k, kSize, lines, plan.k * kSize, left, plan.a_strides[1] * kSize);
    left = lines;
    left_step = plan.k;
  }
  // A matrix of one panel's columns, row after row, is packed as it is.
  const bool is_panel =
      plan.n == rows.panel && plan.b_strides[0] == rows.panel && plan.b_strides[1] == 1;
  const T* right = packed;
  if (is_panel)
    right = static_cast<const T*>(b);
  else
    rows.pack({static_cast<const T*>(b), plan.k, plan.n, plan.b_strides[0], plan.b_strides[1]}, 0,
              panels, packed);
  rows.multiply({left, left_step, right, plan.k * rows.panel, static_cast<T*>(c), plan.c_strides[0],
                 plan.m, plan.k, plan.n, beta == T{1}},
                0, panels);
  return true;
}

}  // namespace

bool small_gemm(const GemmPlan& plan, const void* a, const void* b, void* c) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan, a, b, c);
  return plan.dtype == DType::kFloat64 && run<double>(plan, a, b, c);
}

}  // namespace tsr::cpu
