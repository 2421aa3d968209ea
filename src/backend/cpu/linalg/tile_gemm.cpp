// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 matrices in the tiles of the processor: sums in float32, rounded once. The
// right matrix is packed once, before the products or, where one task alone reads a part of it, by
// that task. A task takes some rows of the left one and some columns of the result. Each sum is
// made in the order of its terms, so that it does not depend on how the work is divided.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/tiles.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::GemmPlan;
using tiles::whole;

constexpr int64_t kWorthIt = int64_t{1} << 16;  // multiplications; fewer take less time in float32
constexpr int64_t kRows = 256;                  // of the left matrix that a task takes
constexpr int64_t kColumns = 256;               // of the result that are computed at a time
constexpr int64_t kTerms = 512;  // summed up at a time: two columns of tiles of that stay in cache
constexpr int64_t kPanel = 64;   // columns that are packed at a time

// A matrix whose strides count elements; one of them is 1.
struct Matrix {
  const BFloat16* data;
  int64_t row_step, column_step;

  [[nodiscard]] const BFloat16* at(int64_t row, int64_t column) const {
    return data + row * row_step + column * column_step;
  }
};

// left (m x k) times right (k x n). The rows of the result are contiguous.
struct TileProduct {
  int64_t m, n, k;
  Matrix left, right;
  BFloat16* out;
  int64_t out_step;
  float alpha, beta;
  BFloat16* packed;  // whole(k, kDepth) x whole(n, kSide) numbers: kTerms rows after kTerms rows
  CastRow widen = rows_of<CopyRows>().cast(DType::kBFloat16, DType::kFloat32);
  CastRow narrow = rows_of<CopyRows>().cast(DType::kFloat32, DType::kBFloat16);

  // The packed rows from `term` on, from a column on that begins a tile.
  [[nodiscard]] BFloat16* packed_at(int64_t term, int64_t column) const {
    return packed + term * whole(n, tiles::kSide) +
           column * whole(std::min(kTerms, k - term), tiles::kDepth);
  }
  void pack(int64_t column, int64_t columns) const {
    for (int64_t term = 0; term < k; term += kTerms) {
      const int64_t terms = std::min(kTerms, k - term);
      const BFloat16* const from = right.at(term, column);
      BFloat16* const to = packed_at(term, column);
      if (right.column_step == 1)
        tiles::pack(terms, columns, from, right.row_step, to);
      else
        tiles::pack_transposed(terms, columns, from, right.column_step, to);
    }
  }

  // Copies up to kTerms columns of some rows of the left matrix, filled up with zeros.
  void copy_left(int64_t row, int64_t rows, int64_t term, BFloat16* to) const {
    constexpr int64_t kSize = sizeof(BFloat16);
    const int64_t terms = std::min(kTerms, k - term);
    const int64_t step = whole(terms, tiles::kDepth);
    const int64_t numbers = whole(rows, tiles::kSide) * step;
    if (numbers != rows * terms)
      std::memset(static_cast<void*>(to), 0, static_cast<size_t>(numbers * kSize));
    const BFloat16* const from = left.at(row, term);
    if (left.column_step == 1) {
      for (int64_t r = 0; r < rows; ++r)
        std::copy_n(from + r * left.row_step, terms, to + r * step);
    } else {
      transpose(rows, terms, kSize, to, step * kSize, from, left.column_step * kSize);
    }
  }

  // Rounds alpha times the sums and beta times what the result holds.
  void write(int64_t row, int64_t rows, int64_t column, int64_t columns, float* sums) const {
    alignas(64) float before[kColumns];
    for (int64_t r = 0; r < rows; ++r, sums += kColumns) {
      BFloat16* const to = out + (row + r) * out_step + column;
      if (alpha != 1) {
        for (int64_t j = 0; j < columns; ++j) sums[j] *= alpha;
      }
      if (beta != 0) {
        widen(columns, before, to);
        for (int64_t j = 0; j < columns; ++j) sums[j] += beta * before[j];
      }
      narrow(columns, to, sums);
    }
  }

