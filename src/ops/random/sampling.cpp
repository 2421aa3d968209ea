// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/random/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "autograd/forward.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/sort.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/random/random_fill.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::RandomOp;
using kernel::RandomPlan;

Tensor fill(const Tensor& input, const RandomPlan& plan, Generator* generator) {
  check_floating(input);
  return refill(input, plan, input.dtype(), generator);
}

// The standard normal distribution function, with the relative precision of its lower tail.
double normal_below(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}

// Whole numbers up to it are all numbers of the dtype.
int64_t top_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kFloat16:
      return int64_t{1} << 11;
    case DType::kBFloat16:
      return int64_t{1} << 8;
    case DType::kFloat32:
      return int64_t{1} << 24;
    case DType::kFloat64:
      return int64_t{1} << 53;
    default:
      return highest_of(dtype);
  }
}

bool holds_for_all(const Tensor& truths) {
  return read<bool>(all(truths));
}

void refuse_complex(const Tensor& input) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
}

}  // namespace

Tensor exponential_(const Tensor& input, double rate, Generator* generator) {
  TSR_CHECK(rate > 0, Code::kValue, "rate", "expected a rate above 0, got ", rate);
  return fill(input, distribution(RandomOp::kExponential, rate), generator);
}

Tensor cauchy_(const Tensor& input, double median, double sigma, Generator* generator) {
  TSR_CHECK(sigma > 0, Code::kValue, "sigma", "expected a width above 0, got ", sigma);
  return fill(input, distribution(RandomOp::kCauchy, median, sigma), generator);
}

Tensor log_normal_(const Tensor& input, double centre, double std, Generator* generator) {
  TSR_CHECK(std > 0, Code::kValue, "std", "expected a standard deviation above 0, got ", std);
  return fill(input, distribution(RandomOp::kLogNormal, centre, std), generator);
}

Tensor trunc_normal_(const Tensor& input, double centre, double std, double low, double high,
                     Generator* generator) {
  check_floating(input);
  TSR_CHECK(std > 0, Code::kValue, "std", "expected a standard deviation above 0, got ", std);
  TSR_CHECK(low < high, Code::kValue, "high", "expected a number above ", low, ", got ", high);
  double from = (low - centre) / std;
  double upto = (high - centre) / std;
  // The distribution function is exact near 0 only: an interval above the mean is mirrored.
  const bool mirrored = from > 0;
  if (mirrored) std::tie(from, upto) = std::pair(-upto, -from);
  RandomPlan plan = distribution(RandomOp::kTruncatedNormal, centre, mirrored ? -std : std);
  plan.p2 = normal_below(from);
  plan.p3 = normal_below(upto);
  TSR_CHECK(plan.p3 > plan.p2, Code::kValue, "high",
            "expected bounds between which numbers of the distribution lie, got ", low, " and ",
            high, " for mean ", centre, " and standard deviation ", std);
  refill(input, plan, input.dtype(), generator);
  // Rounding may have gone beyond a bound.
  const Tensor values = input.detached();
  copy_memory(values, clip(values, low, high));
  return input;
}

Tensor geometric_(const Tensor& input, double p, Generator* generator) {
  TSR_CHECK(p > 0 && p <= 1, Code::kValue, "p", "expected a probability in (0, 1], got ", p);
  refuse_complex(input);
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  const DType drawn = is_floating(input.dtype()) ? input.dtype() : DType::kFloat64;
  return refill(input, distribution(RandomOp::kGeometric, std::log1p(-p)), drawn, generator);
}

Tensor random_(const Tensor& input, int64_t low, std::optional<int64_t> high,
               Generator* generator) {
  refuse_complex(input);
  const DType dtype = input.dtype();
  TSR_CHECK(!high.has_value() || low < *high, Code::kValue, "high", "expected more than ", low,
            ", got ", high.value_or(0));
  const int64_t top = high.has_value() ? *high - 1 : top_of(dtype);
  if (dtype == DType::kBool) {
    TSR_CHECK(low >= 0 && top <= 1, Code::kValue, "low",
              "expected numbers in [0, 2) for bool, got ", low, " to ", top);
  }
  check_fits(low, dtype, "low");
  check_fits(top, dtype, "high");
  TSR_CHECK(low <= top, Code::kValue, "low", "expected at most ", top, " for ", dtype, ", got ",
            low);
  RandomPlan plan = distribution(RandomOp::kInteger, 0);
  plan.low = low;
  plan.span = static_cast<uint64_t>(top) - static_cast<uint64_t>(low) + 1;
  TSR_CHECK(plan.span != 0, Code::kValue, "low", "expected fewer than 2^64 numbers, got ", low,
            " to ", top);
  return refill(input, plan, dtype == DType::kBool ? DType::kUInt8 : dtype, generator);
}

