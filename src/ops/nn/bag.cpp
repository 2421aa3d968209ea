// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/bag.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/histogram.h"
#include "ops/index/index.h"
#include "ops/index/index_launch.h"
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

using kernel::BagPass;
using kernel::BagPlan;

enum class BagMode { kSum, kMean, kMax };

BagMode mode_of(std::string_view mode) {
  if (mode == "sum") return BagMode::kSum;
  if (mode == "mean") return BagMode::kMean;
  TSR_CHECK(mode == "max", Code::kValue, "mode", "expected sum, mean or max, got ", mode);
  return BagMode::kMax;
}

// The sum Σ factors[i] table[index[i]] sums[bag of i] is linear in each of three tensors. The
// derivative with respect to one of them is a pass over the other two, and so are the derivatives
// of that pass: three passes serve every order. Without factors they are ones.
enum Role : size_t { kTable, kFactors, kSums, kRoles };
constexpr BagPass kPasses[kRoles] = {BagPass::kTable, BagPass::kFactors, BagPass::kSums};
constexpr const char* kNodes[kRoles] = {"EmbeddingBagTableBackward", "EmbeddingBagFactorsBackward",
                                        "EmbeddingBagBackward"};
using Three = std::array<Tensor, kRoles>;

struct Sizes {
  int64_t bags, rows, features;
  int64_t skipped;  // a row that belongs to no bag, or -1
  bool mean;
};

// Which rows the bags name.
struct Places {
  Tensor index;    // int64, one list of all bags
  Tensor starts;   // int64, the first index of each bag; undefined: all bags are equally long
  Tensor shrinks;  // (rows, 1): factors of the table's gradient; mostly undefined
};

// The bag of each index. A place before the first start gets the number -1, at which index_add
// raises.
Tensor bag_numbers(const Places& at, const Sizes& sizes) {
  const int64_t count = at.index.numel();
  const Tensor places = arange(0, count, 1, DType::kInt64, at.index.device());
  if (at.starts.defined()) return subtract(searchsorted(at.starts, places, "right", {}), 1);
  return floor_divide(places, std::max<int64_t>(count / std::max<int64_t>(sizes.bags, 1), 1));
}

bool has_kernel(const Places& at) {
  return kernel::backend_for(at.index.device()).kernels->bag != nullptr;
}

void launch_bag(BagPass pass, const Three& memory, const Places& at, const Sizes& sizes,
                int64_t* chosen) {
  BagPlan plan{};
  plan.pass = pass;
  plan.mean = sizes.mean ? 1 : 0;
  plan.bags = sizes.bags;
  plan.indices = at.index.numel();
  plan.rows = sizes.rows;
  plan.features = sizes.features;
  plan.skipped = sizes.skipped;
  plan.place = kernel::place_on(at.index.device());
  plan.dtype = memory[kTable].dtype();
  plan.table = memory[kTable].data();
  plan.index = at.index.data_as<int64_t>();
  plan.starts = at.starts.defined() ? at.starts.data_as<int64_t>() : nullptr;
  plan.factors = data_or_null(memory[kFactors]);
  plan.sums = data_or_null(memory[kSums]);
  plan.chosen = chosen;
  kernel::launch(kernel::kBag, at.index.device(), plan);
}

