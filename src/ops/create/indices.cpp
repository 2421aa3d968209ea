// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/create/indices.h"

#include <algorithm>

#include "base/error.h"
#include "base/scalar_range.h"
#include "ops/create/copy.h"
#include "ops/index/scatter.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

// The elements of a matrix with column - row <= offset (lower) or >= offset (upper).
struct Triangle {
  int64_t rows, columns, offset;
  bool upper;

  // The columns [first, last) of a row.
  [[nodiscard]] int64_t first(int64_t row) const {
    return upper ? std::clamp<int64_t>(row + offset, 0, columns) : 0;
  }
  [[nodiscard]] int64_t last(int64_t row) const {
    return upper ? columns : std::clamp<int64_t>(row + offset + 1, 0, columns);
  }
  // The rows [begin, end) that have some.
  [[nodiscard]] int64_t begin() const { return upper ? 0 : std::clamp<int64_t>(-offset, 0, rows); }
  [[nodiscard]] int64_t end() const {
    return upper ? std::clamp<int64_t>(columns - offset, 0, rows) : rows;
  }
  [[nodiscard]] __int128 count() const {
    if (columns == 0) return 0;
    if (upper) {
      return static_cast<__int128>(rows) * columns -
             Triangle{rows, columns, offset - 1, false}.count();
    }
    // Each row has one more than the row before, until it is full.
    const int64_t full = std::clamp<int64_t>(columns - offset - 1, begin(), rows);
    const __int128 ramp = full - begin();
    return ramp * (begin() + offset + 1 + full + offset) / 2 +
           static_cast<__int128>(rows - full) * columns;
  }
};

Tensor indices_of(Triangle triangle, std::optional<DType> dtype, std::optional<Device> device) {
  const int64_t rows = triangle.rows;
  const int64_t columns = triangle.columns;
  TSR_CHECK(rows >= 0, Code::kValue, "n_rows", "expected a count that is not negative, got ", rows);
  TSR_CHECK(columns >= 0, Code::kValue, "n_cols", "expected a count that is not negative, got ",
            columns);
  const DType type = dtype.value_or(DType::kInt64);
  TSR_CHECK(is_integral(type), Code::kDType, "dtype", "expected an integer dtype, got ", type);
  if (rows > 0 && columns > 0) check_fits(std::max(rows, columns) - 1, type, "n_rows");
  // Beyond the corners nothing changes any more, and sums do not overflow.
  constexpr int64_t kLimit = int64_t{1} << 61;
  TSR_CHECK(rows < kLimit && columns < kLimit, Code::kShape, "n_rows",
            "expected fewer than 2^61 rows and columns, got ", rows, " and ", columns);
  triangle.offset = std::clamp(triangle.offset, -rows - 1, columns + 1);
  TSR_CHECK(triangle.count() < kLimit, Code::kShape, "n_rows",
            "expected fewer than 2^61 elements, got ", rows, " rows and ", columns, " columns");
  const auto count = static_cast<int64_t>(triangle.count());
  checked_numel(Dims{2, count}, static_cast<int64_t>(sizeof(int64_t)));
  const Tensor indices = tsr::empty(Dims{2, count}, DType::kInt64);
  auto* row_at = indices.data_as<int64_t>();
  auto* column_at = row_at + count;
  for (int64_t row = triangle.begin(); row < triangle.end() && columns > 0; ++row) {
    for (int64_t column = triangle.first(row); column < triangle.last(row); ++column) {
      *row_at++ = row;
      *column_at++ = column;
    }
  }
  return to(indices, device.value_or(t_default_device), type);
}

}  // namespace

Tensor tril_indices(int64_t rows, std::optional<int64_t> columns, int64_t offset,
                    std::optional<DType> dtype, std::optional<Device> device) {
  return indices_of({rows, columns.value_or(rows), offset, false}, dtype, device);
}

Tensor triu_indices(int64_t rows, std::optional<int64_t> columns, int64_t offset,
                    std::optional<DType> dtype, std::optional<Device> device) {
  return indices_of({rows, columns.value_or(rows), offset, true}, dtype, device);
}

Tensor one_hot(const Tensor& input, int64_t num_classes) {
  TSR_CHECK(is_integral(input.dtype()), Code::kDType, "input", "expected integers, got ",
            input.dtype());
  TSR_CHECK(num_classes >= -1, Code::kValue, "num_classes",
            "expected a count, or -1 for as many as there are, got ", num_classes);
  TSR_CHECK(num_classes != -1 || input.numel() > 0, Code::kValue, "num_classes",
            "expected a count for an empty input, got -1");
  int64_t classes = num_classes;
  if (classes == -1) {
    const auto top = read<int64_t>(max(input));
    TSR_CHECK(top < int64_t{1} << 61, Code::kValue, "input", "expected numbers below 2^61, got ",
              top);
    classes = std::max<int64_t>(top, 0) + 1;
  }
  Dims shape = input.sizes();
  shape.push_back(classes);
  checked_numel(shape, static_cast<int64_t>(sizeof(int64_t)));
  const Tensor result = zeros_like_shape(shape, DType::kInt64, input.device());
  return scatter(result, -1, expand_dims(input, -1), 1, "replace", Out::inplace(result));
}

}  // namespace tsr::ops
