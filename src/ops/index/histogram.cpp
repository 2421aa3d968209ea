// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernel/histogram.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/index_launch.h"
#include "ops/index/search.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/differences.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

// The weights of the places of each of `count` numbers added up.
Tensor totals(const Tensor& numbers, int64_t count, const Tensor& weights) {
  return scatter_add(zeros(Dims{count}, weights.dtype(), numbers.device()), 0, numbers, weights);
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t check_bins(int64_t bins) {
  TSR_CHECK(bins > 0 && bins < kMost, Code::kValue, "bins",
            "expected a positive number of bins below ", kMost, ", got ", bins);
  return bins;
}

struct Limits {
  double low, high;
};

// The limits that were given, or the extreme elements; half a unit around a single number.
Limits limits_of(const Tensor& line, std::optional<double> low, std::optional<double> high) {
  TSR_CHECK(low.has_value() == high.has_value(), Code::kValue, low.has_value() ? "max" : "min",
            "expected both limits or none, got one");
  Limits limits{low.value_or(0), high.value_or(1)};
  if (!low.has_value() && line.numel() != 0)
    limits = {read<double>(min(line)), read<double>(max(line))};
  TSR_CHECK(std::isfinite(limits.low) && std::isfinite(limits.high), Code::kValue, "input",
            "expected finite limits, got ", limits.low, " and ", limits.high);
  TSR_CHECK(limits.low <= limits.high, Code::kValue, "max",
            "expected a limit that is not below min = ", limits.low, ", got ", limits.high);
  return limits.low < limits.high ? limits : Limits{limits.low - 0.5, limits.high + 0.5};
}

// The same in one pass where the backend has a kernel for it. Gradients: the weight of an element
// is part of the sum of its number.
Tensor weigh(const Tensor& numbers, int64_t count, const Tensor& weights) {
  const Tensor source = contiguous_memory(numbers);
  const Tensor added = contiguous_memory(weights);
  const Tensor result = empty(Dims{count}, weights.dtype(), weights.device());
  kernel::HistogramPlan plan{};
  plan.count = source.numel();
  plan.bins = count;
  plan.place = kernel::place_on(weights.device());
  plan.dtype = source.dtype();
  plan.input = source.data();
  plan.weights = added.data();
  plan.weights_dtype = weights.dtype();
  plan.output = result.data();
  if (plan.count == 0) return totals(numbers, count, weights);
  if (!kernel::try_launch(kernel::kHistogram, weights.device(), plan)) {
    kernel::forget_kernel_error();
    return totals(numbers, count, weights);
  }
  if (needs_grad(weights)) {
    record(result, "BincountBackward", {weights}, {save_input(numbers)},
           TakesBatches{
               [](Backward& ctx) { ctx.set(0, take(ctx.grad(), ctx.saved(0), ctx.lead())); }});
  }
  return result;
}

// How often each number occurs, or how many elements lie between each edge and the next.
Tensor counts(const Tensor& line, const Tensor& edges, int64_t bins, bool equal_widths) {
  const Tensor source = contiguous_memory(line);
  Tensor result = empty(Dims{bins}, DType::kInt64, line.device());
  kernel::HistogramPlan plan{};
  plan.count = source.numel();
  plan.bins = bins;
  plan.equal_widths = equal_widths ? 1 : 0;
  plan.place = kernel::place_on(line.device());
  plan.dtype = source.dtype();
  plan.input = source.data();
  plan.edges = data_or_null(edges);
  plan.output = result.data();
  if (bins != 0) kernel::launch(kernel::kHistogram, line.device(), plan);
  return result;
}

// What lies between each edge and the next; the last interval includes both of its edges.
Tensor between_edges(const Tensor& line, const Tensor& edges, const Tensor& weights,
                     bool equal_widths) {
  const int64_t bins = edges.numel() - 1;
  if (!weights.defined()) return counts(line, contiguous_memory(edges), bins, equal_widths);
  const Tensor last = narrow(edges, 0, bins, 1);
  const Tensor behind = searchsorted(edges, line, "right", {});
  const Tensor bin = where(equal(line, last), bins - 1, subtract(behind, 1));
  // One more place takes what is outside; a NaN is behind all edges.
  const Tensor outside = logical_or(equal(behind, 0), greater_equal(bin, bins));
  return narrow(totals(where(outside, bins, bin), bins + 1, weights), 0, 0, bins);
}

Tensor in_one_line(const Tensor& input) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  const Tensor plain = input.detached();
  const Tensor numbers =
      is_integral_or_bool(plain.dtype()) ? astype(plain, default_dtype()) : in_opmath(plain);
  return reshape(numbers, Dims{-1});
}