  // What one task needs, in bytes.
  static int64_t sums_bytes() { return kRows * kColumns * static_cast<int64_t>(sizeof(float)); }
  [[nodiscard]] int64_t space_bytes() const {
    return sums_bytes() + kRows * whole(k, tiles::kDepth) * static_cast<int64_t>(sizeof(BFloat16));
  }
  void multiply(int64_t row, int64_t begin, int64_t end, void* space) const {
    auto* const sums = static_cast<float*>(space);
    auto* const rows_of_left =
        reinterpret_cast<BFloat16*>(static_cast<std::byte*>(space) + sums_bytes());
    const int64_t rows = std::min(kRows, m - row);
    const int64_t lines = whole(rows, tiles::kSide);
    const bool kept = end - begin > kColumns;  // for other columns
    for (int64_t column = begin; column < end; column += kColumns) {
      const int64_t columns = std::min(kColumns, end - column);
      if (m <= kRows) pack(column, columns);
      for (int64_t term = 0; term < k; term += kTerms) {
        const int64_t terms = std::min(kTerms, k - term);
        const int64_t step = whole(terms, tiles::kDepth);
        BFloat16* const copy = rows_of_left + (kept ? term * lines : 0);
        // Whole tiles that are read once for each column of tiles need no copy.
        const bool in_place = !kept && left.column_step == 1 && lines == rows && step == terms;
        if (column == begin && !in_place) copy_left(row, rows, term, copy);
        const tiles::Left a{in_place ? left.at(row, term) : copy, nullptr,
                            in_place ? left.row_step : step};
        tiles::product(lines, whole(columns, tiles::kSide), step, a, packed_at(term, column),
                       term > 0, sums, kColumns);
      }
      write(row, rows, column, columns, sums);
    }
  }
};

}  // namespace

bool takes_tiles(const GemmPlan& plan) {
  return plan.dtype == DType::kBFloat16 && std::min({plan.m, plan.n, plan.k}) >= tiles::kSide &&
         plan.m * plan.n * plan.k >= kWorthIt && tiles::available();
}

bool tile_gemm(const GemmPlan& plan, const void* a, const void* b, void* c) {
  // A result of contiguous columns: the transpose of the transposes' product.
  const bool turned = plan.c_strides[1] != 1;
  const int row = turned ? 1 : 0;
  const int column = 1 - row;
  const Matrix one{static_cast<const BFloat16*>(a), plan.a_strides[row], plan.a_strides[column]};
  const Matrix two{static_cast<const BFloat16*>(b), plan.b_strides[row], plan.b_strides[column]};
  const int64_t n = turned ? plan.m : plan.n;
  const Workspace packed(whole(plan.k, tiles::kDepth) * whole(n, tiles::kSide) *
                         static_cast<int64_t>(sizeof(BFloat16)));
  if (packed.data() == nullptr) return false;
  const TileProduct product{turned ? plan.n : plan.m,
                            n,
                            plan.k,
                            turned ? two : one,
                            turned ? one : two,
                            static_cast<BFloat16*>(c),
                            plan.c_strides[row],
                            parameter<float>(plan.alpha),
                            parameter<float>(plan.beta),
                            static_cast<BFloat16*>(packed.data())};
  const int64_t panels = (n + kPanel - 1) / kPanel;
  const int64_t panel_grain = std::max<int64_t>(1, kWorthIt / (plan.k * kPanel));
  if (product.m > kRows) {
    parallel_for(panels, panel_grain, [&](int64_t begin, int64_t end) {
      const int64_t last = std::min(n, end * kPanel);
      for (int64_t j = begin * kPanel; j < last; j += kPanel)
        product.pack(j, std::min(kPanel, last - j));
    });
  }
  // With few rows the columns are divided, too.
  const int64_t row_tasks = (product.m + kRows - 1) / kRows;
  const int64_t parts =
      std::clamp<int64_t>(4 * num_threads() / row_tasks, 1, (n + kColumns - 1) / kColumns);
  const int64_t width = whole((n + parts - 1) / parts, kColumns);
  std::atomic<bool> done{true};
  parallel_for(row_tasks * parts, 1, [&](int64_t begin, int64_t end) {
    const Workspace space(product.space_bytes());
    if (space.data() == nullptr) {
      done.store(false, std::memory_order_relaxed);
      return;
    }
    const tiles::Session session;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % parts * width;
      if (first < n)
        product.multiply(task / parts * kRows, first, std::min(n, first + width), space.data());
    }
  });
  return done;
}

}  // namespace tsr::cpu
