// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/slice_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>

#include "ops/create/copy.h"
#include "ops/create/create.h"

namespace tsr::ops {
namespace {

// Of two rows: negative, 0 if they are equal, or positive. NaN of both rows is told apart by 0 and
// `unordered`.
template <class T>
struct Comparison {
  int sign = 0;
  bool unordered = false;

  Comparison(const T* a, const T* b, int64_t columns) {
    int64_t i = 0;
    while (i < columns && a[i] == b[i]) ++i;
    if (i == columns) return;
    if constexpr (std::is_floating_point_v<T>) {
      const bool first_is_nan = a[i] != a[i], second_is_nan = b[i] != b[i];
      unordered = first_is_nan && second_is_nan;
      if (unordered) return;
      if (first_is_nan || second_is_nan) {
        sign = first_is_nan ? 1 : -1;
        return;
      }
    }
    sign = a[i] < b[i] ? -1 : 1;
  }
};

template <class T>
RowOrder order_of(const Tensor& matrix) {
  const int64_t rows = matrix.size(0);
  const int64_t columns = matrix.size(1);
  const T* from = matrix.data_as<T>();
  const auto compared = [=](int64_t a, int64_t b) {
    return Comparison<T>(from + a * columns, from + b * columns, columns);
  };
  const Tensor order = empty(Dims{rows}, DType::kInt64, matrix.device());
  const std::span places(order.data_as<int64_t>(), static_cast<size_t>(rows));
  std::iota(places.begin(), places.end(), int64_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](int64_t a, int64_t b) { return compared(a, b).sign < 0; });
  const Tensor differs = empty(Dims{std::max<int64_t>(rows - 1, 0)}, DType::kBool, matrix.device());
  bool* mark = differs.data_as<bool>();
  for (size_t i = 1; i < places.size(); ++i) {
    const Comparison<T> with_last = compared(places[i - 1], places[i]);
    mark[i - 1] = with_last.sign != 0 || with_last.unordered;
  }
  return {order, differs};
}

}  // namespace

// Every dtype is exact in one of three, so that there are three sorts.
RowOrder order_of_rows(const Tensor& matrix) {
  const auto as = [&](DType dtype) { return contiguous(astype(matrix, dtype)); };
  if (is_floating(matrix.dtype())) return order_of<double>(as(DType::kFloat64));
  if (matrix.dtype() == DType::kUInt64) return order_of<uint64_t>(contiguous(matrix));
  return order_of<int64_t>(as(DType::kInt64));
}

}  // namespace tsr::ops
