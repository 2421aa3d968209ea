// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/create/indices.h"

#include <algorithm>

#include "base/error.h"
#include "base/scalar_range.h"
#include "ops/create/copy.h"
#include "ops/index/scatter.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

// The columns [first, last) of each row that lie in a triangle.
struct Triangle {
  int64_t rows, columns, offset;
  bool upper;

  [[nodiscard]] int64_t first(int64_t row) const {
    return upper ? std::clamp<int64_t>(row + offset, 0, columns) : 0;
  }
  [[nodiscard]] int64_t last(int64_t row) const {
    return upper ? columns : std::clamp<int64_t>(row + offset + 1, 0, columns);
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
  checked_numel(Dims{2, rows, columns}, static_cast<int64_t>(sizeof(int64_t)));
  // Beyond the corners nothing changes any more.
  triangle.offset = std::clamp(triangle.offset, -rows - 1, columns);
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row)
    count += std::max<int64_t>(triangle.last(row) - triangle.first(row), 0);
  const Tensor indices = tsr::empty(Dims{2, count}, DType::kInt64);
  auto* row_at = indices.data_as<int64_t>();
  auto* column_at = row_at + count;
  for (int64_t row = 0; row < rows; ++row) {
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
    const Tensor largest = to(max(input), Device{}, DType::kInt64);
    const int64_t top = *largest.data_as<int64_t>();
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
