// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/random/random.h"

#include <limits>
#include <numbers>

#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/random/random_fill.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {
using kernel::RandomOp;
using kernel::RandomPlan;

// Fills a row-major tensor and advances the generator by the numbers that it used.
void launch_random(const Tensor& result, RandomPlan plan, Generator* generator) {
  if (result.numel() == 0) return;
  Generator& source = generator != nullptr ? *generator : current_generator();
  const GeneratorState state =
      source.take(static_cast<uint64_t>(result.numel() * kernel::kBlocksPerElement));
  plan.numel = result.numel();
  plan.seed = state.seed;
  plan.offset = state.offset;
  plan.place = kernel::place_on(result.device());
  plan.dtype = result.dtype();
  plan.output = result.data();
  kernel::launch(kernel::kRandom, result.device(), plan);
}

RandomPlan distribution(RandomOp op, double p0, double p1) {
  RandomPlan plan{};
  plan.op = op;
  plan.p0 = p0;
  plan.p1 = p1;
  return plan;
}

namespace {

// The dtypes of uniform and normal numbers: a complex number is two of them.
void check_parts(DType dtype, const char* arg) {
  TSR_CHECK(is_differentiable(dtype), Code::kDType, arg,
            "expected a floating or complex dtype, got ", dtype);
}

// The standard deviation of each part of a number.
double std_of_part(DType dtype, double std) {
  return is_complex(dtype) ? std * std::numbers::sqrt2 / 2 : std;
}

// As launch_random, with a number for each part of a complex number.
void launch_parts(const Tensor& result, const RandomPlan& plan, Generator* generator) {
  launch_random(is_complex(result.dtype()) ? parts_memory(result) : result, plan, generator);
}

}  // namespace

void check_floating(const Tensor& input) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
}

Tensor refill(const Tensor& input, const RandomPlan& plan, DType drawn, Generator* generator) {
  TSR_CHECK(!may_overlap_itself(input.sizes(), input.strides()), Code::kValue, "input",
            "expected a tensor whose elements have a place each, got strides ", input.strides(),
            " for shape ", input.sizes(), "; clone() it first");
  const bool grad = needs_grad(input);
  begin_inplace(input, grad);
  // Numbers follow the row-major order whatever the layout.
  const bool whole = input.is_contiguous() && input.dtype() == drawn;
  const Tensor values = whole ? input : empty(input.sizes(), drawn, input.device());
  launch_parts(values, plan, generator);
  if (!whole) copy_memory(input, values);
  if (grad) {
    record(
        input, "RandomFillBackward", {input}, {},
        [](Backward& ctx) { ctx.set(0, zeros_of(ctx.grad())); }, [](Forward&) {});
  }
  return input;
}

namespace {

Tensor fresh(RandomPlan plan, DimsView shape, std::optional<DType> dtype,
             std::optional<Device> device, Generator* generator) {
  const DType type = dtype.value_or(default_dtype());
  check_parts(type, "dtype");
  if (plan.op == RandomOp::kNormal) plan.p1 = std_of_part(type, plan.p1);
  Tensor result = empty(shape, type, device.value_or(t_default_device));
  launch_parts(result, plan, generator);
  return result;
}

}  // namespace

Tensor rand(DimsView shape, std::optional<DType> dtype, std::optional<Device> device,
            Generator* generator) {
  return fresh(distribution(RandomOp::kUniform, 0, 1), shape, dtype, device, generator);
}

Tensor randn(DimsView shape, std::optional<DType> dtype, std::optional<Device> device,
             Generator* generator) {
  return fresh(distribution(RandomOp::kNormal, 0, 1), shape, dtype, device, generator);
}