// A pass in ops, for devices without the kernel. `given` has no history.
Tensor composed_pass(size_t written, const Three& given, const Places& at, const Sizes& sizes) {
  const Device device = at.index.device();
  const DType dtype = kernel::opmath(given[written == kTable ? kSums : kTable].dtype());
  const Tensor numbers = bag_numbers(at, sizes);
  const Tensor left_out = equal(at.index, sizes.skipped);
  const auto summed = [&](const Dims& shape, const Tensor& where, const Tensor& slices) {
    return index_add(zeros_like_shape(shape, dtype, device), 0, where, slices);
  };
  Tensor divisor;
  if (sizes.mean) {
    const Tensor counts = summed(Dims{sizes.bags}, numbers, astype(logical_not(left_out), dtype));
    divisor = expand_dims(clip(counts, Scalar(1), std::nullopt), -1);
  }
  const auto masked = [&](const Tensor& rows) {
    const Tensor scaled =
        given[kFactors].defined() ? multiply(rows, expand_dims(given[kFactors], -1)) : rows;
    return masked_fill(scaled, expand_dims(left_out, -1), 0);
  };
  if (written == kSums) {
    const Tensor rows = masked(in_opmath(embedding(at.index, given[kTable])));
    const Tensor total = summed(Dims{sizes.bags, sizes.features}, numbers, rows);
    return sizes.mean ? divide(total, divisor) : total;
  }
  const Tensor shares = sizes.mean ? divide(given[kSums], divisor) : given[kSums];
  const Tensor own = index_select(shares, 0, numbers);
  if (written == kTable) return summed(Dims{sizes.rows, sizes.features}, at.index, masked(own));
  const Tensor rows = in_opmath(embedding(at.index, given[kTable]));
  return masked_fill(ops::sum(multiply(rows, own), Dims{1}), left_out, 0);
}

Tensor run_pass(size_t written, const Three& tensors, const Places& at, const Sizes& sizes);

// The gradient of the table from those of the sums of several samples (Note [Batched backward]):
// the features of all samples are features of one pass.
Tensor table_of_samples(const Tensor& grads, const Tensor& factors, const Places& at,
                        const Sizes& sizes) {
  Sizes wide = sizes;
  wide.features *= grads.size(0);
  Three given;
  given[kFactors] = factors;
  given[kSums] = reshape(permute_dims(grads, Dims{1, 0, 2}), Dims{sizes.bags, wide.features});
  const Tensor found = run_pass(kTable, given, at, wide);
  const Dims shape{sizes.rows, grads.size(0), sizes.features};
  return permute_dims(reshape(found, shape), Dims{1, 0, 2});
}

// The same for the factors: the bags of all samples are bags of one pass.
Tensor factors_of_samples(const Tensor& grads, const Tensor& table, const Places& at,
                          const Sizes& sizes) {
  const int64_t samples = grads.size(0);
  const int64_t count = at.index.numel();
  Sizes wide = sizes;
  wide.bags *= samples;
  Places places;
  places.index = contiguous_memory(reshape(broadcast_to(at.index, Dims{samples, count}), Dims{-1}));
  if (at.starts.defined()) {
    const Tensor first = multiply(arange(0, samples, 1, DType::kInt64, at.index.device()), count);
    places.starts = reshape(add(expand_dims(first, -1), at.starts), Dims{-1});
  }
  Three given;
  given[kTable] = table;
  given[kSums] = reshape(grads, Dims{wide.bags, sizes.features});
  return reshape(run_pass(kFactors, given, places, wide), Dims{samples, count});
}

