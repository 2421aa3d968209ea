// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

class Triangles {
 public:
  explicit Triangles(const kernel::TrianglePlan& plan)
      : plan_(plan),
        size_(itemsize(plan.dtype)),
        // The first column above the diagonal (lower) or on it (upper) is that of the row plus
        // this.
        shift_(plan.diagonal + (plan.upper != 0 ? 0 : 1)),
        input_(static_cast<const std::byte*>(plan.input)),
        output_(static_cast<std::byte*>(plan.output)) {}

  // Rows [begin, end) of one matrix: all of the first ones lie on one side of the diagonal, and all
  // of the last ones on the other.
  void write(int64_t matrix, int64_t begin, int64_t end) const {
    const bool upper = plan_.upper != 0;
    const int64_t cut_from = std::clamp(1 - shift_, begin, end);
    const int64_t cut_until = std::clamp(plan_.columns - shift_, begin, end);
    const int64_t first = matrix * plan_.rows * plan_.columns;
    const auto at = [&](int64_t row) { return first + row * plan_.columns; };
    put(at(begin), at(cut_from), upper);
    for (int64_t row = cut_from; row < cut_until; ++row) {
      const int64_t border = at(row) + row + shift_;
      put(at(row), border, !upper);
      put(border, at(row + 1), upper);
    }
    put(at(cut_until), at(end), !upper);
  }

 private:
  // The elements [first, last), copied or 0.
  void put(int64_t first, int64_t last, bool copied) const {
    const auto nbytes = static_cast<size_t>((last - first) * size_);
    if (!copied)
      std::memset(output_ + first * size_, 0, nbytes);
    else if (input_ != output_)
      std::memcpy(output_ + first * size_, input_ + first * size_, nbytes);
  }

  const kernel::TrianglePlan& plan_;
  int64_t size_, shift_;
  const std::byte* input_;
  std::byte* output_;
};

}  // namespace

kernel::Status triangle(const kernel::TrianglePlan& plan) {
  if (plan.rows == 0 || plan.columns == 0) return kernel::kOk;
  const Triangles triangles(plan);
  const int64_t grain = std::max<int64_t>(1, kGrain / plan.columns);
  parallel_for(plan.batch * plan.rows, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin % plan.rows;
      const int64_t count = std::min(end - begin, plan.rows - row);
      triangles.write(begin / plan.rows, row, row + count);
      begin += count;
    }
  });
  return kernel::kOk;
}

}  // namespace tsr::cpu
