// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Batches of products of 16-bit floats for which a call each would cost more than their numbers: of
// one row with one column, and of one column with one row.
#include <algorithm>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/product_rows.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ElementwisePlan;
using kernel::GemmPlan;

constexpr int64_t kNumbers = 4096;  // of one operand that are widened at a time
constexpr int64_t kGrain = 65536;   // numbers of one operand that pay for a thread
constexpr int64_t kShort = 2;       // bytes of a 16-bit float

// ---- One row times one column ----

// Vectors of 16-bit floats; a step, in elements, leads from one to the next.
struct Vectors {
  const std::byte* data;
  int64_t step;
};

// Widens `count` vectors of `size` numbers and returns the step between the copies.
int64_t widen(CastRow cast, int64_t count, int64_t size, const Vectors& from, float* to) {
  if (from.step == size) {
    cast(count * size, to, from.data);
    return size;
  }
  if (from.step == 0) count = 1;
  for (int64_t i = 0; i < count; ++i) cast(size, to + i * size, from.data + i * from.step * kShort);
  return from.step == 0 ? 0 : size;
}

class Dots {
 public:
  explicit Dots(const GemmPlan& plan) : plan_(plan) {}

  // The products [begin, end) of the batch.
  void run(int64_t begin, int64_t end) const {
    Cursor cursor{plan_.batch_ndim, plan_.batch_sizes, {}};
    cursor.seek(begin);
    while (begin < end) {
      const int64_t count = std::min({end - begin, cursor.left_in_row(), kNumbers / plan_.k});
      multiply(cursor, count);
      cursor.advance_in_row(count);
      begin += count;
    }
  }

 private:
  [[nodiscard]] Vectors at(const Cursor& cursor, int operand, const void* data) const {
    const int64_t* strides = plan_.batch_strides[operand];
    return {static_cast<const std::byte*>(data) + cursor.offset(strides) * kShort,
            strides[plan_.batch_ndim - 1]};
  }

  void multiply(const Cursor& cursor, int64_t count) const {
    alignas(64) float left[kNumbers];
    alignas(64) float right[kNumbers];
    alignas(64) float sums[kNumbers / 2];
    const int64_t left_step = widen(widen_, count, plan_.k, at(cursor, 0, plan_.a), left);
    const int64_t right_step = widen(widen_, count, plan_.k, at(cursor, 1, plan_.b), right);
    SkinnyProduct<float> product{};
    product.few = product.columns = 1;
    product.inner = plan_.k;
    product.alpha = 1;
    for (int64_t i = 0; i < count; ++i) {
      product.matrix = left + i * left_step;
      product.rows = right + i * right_step;
      product.out = sums + i;
      dots_(product, 0, 1);
    }
    const Vectors out = at(cursor, 2, plan_.c);
    auto* const to = const_cast<std::byte*>(out.data);
    if (out.step == 1) return narrow_(count, to, sums);
    for (int64_t i = 0; i < count; ++i) narrow_(1, to + i * out.step * kShort, sums + i);
  }

  const GemmPlan& plan_;
  CastRow widen_ = rows_of<CopyRows>().cast(plan_.dtype, DType::kFloat32);
  CastRow narrow_ = rows_of<CopyRows>().cast(DType::kFloat32, plan_.dtype);
  void (*dots_)(const SkinnyProduct<float>& product, int64_t begin,
                int64_t end) = rows_of<SkinnyRows<float>>().dots;
};

bool multiplies_vectors(const GemmPlan& plan) {
  return plan.m == 1 && plan.n == 1 && plan.k > 1 && plan.k <= kNumbers && plan.a_strides[1] == 1 &&
         plan.b_strides[0] == 1;
}

// ---- One column times one row ----

// Every element is one product: a pointwise one of operands that are repeated.
kernel::Status outer_products(const GemmPlan& plan) {
  ElementwisePlan pairs;
  pairs.ndim = 0;
  pairs.operands = 3;
  pairs.host_operands = 0;
  pairs.numel = plan.batch * plan.m * plan.n;
  pairs.place = plan.place;
  const auto add = [&](int64_t size, int64_t out, int64_t left, int64_t right) {
    if (size == 1) return;
    pairs.sizes[pairs.ndim] = size;
    pairs.strides[0][pairs.ndim] = out * kShort;
    pairs.strides[1][pairs.ndim] = left * kShort;
    pairs.strides[2][pairs.ndim++] = right * kShort;
  };
  for (int32_t d = 0; d < plan.batch_ndim; ++d) {
    add(plan.batch_sizes[d], plan.batch_strides[2][d], plan.batch_strides[0][d],
        plan.batch_strides[1][d]);
  }
  const bool by_rows = plan.c_strides[1] == 1;
  if (!by_rows) add(plan.n, plan.c_strides[1], 0, plan.b_strides[1]);
  add(plan.m, plan.c_strides[0], plan.a_strides[0], 0);
  if (by_rows) add(plan.n, plan.c_strides[1], 0, plan.b_strides[1]);
  pairs.data[0] = plan.c;
  pairs.data[1] = const_cast<void*>(plan.a);
  pairs.data[2] = const_cast<void*>(plan.b);
  std::fill_n(pairs.dtypes, 3, plan.dtype);
  return binary(kernel::BinaryOp::kMultiply, pairs);
}

}  // namespace

bool short_batch_gemm(const GemmPlan& plan) {
  const bool is_short = plan.dtype == DType::kFloat16 || plan.dtype == DType::kBFloat16;
  if (!is_short || parameter<float>(plan.alpha) != 1 || parameter<float>(plan.beta) != 0)
    return false;
  if (plan.k == 1 && plan.batch * plan.m * plan.n > 1) return outer_products(plan) == kernel::kOk;
  if (plan.batch <= 1 || !multiplies_vectors(plan)) return false;
  const Dots dots(plan);
  parallel_for(plan.batch, std::max<int64_t>(1, kGrain / plan.k),
               [&](int64_t begin, int64_t end) { dots.run(begin, end); });
  return true;
}

}  // namespace tsr::cpu