Tensor bernoulli_(const Tensor& input, double p, Generator* generator) {
  TSR_CHECK(p >= 0 && p <= 1, Code::kValue, "p", "expected a probability in [0, 1], got ", p);
  refuse_complex(input);
  const DType drawn = is_floating(input.dtype()) ? input.dtype() : DType::kFloat32;
  return refill(input, distribution(RandomOp::kBernoulli, p, 1), drawn, generator);
}

Tensor normal_tensors(const Arg& centre, const Arg& std, Generator* generator) {
  const Unrecorded guard;
  const Tensor& first = centre.is_tensor() ? centre.tensor() : std.tensor();
  const Tensor none;
  const Tensor& second = centre.is_tensor() && std.is_tensor() ? std.tensor() : none;
  check_same_device(first, second, "std");
  DType dtype = first.dtype();
  Dims shape = first.sizes();
  if (second.defined()) {
    dtype = promote_types(dtype, second.dtype(), "std");
    shape = broadcast_shapes(shape, second.sizes(), "std");
  }
  TSR_CHECK(is_floating(dtype), Code::kDType, "mean", "expected floating dtypes, got ", dtype);
  if (std.is_tensor()) {
    TSR_CHECK(holds_for_all(greater_equal(std.tensor(), 0)), Code::kValue, "std",
              "expected standard deviations that are not negative, got one that is");
  } else {
    TSR_CHECK(std.scalar().to<double>() >= 0, Code::kValue, "std",
              "expected a standard deviation that is not negative, got ", std.scalar());
  }
  // In float32 for 16-bit floats, which so are rounded once.
  const Tensor numbers = randn(shape, kernel::opmath(dtype), first.device(), generator);
  return cast_memory(add(multiply(numbers, std), centre), dtype);
}

Tensor poisson(const Tensor& input, Generator* generator) {
  check_floating(input);
  const Unrecorded guard;
  const Tensor rates = contiguous_memory(input.detached());
  const double infinity = std::numeric_limits<double>::infinity();
  TSR_CHECK(holds_for_all(logical_and(greater_equal(rates, 0), less(rates, infinity))),
            Code::kValue, "input",
            "expected finite rates that are not negative, got one that is not");
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  RandomPlan plan = distribution(RandomOp::kPoisson, 0);
  plan.probabilities = rates.data();
  launch_random(result, plan, generator);
  return result;
}

Tensor standard_gamma(const Tensor& input, Generator* generator) {
  check_floating(input);
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  {
    const Unrecorded guard;
    const Tensor shapes = contiguous_memory(input.detached());
    const double infinity = std::numeric_limits<double>::infinity();
    TSR_CHECK(holds_for_all(logical_and(greater_equal(shapes, 0), less(shapes, infinity))),
              Code::kValue, "input",
              "expected finite shapes that are not negative, got one that is not");
    RandomPlan plan = distribution(RandomOp::kGamma, 0);
    plan.probabilities = shapes.data();
    launch_random(result, plan, generator);
  }
  if (needs_grad(input)) {
    record(result, "StandardGammaBackward", {input}, {save_input(input), save_output(result)},
           [](Backward& ctx) {
             const Tensor slope = standard_gamma_grad(ctx.saved(0), ctx.saved(1));
             ctx.set(0, multiply(ctx.grad(), slope));
           });
  }
  return result;
}

Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator) {
  check_floating(count);
  check_same_device(count, prob, "prob");
  const DType dtype = promote_types(count.dtype(), prob.dtype(), "prob");
  TSR_CHECK(is_floating(dtype) && is_floating(prob.dtype()), Code::kDType, "prob",
            "expected a floating dtype, got ", prob.dtype());
  const Dims shape = broadcast_shapes(count.sizes(), prob.sizes(), "prob");
  const Unrecorded guard;
  const auto operand = [&](const Tensor& given) {
    return contiguous_memory(broadcast_to(cast_memory(given.detached(), dtype), shape));
  };
  const Tensor counts = operand(count);
  const Tensor chances = operand(prob);
  const Tensor whole = logical_and(equal(floor(counts), counts), greater_equal(counts, 0));
  const double infinity = std::numeric_limits<double>::infinity();
  TSR_CHECK(holds_for_all(logical_and(whole, less(counts, infinity))), Code::kValue, "count",
            "expected whole numbers of at least 0, got one that is not");
  TSR_CHECK(holds_for_all(logical_and(greater_equal(chances, 0), less_equal(chances, 1))),
            Code::kValue, "prob", "expected probabilities in [0, 1], got one outside");
  Tensor result = empty(shape, dtype, count.device());
  RandomPlan plan = distribution(RandomOp::kBinomial, 0);
  plan.probabilities = chances.data();
  plan.counts = counts.data();
  launch_random(result, plan, generator);
  return result;
}

