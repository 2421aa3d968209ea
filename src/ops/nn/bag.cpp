// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/bag.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/histogram.h"
#include "ops/index/index.h"
#include "ops/index/mask.h"
#include "ops/index/scatter.h"
#include "ops/index/search.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"

namespace tsr::ops {
namespace {

enum class BagMode { kSum, kMean, kMax };

BagMode mode_of(std::string_view mode) {
  if (mode == "sum") return BagMode::kSum;
  if (mode == "mean") return BagMode::kMean;
  TSR_CHECK(mode == "max", Code::kValue, "mode", "expected sum, mean or max, got ", mode);
  return BagMode::kMax;
}

// Which bag each index belongs to: the rows of a matrix of indices, or a number for each index of a
// list.
struct Bags {
  int64_t count;
  Tensor numbers;  // undefined for a matrix

  // (bags, ...) from one slice for each index.
  [[nodiscard]] Tensor sum(const Tensor& slices) const {
    if (!numbers.defined()) return ops::sum(slices, Dims{1});
    Dims shape = slices.sizes();
    shape[0] = count;
    return index_add(zeros_like_shape(shape, slices.dtype(), slices.device()), 0, numbers, slices);
  }
};

// The last offset is the number of indices if `closed`.
Bags bags_of(const Tensor& input, const Tensor& offsets, bool closed) {
  if (input.ndim() == 2) {
    TSR_CHECK(!offsets.defined(), Code::kInvalidArgument, "offsets",
              "expected none for a 2-D input, got shape ", offsets.sizes());
    return {input.size(0), {}};
  }
  TSR_CHECK(input.ndim() == 1, Code::kShape, "input", "expected 1 or 2 dimensions, got shape ",
            input.sizes());
  TSR_CHECK(offsets.defined(), Code::kInvalidArgument, "offsets",
            "expected them for a 1-D input, got none");
  check_same_device(input, offsets, "offsets");
  TSR_CHECK(is_integral(offsets.dtype()), Code::kDType, "offsets", "expected integers, got ",
            offsets.dtype());
  TSR_CHECK(offsets.ndim() == 1 && (!closed || offsets.numel() > 0), Code::kShape, "offsets",
            "expected 1 dimension", closed ? " of at least one number" : "", ", got shape ",
            offsets.sizes());
  const int64_t count = offsets.numel() - (closed ? 1 : 0);
  TSR_CHECK(count > 0 || input.numel() == 0, Code::kShape, "offsets",
            "expected at least one bag for ", input.numel(), " indices, got shape ",
            offsets.sizes());
  const Tensor places = arange(0, input.numel(), 1, DType::kInt64, input.device());
  const Tensor whole = cast_memory(contiguous_memory(offsets.detached()), DType::kInt64);
  const Tensor starts = make_view(whole, Dims{count}, Dims{1}, whole.offset());
  // A place before the first offset gets the number -1, at which index_add raises.
  return {count, subtract(searchsorted(starts, places, "right", {}), 1)};
}

// The rows; the gradient of each is divided by how often the row occurs.
Tensor rows_by_frequency(const Tensor& input, const Tensor& weight,
                         std::optional<int64_t> padding_idx) {
  const bool grad = needs_grad(weight);
  const Tensor table = weight.detached();
  Tensor rows = embedding(input, table, padding_idx);
  if (!grad) return rows;
  const Tensor flat = cast_memory(reshape(input, Dims{-1}), DType::kInt64);
  const Tensor factors = reciprocal(astype(index_select(bincount(flat, {}, table.size(0)), 0, flat),
                                           kernel::opmath(table.dtype())));
  record(rows, "EmbeddingBagBackward", {weight}, {save_input(flat), save_input(factors)},
         [sizes = weight.sizes()](Backward& ctx) {
           const Tensor g = reshape(ctx.grad(), Dims{-1, sizes[1]});
           const Tensor whole = zeros_like_shape(sizes, g.dtype(), g.device());
           const Tensor scaled =
               astype(multiply(in_opmath(g), expand_dims(ctx.saved(1), -1)), g.dtype());
           ctx.set(0, index_add(whole, 0, ctx.saved(0), scaled));
         });
  return rows;
}

// How many indices of each bag count, at least 1: (bags, 1).
Tensor bag_sizes(const Bags& bags, const Tensor& kept, DType dtype) {
  return expand_dims(clip(bags.sum(astype(kept, dtype)), Scalar(1), std::nullopt), -1);
}

// The element of each column that is the first of the largest ones of a bag; 0 for an empty one.
Tensor largest(const Bags& bags, const Tensor& rows, const Tensor& kept) {
  if (kept.numel() == 0) return bags.sum(rows);
  const double lowest = -std::numeric_limits<double>::infinity();
  const Tensor shown = masked_fill(rows, expand_dims(logical_not(kept), -1), lowest);
  const Tensor empty = expand_dims(equal(bags.sum(astype(kept, DType::kInt64)), 0), -1);
  Tensor chosen;
  if (!bags.numbers.defined()) {
    const Tensor at = argmax(shown.detached(), 1, true);
    chosen = reshape(take_along_axis(shown, at, 1), Dims{rows.size(0), rows.size(2)});
  } else {
    const Tensor values = shown.detached();
    const Dims shape{bags.count, rows.size(1)};
    const Tensor most = index_reduce(full(shape, lowest, rows.dtype(), rows.device()), 0,
                                     bags.numbers, values, "amax");
    const Tensor own = index_select(most, 0, bags.numbers);
    const Tensor same = logical_or(equal(values, own), isnan(values));
    const int64_t last = rows.size(0) - 1;
    const Tensor places = expand_dims(arange(0, rows.size(0), 1, DType::kInt64, rows.device()), -1);
    const Tensor first = index_reduce(full(shape, last, DType::kInt64, rows.device()), 0,
                                      bags.numbers, where(same, places, last), "amin");
    chosen = gather(shown, 0, first);
  }
  return masked_fill(chosen, empty, 0);
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                     bool scale_grad_by_freq, std::string_view mode,
                     const Tensor& per_sample_weights, bool include_last_offset,
                     std::optional<int64_t> padding_idx) {
  const BagMode how = mode_of(mode);
  TSR_CHECK(is_floating(weight.dtype()), Code::kDType, "weight", "expected a floating dtype, got ",
            weight.dtype());
  TSR_CHECK(!per_sample_weights.defined() || how == BagMode::kSum, Code::kInvalidArgument,
            "per_sample_weights", "expected none with mode ", mode, ", got shape ",
            per_sample_weights.sizes());
  TSR_CHECK(!scale_grad_by_freq || how != BagMode::kMax, Code::kInvalidArgument,
            "scale_grad_by_freq", "expected false with mode max, got true");
  const Bags bags = bags_of(input, offsets, include_last_offset);
  const Tensor found = scale_grad_by_freq ? rows_by_frequency(input, weight, padding_idx)
                                          : embedding(input, weight, padding_idx);
  Tensor rows = in_opmath(found);
  if (per_sample_weights.defined()) {
    check_same_device(weight, per_sample_weights, "per_sample_weights");
    TSR_CHECK(per_sample_weights.dtype() == weight.dtype(), Code::kDType, "per_sample_weights",
              "expected the weight's ", weight.dtype(), ", got ", per_sample_weights.dtype());
    TSR_CHECK(per_sample_weights.sizes() == input.sizes(), Code::kShape, "per_sample_weights",
              "expected the input's shape ", input.sizes(), ", got ", per_sample_weights.sizes());
    rows = multiply(rows, expand_dims(in_opmath(per_sample_weights), -1));
  }
  Tensor kept;
  if (padding_idx.has_value()) {
    kept = not_equal(input, *padding_idx < 0 ? *padding_idx + weight.size(0) : *padding_idx);
    if (how != BagMode::kMax) rows = masked_fill(rows, expand_dims(logical_not(kept), -1), 0);
  } else if (how == BagMode::kMax || (how == BagMode::kMean && bags.numbers.defined())) {
    kept = ones(input.sizes(), DType::kBool, input.device());
  }
  Tensor result = how == BagMode::kMax ? largest(bags, rows, kept) : bags.sum(rows);
  if (how == BagMode::kMean && kept.defined()) {
    result = divide(result, bag_sizes(bags, kept, rows.dtype()));
  } else if (how == BagMode::kMean) {  // all bags have as many indices
    result = divide(result, std::max<int64_t>(input.size(1), 1));
  }
  return astype(result, weight.dtype());
}

}  // namespace tsr::ops
