// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of a few rows of 16-bit floats with a large matrix of them, as a language model makes
// for each word: the matrix is widened to float32 a stretch at a time, in the first-level cache. To
// write a float32 copy of all of it takes longer than the product.
#include <algorithm>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/product_rows.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::GemmPlan;

constexpr int64_t kFew = 16;
constexpr int64_t kLarge = 4096;    // elements of a matrix that is widened by stretches
constexpr int64_t kNumbers = 4096;  // of a stretch: a third of the first-level cache
constexpr int64_t kLines = 8;       // of a stretch that several rows read
constexpr int64_t kColumns = 512;   // of the result that one thread computes at a time
constexpr int64_t kGrain = 65536;   // elements of the matrix that pay for a thread
constexpr int64_t kShort = 2;       // bytes of a 16-bit float

// A matrix of 16-bit floats; steps count elements.
struct ShortMatrix {
  const void* data;
  int64_t row_step, column_step;

  [[nodiscard]] const std::byte* at(int64_t row, int64_t column) const {
    return static_cast<const std::byte*>(data) + (row * row_step + column * column_step) * kShort;
  }
};

// left (m x k) times right (k x n), or that and what the result holds.
struct Widened {
  int64_t m, n, k;
  ShortMatrix left, right;
  std::byte* out;
  int64_t out_row_step;  // its rows are contiguous
  bool adds;
  CastRow widen, narrow;
  ShortDotsRow dots;
  const SkinnyRows<float>& skinny = rows_of<SkinnyRows<float>>();

  // The left matrix in float32, row after row; `room` holds as many numbers.
  void widen_left(float* rows, float* room) const {
    if (left.column_step == 1) {
      for (int64_t r = 0; r < m; ++r) widen(k, rows + r * k, left.at(r, 0));
      return;
    }
    constexpr int64_t kSize = sizeof(float);
    for (int64_t i = 0; i < k; ++i) widen(m, room + i * m, left.at(0, i));
    transpose(m, k, kSize, rows, k * kSize, room, m * kSize);
  }

  // What both forms below have in common: sums (m x kColumns) += rows times a stretch.
  [[nodiscard]] SkinnyProduct<float> stretch_product(const float* stretch, int64_t line_step,
                                                     float* sums) const {
    SkinnyProduct<float> product{};
    product.matrix = stretch;
    product.line_step = line_step;
    product.row_step = k;
    product.inner_step = 1;
    product.out = sums;
    product.out_row_step = kColumns;
    product.few = m;
    product.alpha = 1;
    product.beta = 1;
    return product;
  }

  // Contiguous columns of the right matrix: dot products with some of them at a time. One row reads
  // them in place.
  void add_dots(const float* rows, int64_t column, int64_t columns, float* sums) const {
    if (m == 1) {
      const auto* const lines = static_cast<const uint16_t*>(right.data);
      dots(k, columns, lines + column * right.column_step, right.column_step, rows, sums);
      return;
    }
    constexpr int64_t kDepth = kNumbers / kLines;
    alignas(64) float stretch[kNumbers];
    for (int64_t j = 0; j < columns; j += kLines) {
      const int64_t lines = std::min(kLines, columns - j);
      SkinnyProduct<float> product = stretch_product(stretch, kDepth, sums + j);
      product.columns = lines;
      for (int64_t first = 0; first < k; first += kDepth) {
        product.rows = rows + first;
        product.inner = std::min(kDepth, k - first);
        for (int64_t l = 0; l < lines; ++l)
          widen(product.inner, stretch + l * kDepth, right.at(first, column + j + l));
        skinny.dots(product, 0, lines);
      }
    }
  }

  // Contiguous rows of the right matrix: each is added to the sums, times its factor.
  void add_rows(const float* rows, int64_t column, int64_t columns, float* sums) const {
    alignas(64) float stretch[kNumbers];
    SkinnyProduct<float> product = stretch_product(stretch, kColumns, sums);
    product.columns = columns;
    for (int64_t first = 0; first < k; first += kNumbers / kColumns) {
      product.rows = rows + first;
      product.inner = std::min(kNumbers / kColumns, k - first);
      for (int64_t i = 0; i < product.inner; ++i)
        widen(columns, stretch + i * kColumns, right.at(first + i, column));
      skinny.sums(product, 0, columns);
    }
  }

  void multiply(const float* rows, int64_t column, int64_t columns) const {
    alignas(64) float sums[kFew * kColumns];
    std::byte* const to = out + column * kShort;
    for (int64_t r = 0; r < m; ++r) {
      if (adds)
        widen(columns, sums + r * kColumns, to + r * out_row_step * kShort);
      else
        std::fill_n(sums + r * kColumns, columns, 0.0F);
    }
    if (right.row_step == 1)
      add_dots(rows, column, columns, sums);
    else
      add_rows(rows, column, columns, sums);
    for (int64_t r = 0; r < m; ++r)
      narrow(columns, to + r * out_row_step * kShort, sums + r * kColumns);
  }
};

}  // namespace

bool widened_gemm(const GemmPlan& plan, const void* a, const void* b, void* c) {
  // Few columns: the transpose of the transposes' product.
  const bool turned = plan.n < plan.m;
  const int row = turned ? 1 : 0;
  const int column = 1 - row;
  const ShortMatrix one{a, plan.a_strides[row], plan.a_strides[column]};
  const ShortMatrix two{b, plan.b_strides[row], plan.b_strides[column]};
  const float beta = parameter<float>(plan.beta);
  const Widened product{std::min(plan.m, plan.n),
                        std::max(plan.m, plan.n),
                        plan.k,
                        turned ? two : one,
                        turned ? one : two,
                        static_cast<std::byte*>(c),
                        plan.c_strides[row],
                        beta == 1,
                        rows_of<CopyRows>().cast(plan.dtype, DType::kFloat32),
                        rows_of<CopyRows>().cast(DType::kFloat32, plan.dtype),
                        rows_of<ShortProductRows>().dots(plan.dtype)};
  const bool fits = product.m <= kFew && product.n * plan.k >= kLarge &&
                    plan.c_strides[column] == 1 && parameter<float>(plan.alpha) == 1 &&
                    (beta == 0 || beta == 1);
  if (!fits) return false;
  const int64_t numbers = product.m * plan.k;
  const Workspace space(2 * numbers * static_cast<int64_t>(sizeof(float)));
  auto* const rows = static_cast<float*>(space.data());
  if (rows == nullptr) return false;
  product.widen_left(rows, rows + numbers);
  parallel_for((product.n + kColumns - 1) / kColumns,
               std::max<int64_t>(1, kGrain / (plan.k * kColumns)), [&](int64_t begin, int64_t end) {
                 for (int64_t j = begin * kColumns; j < std::min(end * kColumns, product.n);
                      j += kColumns)
                   product.multiply(rows, j, std::min(kColumns, product.n - j));
               });
  return true;
}

}  // namespace tsr::cpu