// `tensors` has all but the one that is written, of which the factors may be undefined. The result
// has the table's opmath dtype.
Tensor run_pass(size_t written, const Three& tensors, const Places& at, const Sizes& sizes) {
  const size_t first = written == kTable ? kFactors : kTable;
  const size_t second = written == kSums ? kFactors : kSums;
  Three memory;
  for (const size_t role : {first, second}) {
    if (tensors[role].defined()) memory[role] = contiguous_memory(tensors[role].detached());
  }
  Tensor result;
  if (has_kernel(at)) {
    const Dims shapes[kRoles] = {Dims{sizes.rows, sizes.features}, at.index.sizes(),
                                 Dims{sizes.bags, sizes.features}};
    const DType dtype = kernel::opmath(memory[written == kTable ? kSums : kTable].dtype());
    memory[written] = result = empty(shapes[written], dtype, at.index.device());
    launch_bag(kPasses[written], memory, at, sizes, nullptr);
  } else {
    result = composed_pass(written, memory, at, sizes);
  }
  if (!needs_grad(tensors[first], tensors[second])) return result;
  const auto derivative = [written, first, second, sizes](Backward& ctx) {
    const size_t roles[] = {first, second};
    const Places places{ctx.saved(2), ctx.saved(3), ctx.saved(4)};
    for (size_t k = 0; k < 2; ++k) {
      if (!ctx.needs(k)) continue;
      Three given;
      given[roles[1 - k]] = ctx.saved(1 - k);
      given[written] = ctx.grad();
      Tensor g;
      if (ctx.lead() == 0) {
        g = run_pass(roles[k], given, places, sizes);
      } else if (roles[k] == kTable) {
        g = table_of_samples(ctx.grad(), given[kFactors], places, sizes);
      } else {
        g = factors_of_samples(ctx.grad(), given[kTable], places, sizes);
      }
      const bool shrinks = roles[k] == kTable && places.shrinks.defined();
      ctx.set(k, shrinks ? multiply(g, places.shrinks) : g);
    }
  };
  const auto tangent = [&](Forward& ctx) {
    const size_t roles[] = {first, second};
    for (size_t k = 0; k < 2; ++k) {
      if (!ctx.has(k)) continue;
      Three moved = tensors;
      moved[roles[k]] = ctx.tangent(k);
      ctx.add(0, run_pass(written, moved, at, sizes));
    }
  };
  const std::array saves{save_input(tensors[first]), save_input(tensors[second]),
                         save_input(at.index), save_input(at.starts), save_input(at.shrinks)};
  // The passes of higher derivatives run once for each sample.
  if (written == kSums) {
    record(result, kNodes[written], {tensors[first], tensors[second]}, saves,
           TakesBatches{derivative}, tangent);
  } else {
    record(result, kNodes[written], {tensors[first], tensors[second]}, saves, derivative, tangent);
  }
  return result;
}

// The row from which the largest element of each bag and feature is, the first of equal ones; -1
// for an empty bag.
Tensor composed_choice(const Tensor& table, const Places& at, const Sizes& sizes) {
  const Device device = table.device();
  const Dims shape{sizes.bags, sizes.features};
  const int64_t count = at.index.numel();
  if (count == 0) return full(shape, -1, DType::kInt64, device);
  const Tensor numbers = bag_numbers(at, sizes);
  const Tensor kept = expand_dims(not_equal(at.index, sizes.skipped), -1);
  const double lowest = -std::numeric_limits<double>::infinity();
  const Tensor rows = in_opmath(embedding(at.index, table));
  const Tensor shown = masked_fill(rows, logical_not(kept), lowest);
  const Tensor most =
      index_reduce(full(shape, lowest, rows.dtype(), device), 0, numbers, shown, "amax");
  const Tensor own = index_select(most, 0, numbers);
  const Tensor same = logical_and(kept, logical_or(equal(shown, own), isnan(shown)));
  const Tensor places = expand_dims(arange(0, count, 1, DType::kInt64, device), -1);
  const Tensor first = index_reduce(full(shape, count, DType::kInt64, device), 0, numbers,
                                    where(same, places, count), "amin");
  return where(less(first, count), take(at.index, minimum(first, count - 1)), -1);
}

Tensor largest(const Tensor& weight, const Places& at, const Sizes& sizes) {
  const Tensor table = contiguous_memory(weight.detached());
  Tensor chosen;
  if (has_kernel(at)) {
    const Dims shape{sizes.bags, sizes.features};
    Three memory;
    memory[kTable] = table;
    memory[kSums] = empty(shape, kernel::opmath(table.dtype()), table.device());
    chosen = empty(shape, DType::kInt64, table.device());
    launch_bag(BagPass::kMaxima, memory, at, sizes, chosen.data_as<int64_t>());
    if (!needs_grad(weight)) return memory[kSums];
  } else {
    chosen = composed_choice(table, at, sizes);
  }
  if (sizes.rows == 0) return zeros_like_shape(chosen.sizes(), weight.dtype(), weight.device());
  return masked_fill(gather(weight, 0, maximum(chosen, 0)), less(chosen, 0), 0);
}