// ---- multinomial ----

namespace {

// How many of the sums, which rise along each row, are not above the number: by halving, for all
// numbers at once.
Tensor count_not_above(const Tensor& sums, const Tensor& numbers) {
  const int64_t width = sums.size(1);
  Tensor found = zeros_like_shape(numbers.sizes(), DType::kInt64, numbers.device());
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(width))); step > 0;
       step /= 2) {
    const Tensor next = add(found, step);
    const Tensor at = gather(sums, 1, clip(subtract(next, 1), 0, width - 1));
    const Tensor goes = logical_and(less_equal(next, width), less_equal(at, numbers));
    found = where(goes, next, found);
  }
  return found;
}

// The weights, times a power of two in the rows whose sum could overflow or have few digits.
Tensor moderate(const Tensor& weights) {
  const Tensor largest = max(weights, Dims{1}, true);
  const Tensor unit = ones_like(largest);
  const Tensor factor = where(greater(largest, 0x1p900), multiply(unit, 0x1p-960),
                              where(less(largest, 0x1p-900), multiply(unit, 0x1p960), unit));
  return multiply(weights, factor);
}

// The first position whose sum of weights is above a uniform number of the whole sum.
Tensor draw_again(const Tensor& weights, int64_t n, Generator* generator) {
  const Tensor sums = cumulative_sum(weights, 1);
  const Tensor total = narrow(sums, 1, weights.size(1) - 1, 1);
  const Tensor numbers =
      rand(Dims{weights.size(0), n}, DType::kFloat64, weights.device(), generator);
  return count_not_above(sums, multiply(numbers, total));
}

// The order in which events of these rates happen first is that of draws without replacement
// (Efraimidis and Spirakis, Information Processing Letters 97, 2006). `wide`: quotients may
// overflow, so their logarithms are compared.
Tensor draw_once(const Tensor& weights, int64_t n, bool wide, Generator* generator) {
  const Tensor times = empty(weights.sizes(), DType::kFloat64, weights.device());
  launch_random(times, distribution(RandomOp::kExponential, 1), generator);
  const Tensor order = wide ? subtract(log(times), log(weights)) : divide(times, weights);
  return std::get<1>(topk(order, n, 1, false));
}

void check_weights(const Tensor& weights, int64_t least) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor lowest = min(weights, Dims{1});
  const Tensor largest = max(weights, Dims{1});
  TSR_CHECK(holds_for_all(logical_and(greater_equal(lowest, 0), less(largest, infinity))),
            Code::kValue, "input",
            "expected finite weights that are not negative, got one that is not");
  const bool enough = holds_for_all(
      least == 1 ? greater(largest, 0) : greater_equal(count_nonzero(weights, Dims{1}), least));
  TSR_CHECK(enough, Code::kValue, "input", "expected at least ", least,
            " weights above 0 in each row, got fewer");
}

}  // namespace

Tensor multinomial(const Tensor& input, int64_t n, bool replacement, Generator* generator) {
  check_floating(input);
  TSR_CHECK(input.ndim() == 1 || input.ndim() == 2, Code::kShape, "input",
            "expected 1 or 2 dimensions, got shape ", input.sizes());
  TSR_CHECK(n > 0, Code::kValue, "n", "expected at least 1 draw, got ", n);
  const Unrecorded guard;
  const int64_t rows = input.ndim() == 1 ? 1 : input.size(0);
  const int64_t columns = input.size(input.ndim() - 1);
  TSR_CHECK(columns > 0, Code::kShape, "input", "expected at least one position, got shape ",
            input.sizes());
  const Tensor given = reshape(input.detached(), Dims{rows, columns});
  // One draw is the same either way.
  const bool again = replacement || n == 1;
  check_weights(given, again ? 1 : n);
  const Tensor weights = cast_memory(given, DType::kFloat64);
  // The sums and quotients of narrower numbers stay within float64.
  const bool wide = input.dtype() == DType::kFloat64;
  const Tensor drawn = again ? draw_again(wide ? moderate(weights) : weights, n, generator)
                             : draw_once(weights, n, wide, generator);
  return input.ndim() == 1 ? reshape(drawn, Dims{n}) : drawn;
}

}  // namespace tsr::ops