std::tuple<Tensor, Tensor> histogram_of(const Tensor& input, const Tensor& line,
                                        const Tensor& edges, bool equal_widths,
                                        const Tensor& weight, bool density, const Out& hist,
                                        const Out& bin_edges) {
  check_apart(hist, "hist", bin_edges, "bin_edges");
  const DType dtype = is_floating(input.dtype()) ? input.dtype() : line.dtype();
  Tensor weights;
  if (weight.defined()) {
    check_same_device(input, weight, "weight");
    TSR_CHECK(weight.sizes() == input.sizes(), Code::kShape, "weight",
              "expected the input's shape ", input.sizes(), ", got ", weight.sizes());
    TSR_CHECK(!is_complex(weight.dtype()), Code::kDType, "weight", "expected a real dtype, got ",
              weight.dtype());
    weights = astype(reshape(weight, Dims{-1}), line.dtype());
  }
  Tensor found = astype(between_edges(line, edges, weights, equal_widths), line.dtype());
  if (density) found = divide(found, multiply(diff(edges, 1, 0, {}, {}), sum(found)));
  return {deliver(astype(found, dtype), hist, needs_grad(weight)),
          deliver(cast_memory(edges, dtype), bin_edges, false)};
}

}  // namespace

Tensor bincount(const Tensor& input, const Tensor& weights, int64_t minlength, Out out) {
  TSR_CHECK(input.ndim() == 1, Code::kShape, "input", "expected 1 dimension, got shape ",
            input.sizes());
  TSR_CHECK(minlength >= 0, Code::kValue, "minlength",
            "expected a length that is not negative, got ", minlength);
  const Tensor numbers = index_array(input, input.device(), "input");
  int64_t count = minlength;
  if (numbers.numel() != 0) {
    const auto smallest = read<int64_t>(min(numbers));
    TSR_CHECK(smallest >= 0, Code::kValue, "input", "expected integers that are not negative, got ",
              smallest);
    const auto largest = read<int64_t>(max(numbers));
    TSR_CHECK(largest < kMost, Code::kValue, "input", "expected integers below ", kMost, ", got ",
              largest);
    count = std::max(count, largest + 1);
  }
  Tensor added;
  if (weights.defined()) {
    check_same_device(input, weights, "weights");
    TSR_CHECK(weights.sizes() == input.sizes(), Code::kShape, "weights",
              "expected the input's shape ", input.sizes(), ", got ", weights.sizes());
    TSR_CHECK(!is_complex(weights.dtype()), Code::kDType, "weights", "expected a real dtype, got ",
              weights.dtype());
    added = weights.dtype() == DType::kFloat32 ? weights : astype(weights, DType::kFloat64);
  }
  const Tensor found =
      added.defined() ? weigh(numbers, count, added) : counts(numbers, {}, count, false);
  return deliver(found, out, needs_grad(weights));
}

Tensor histc(const Tensor& input, int64_t bins, double low, double high, Out out) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input",
            "expected a real floating dtype, got ", input.dtype());
  check_bins(bins);
  const Tensor line = in_one_line(input);
  const bool given = low != high;
  const Limits limits = limits_of(line, given ? std::optional(low) : std::nullopt,
                                  given ? std::optional(high) : std::nullopt);
  const Tensor edges =
      linspace(limits.low, limits.high, bins + 1, line.dtype(), true, line.device());
  return deliver(cast_memory(between_edges(line, edges, {}, true), input.dtype()), out, false);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& input, const Scalar& bins,
                                     std::optional<double> low, std::optional<double> high,
                                     const Tensor& weight, bool density, Out hist, Out bin_edges) {
  const int64_t count = check_bins(bins.to<int64_t>());
  const Tensor line = in_one_line(input);
  const Limits limits = limits_of(line, low, high);
  const Tensor edges =
      linspace(limits.low, limits.high, count + 1, line.dtype(), true, line.device());
  return histogram_of(input, line, edges, true, weight, density, hist, bin_edges);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& input, const Tensor& bins,
                                     std::optional<double> low, std::optional<double> high,
                                     const Tensor& weight, bool density, Out hist, Out bin_edges) {
  TSR_CHECK(!low.has_value() && !high.has_value(), Code::kValue, low.has_value() ? "min" : "max",
            "expected no limits beside edges");
  TSR_CHECK(bins.ndim() == 1 && bins.numel() > 1, Code::kShape, "bins",
            "expected at least two edges in 1 dimension, got shape ", bins.sizes());
  TSR_CHECK(!is_complex(bins.dtype()), Code::kDType, "bins", "expected a real dtype, got ",
            bins.dtype());
  check_same_device(input, bins, "bins");
  const Tensor line = in_one_line(input);
  // A copy: the caller may want a result in the memory of `bins`.
  const Tensor edges = clone(cast_memory(bins.detached(), line.dtype()));
  const Tensor steps = diff(edges, 1, 0, {}, {});
  TSR_CHECK(read<bool>(all(greater_equal(steps, 0))), Code::kValue, "bins",
            "expected edges that do not fall");
  return histogram_of(input, line, edges, false, weight, density, hist, bin_edges);
}

}  // namespace tsr::ops