Tensor randint(int64_t low, int64_t high, DimsView shape, std::optional<DType> dtype,
               std::optional<Device> device, Generator* generator) {
  TSR_CHECK(low < high, Code::kValue, "high", "expected more than ", low, ", got ", high);
  const DType type = dtype.value_or(DType::kInt64);
  TSR_CHECK(type != DType::kBool && !is_complex(type), Code::kDType, "dtype",
            "expected an integer or floating dtype, got ", type);
  check_fits(low, type, "low");
  check_fits(high - 1, type, "high");
  Tensor result = empty(shape, type, device.value_or(t_default_device));
  RandomPlan plan = distribution(RandomOp::kInteger, 0, 0);
  plan.low = low;
  plan.span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  launch_random(result, plan, generator);
  return result;
}

Tensor rand_like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device,
                 Generator* generator) {
  return rand(input.sizes(), dtype.value_or(input.dtype()), device.value_or(input.device()),
              generator);
}

Tensor randn_like(const Tensor& input, std::optional<DType> dtype, std::optional<Device> device,
                  Generator* generator) {
  return randn(input.sizes(), dtype.value_or(input.dtype()), device.value_or(input.device()),
               generator);
}

Tensor randint_like(const Tensor& input, int64_t low, int64_t high, std::optional<DType> dtype,
                    std::optional<Device> device, Generator* generator) {
  return randint(low, high, input.sizes(), dtype.value_or(input.dtype()),
                 device.value_or(input.device()), generator);
}

// Drawn on the CPU, where its steps, which depend on each other, are fast, so that a permutation is
// the same on every device.
Tensor randperm(int64_t n, std::optional<DType> dtype, std::optional<Device> device,
                Generator* generator) {
  TSR_CHECK(n >= 0, Code::kValue, "n", "expected a count that is not negative, got ", n);
  const DType type = dtype.value_or(DType::kInt64);
  TSR_CHECK(type != DType::kBool && !is_complex(type), Code::kDType, "dtype",
            "expected an integer or floating dtype, got ", type);
  if (n > 0) check_fits(n - 1, type, "n");
  const Tensor order = empty(Dims{n}, DType::kInt64, Device{});
  launch_random(order, distribution(RandomOp::kPermutation, 0, 0), generator);
  return to(cast_memory(order, type), device.value_or(t_default_device), std::nullopt);
}

Tensor bernoulli(const Tensor& input, Generator* generator) {
  check_floating(input);
  const Tensor probabilities = contiguous_memory(input.detached());
  const Tensor valid =
      all(logical_and(greater_equal(probabilities, 0), less_equal(probabilities, 1)));
  TSR_CHECK(read<bool>(valid), Code::kValue, "input",
            "expected probabilities in [0, 1], got one outside");
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  RandomPlan plan = distribution(RandomOp::kBernoulli, 0, 1);
  plan.probabilities = probabilities.data();
  launch_random(result, plan, generator);
  return result;
}

Tensor uniform_(const Tensor& input, double low, double high, Generator* generator) {
  check_parts(input.dtype(), "input");
  TSR_CHECK(low <= high, Code::kValue, "high", "expected a number not below ", low, ", got ", high);
  const double most = largest_of(real_dtype(input.dtype()));
  TSR_CHECK(low >= -most && high <= most && high - low <= most, Code::kValue, "high",
            "expected bounds and a distance between them that ", input.dtype(), " can hold, got ",
            low, " and ", high);
  return refill(input, distribution(RandomOp::kUniform, low, high), input.dtype(), generator);
}

Tensor normal_(const Tensor& input, double centre, double std, Generator* generator) {
  check_parts(input.dtype(), "input");
  TSR_CHECK(std >= 0, Code::kValue, "std",
            "expected a standard deviation that is not negative, got ", std);
  const RandomPlan plan = distribution(RandomOp::kNormal, centre, std_of_part(input.dtype(), std));
  return refill(input, plan, input.dtype(), generator);
}

Tensor dropout_mask(DimsView shape, double p, DType dtype, Device device, Generator* generator) {
  Tensor mask = empty(shape, dtype, device);
  launch_random(mask, distribution(RandomOp::kBernoulli, 1 - p, p < 1 ? 1 / (1 - p) : 0),
                generator);
  return mask;
}

}  // namespace tsr::ops
