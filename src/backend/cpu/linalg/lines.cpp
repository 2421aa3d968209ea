// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products of some rows with a transposed matrix (x @ w.T) whose lines share sets of the cache,
// because their distance is a multiple of a power of two. BLAS's packing reads such lines element
// by element and evicts what it reads next, which takes as long as the product.
#include <algorithm>

#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/product_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::GemmPlan;

constexpr int64_t kDistance = 1024;  // bytes; lines with a multiple of it between them
constexpr int64_t kFewestRows = 6;   // fewer are dot products, which read the lines in place
constexpr int64_t kMostRows = 132;   // more pay for BLAS's packing
// So many rows are two low tiles, and dot products of them are faster.
constexpr int64_t kLowBegin = 13;
constexpr int64_t kLowEnd = 17;
constexpr int64_t kPanelBytes = 16384;        // of packed lines: half of the first-level cache
constexpr int64_t kGrain = int64_t{1} << 21;  // multiplications that pay for a thread

// One product; `left` has the packed rows of the left matrix, part by part of the inner dimension.
template <class T>
struct Lines {
  static constexpr int64_t kNumbers = kPanelBytes / static_cast<int64_t>(sizeof(T));

  const GemmPlan& plan;
  const PackedRows<T>& rows;
  const T* a;
  const T* b;
  T* c;
  T* left;
  bool adds;

  // Lines of the inner dimension that are packed together.
  [[nodiscard]] int64_t deepest() const { return kNumbers / rows.panel; }

  void pack_left() const {
    for (int64_t first = 0; first < plan.k; first += deepest()) {
      rows.pack_left(plan.m, std::min(deepest(), plan.k - first), a + first, plan.a_strides[0],
                     left + plan.m * first);
    }
  }

  // The columns of the result that belong to a panel.
  void multiply(int64_t panel) const {
    alignas(64) T packed[kNumbers];
    const int64_t step = plan.b_strides[1];
    const int64_t column = panel * rows.panel;
    const int64_t columns = std::min(rows.panel, plan.n - column);
    for (int64_t first = 0; first < plan.k; first += deepest()) {
      const int64_t depth = std::min(deepest(), plan.k - first);
      const MatrixToPack<T> lines{b + column * step + first, depth, columns, 1, step};
      rows.pack(lines, 0, 1, packed);
      const PackedProduct<T> product{
          left + plan.m * first, 0,      packed, 0,       c + column,
          plan.c_strides[0],     plan.m, depth,  columns, adds || first > 0};
      rows.multiply(product, 0, 1);
    }
  }
};

template <class T>
bool run(const GemmPlan& plan, const void* a, const void* b, void* c) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const T beta = parameter<T>(plan.beta);
  const PackedRows<T>& rows = rows_of<PackedRows<T>>();
  const bool lines = plan.b_strides[0] == 1 && plan.b_strides[1] * kSize % kDistance == 0;
  const bool large = plan.n >= 2 * rows.panel && plan.k * kSize >= kDistance;
  const bool fits = lines && large && plan.a_strides[1] == 1 && plan.c_strides[1] == 1 &&
                    plan.m >= kFewestRows && plan.m <= kMostRows &&
                    (plan.m < kLowBegin || plan.m >= kLowEnd) && parameter<T>(plan.alpha) == T{1} &&
                    (beta == T{0} || beta == T{1});
  if (!fits) return false;
  const Workspace space(plan.m * plan.k * kSize);
  if (space.data() == nullptr) return false;
  const Lines<T> product{plan,
                         rows,
                         static_cast<const T*>(a),
                         static_cast<const T*>(b),
                         static_cast<T*>(c),
                         static_cast<T*>(space.data()),
                         beta == T{1}};
  product.pack_left();
  const int64_t cost = plan.m * plan.k * rows.panel;
  parallel_for((plan.n + rows.panel - 1) / rows.panel, std::max<int64_t>(1, kGrain / cost),
               [&](int64_t begin, int64_t end) {
                 for (int64_t panel = begin; panel < end; ++panel) product.multiply(panel);
               });
  return true;
}

}  // namespace

bool lines_gemm(const GemmPlan& plan, const void* a, const void* b, void* c) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan, a, b, c);
  return plan.dtype == DType::kFloat64 && run<double>(plan, a, b, c);
}

}  // namespace tsr::cpu
