// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/search.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index_launch.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

// A number as a tensor, of the dtype of the sorted rows where that has its kind.
Tensor beside(const Tensor& rows, const Scalar& number, const char* arg) {
  const bool weak = number.category() <= category(rows.dtype());
  if (weak) check_fits(number, rows.dtype(), arg);
  const auto dtype = weak ? std::optional(rows.dtype()) : std::nullopt;
  return full({}, number, dtype, rows.device());
}

// The sorted rows and the values fit each other.
void check_rows(const Tensor& input, const Tensor& values) {
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least 1 dimension, got a 0-dim tensor");
  if (input.ndim() == 1) return;
  const bool fits =
      input.ndim() == values.ndim() &&
      std::equal(input.sizes().begin(), input.sizes().end() - 1, values.sizes().begin());
  TSR_CHECK(fits, Code::kShape, "values", "expected the shape of the input but for the last axis, ",
            "got shapes ", values.sizes(), " and ", input.sizes());
}

// The positions that sort the rows, row-major; undefined where there are none. A copy, because the
// kernel relies on what is checked here, also if another thread writes the sorter in between.
Tensor ready_sorter(const Tensor& sorter, const Tensor& input) {
  if (!sorter.defined()) return {};
  TSR_CHECK(sorter.sizes() == input.sizes(), Code::kShape, "sorter", "expected the input's shape ",
            input.sizes(), ", got ", sorter.sizes());
  Tensor positions = contiguous_memory(index_array(sorter, input.device(), "sorter"));
  if (positions.numel() == 0) return positions;
  if (positions.storage() == sorter.storage()) positions = clone(positions.detached());
  const int64_t columns = input.sizes().back();
  const auto smallest = read<int64_t>(min(positions));
  const auto largest = read<int64_t>(max(positions));
  TSR_CHECK(smallest >= 0 && largest < columns, Code::kIndex, "sorter",
            "expected positions in [0, ", columns - 1, "], got one from ", smallest, " to ",
            largest);
  return positions;
}

void launch_search(const Tensor& result, const Tensor& sorted, const Tensor& sorter,
                   const Tensor& values, bool right) {
  if (result.numel() == 0) return;
  const int64_t columns = sorted.sizes().back();
  kernel::SearchPlan plan{};
  plan.rows =
      sorted.ndim() == 1 ? 1 : numel_of(DimsView(sorted.sizes().data(), sorted.sizes().size() - 1));
  plan.columns = columns;
  plan.count = values.numel();
  plan.right = right ? 1 : 0;
  plan.place = kernel::place_on(result.device());
  plan.dtype = sorted.dtype();
  plan.sorted = sorted.data();
  plan.sorter = static_cast<const int64_t*>(data_or_null(sorter));
  plan.values = values.data();
  plan.output = result.data_as<int64_t>();
  kernel::launch(kernel::kSearch, result.device(), plan);
}

}  // namespace

Tensor searchsorted(const Tensor& input, const Tensor& values, std::string_view side,
                    const Tensor& sorter, Out out) {
  TSR_CHECK(side == "left" || side == "right", Code::kValue, "side",
            "expected left or right, got \"", side, "\"");
  check_same_device(input, values, "values");
  const DType common = promote_types(input.dtype(), values.dtype(), "values");
  TSR_CHECK(!is_complex(common), Code::kDType, "input", "expected real dtypes, got ", common);
  check_rows(input, values);
  const Tensor positions = ready_sorter(sorter, input);
  const Tensor sorted = contiguous_memory(cast_memory(input, common));
  const Tensor wanted = contiguous_memory(cast_memory(values, common));
  Result result = allocate_apart(out, values.sizes(), DType::kInt64, values.device(), false,
                                 {&sorted, &wanted, &positions}, true);
  launch_search(result.value(), sorted, positions, wanted, side == "right");
  return result.finish();
}

Tensor searchsorted(const Tensor& input, const Scalar& values, std::string_view side,
                    const Tensor& sorter, Out out) {
  return searchsorted(input, beside(input, values, "values"), side, sorter, out);
}

Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool right, bool out_int32,
                 Out out) {
  TSR_CHECK(boundaries.ndim() == 1, Code::kShape, "boundaries", "expected 1 dimension, got shape ",
            boundaries.sizes());
  const std::string_view side = right ? "right" : "left";
  if (!out_int32) return searchsorted(boundaries, input, side, {}, out);
  TSR_CHECK(boundaries.numel() <= std::numeric_limits<int32_t>::max(), Code::kValue, "out_int32",
            "expected fewer boundaries for int32, got ", boundaries.numel());
  const Tensor found = searchsorted(boundaries, input, side, {});
  return deliver(cast_memory(found, DType::kInt32), out, false);
}

Tensor bucketize(const Scalar& input, const Tensor& boundaries, bool right, bool out_int32,
                 Out out) {
  return bucketize(beside(boundaries, input, "input"), boundaries, right, out_int32, out);
}

}  // namespace tsr::ops