// The last offset is the number of indices if `closed`.
Places places_of(const Tensor& input, const Tensor& offsets, bool closed, Device device) {
  const Tensor index = index_array(input, device, "input");
  if (input.ndim() == 2) {
    TSR_CHECK(!offsets.defined(), Code::kInvalidArgument, "offsets",
              "expected none for a 2-D input, got shape ", offsets.sizes());
    const Tensor flat = contiguous_memory(index);
    return {make_view(flat, Dims{flat.numel()}, Dims{1}, flat.offset()), {}, {}};
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
  const Tensor whole = index_array(contiguous_memory(offsets.detached()), device, "offsets");
  return {contiguous_memory(index), make_view(whole, Dims{count}, Dims{1}, whole.offset()), {}};
}

void check_arguments(const Tensor& input, const Tensor& weight, const Tensor& factors, BagMode how,
                     std::string_view mode, bool scale_grad_by_freq) {
  TSR_CHECK(weight.ndim() == 2, Code::kShape, "weight", "expected 2 dimensions, got shape ",
            weight.sizes());
  TSR_CHECK(is_floating(weight.dtype()), Code::kDType, "weight", "expected a floating dtype, got ",
            weight.dtype());
  TSR_CHECK(!scale_grad_by_freq || how != BagMode::kMax, Code::kInvalidArgument,
            "scale_grad_by_freq", "expected false with mode max, got true");
  if (!factors.defined()) return;
  TSR_CHECK(how == BagMode::kSum, Code::kInvalidArgument, "per_sample_weights",
            "expected none with mode ", mode, ", got shape ", factors.sizes());
  check_same_device(weight, factors, "per_sample_weights");
  TSR_CHECK(factors.dtype() == weight.dtype(), Code::kDType, "per_sample_weights",
            "expected the weight's ", weight.dtype(), ", got ", factors.dtype());
  TSR_CHECK(factors.sizes() == input.sizes(), Code::kShape, "per_sample_weights",
            "expected the input's shape ", input.sizes(), ", got ", factors.sizes());
}

// The row as a number that is not negative; -1 for none.
int64_t skipped_row(std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx.has_value()) return -1;
  const int64_t row = *padding_idx;
  TSR_CHECK(row >= -rows && row < rows, Code::kIndex, "padding_idx", "expected a row in [", -rows,
            ", ", rows - 1, "], got ", row);
  return row < 0 ? row + rows : row;
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                     bool scale_grad_by_freq, std::string_view mode,
                     const Tensor& per_sample_weights, bool include_last_offset,
                     std::optional<int64_t> padding_idx) {
  const BagMode how = mode_of(mode);
  check_arguments(input, weight, per_sample_weights, how, mode, scale_grad_by_freq);
  Places at = places_of(input, offsets, include_last_offset, weight.device());
  Sizes sizes{};
  sizes.bags = at.starts.defined() ? at.starts.numel() : input.size(0);
  sizes.rows = weight.size(0);
  sizes.features = weight.size(1);
  sizes.skipped = skipped_row(padding_idx, sizes.rows);
  sizes.mean = how == BagMode::kMean;
  if (how == BagMode::kMax) return astype(largest(weight, at, sizes), weight.dtype());
  if (scale_grad_by_freq && needs_grad(weight)) {
    const Tensor counts = clip(bincount(at.index, {}, sizes.rows), Scalar(1), std::nullopt);
    at.shrinks = expand_dims(reciprocal(astype(counts, kernel::opmath(weight.dtype()))), -1);
  }
  Three tensors;
  tensors[kTable] = weight;
  if (per_sample_weights.defined())
    tensors[kFactors] = in_opmath(reshape(per_sample_weights, Dims{-1}));
  return astype(run_pass(kSums, tensors, at, sizes), weight.dtype());
}

}  // namespace tsr::ops
