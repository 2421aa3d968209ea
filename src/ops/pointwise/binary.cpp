// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/binary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/ownership.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary_grad.h"
#include "ops/pointwise/binary_tangent.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/dual.h"
#include "ops/pointwise/round_once.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/pointwise/unary_run.h"
#include "ops/reduce/sum_to.h"
#include "tensor/promotion.h"

namespace tsr::ops {

DType operands_dtype(const Arg& a, const Arg& b) {
  if (!a.is_tensor()) return promote_scalar(b.tensor().dtype(), a.scalar());
  if (!b.is_tensor()) return promote_scalar(a.tensor().dtype(), b.scalar());
  return promote_types(a.tensor().dtype(), b.tensor().dtype());
}

Arg rounded_number(const Arg& operand, DType dtype) {
  return operand.is_tensor() ? operand : Arg(rounded_to(operand.scalar(), dtype));
}

Tensor round_once(const BinaryContext& ctx, Tensor (*derivative)(const BinaryContext& ctx)) {
  const Tensor none;
  const Tensor& a = ctx.a.is_tensor() ? ctx.a.tensor() : none;
  const Tensor& b = ctx.b.is_tensor() ? ctx.b.tensor() : none;
  return round_once({&ctx.g, &a, &b, &ctx.y}, [&](std::span<const Tensor> wide) {
    return derivative({wide[0], ctx.a.is_tensor() ? Arg(wide[1]) : ctx.a,
                       ctx.b.is_tensor() ? Arg(wide[2]) : ctx.b, wide[3]});
  });
}

namespace {

using kernel::BinaryOp;

void refuse(bool refused, const char* expected, DType dtype) {
  TSR_CHECK(!refused, Code::kDType, "other", "expected operands of ", expected, ", got ", dtype);
}

// The dtype the kernel computes in.
DType compute_dtype(BinaryType type, DType dtype) {
  const bool whole = is_integral_or_bool(dtype);
  switch (type) {
    case BinaryType::kNumeric:
      TSR_CHECK(dtype != DType::kBool, Code::kDType, "other",
                "expected numeric operands, got bool and bool; logical_xor() and bitwise_xor() "
                "take bool");
      return dtype;
    case BinaryType::kReal:
      refuse(is_complex(dtype), "a real dtype", dtype);
      return dtype;
    case BinaryType::kFloatReal:
      refuse(is_complex(dtype), "a real dtype", dtype);
      [[fallthrough]];
    case BinaryType::kFloat:
      return whole ? default_dtype() : dtype;
    case BinaryType::kRealCounting:
      refuse(is_complex(dtype), "a real dtype", dtype);
      [[fallthrough]];
    case BinaryType::kCounting:
      return dtype == DType::kBool ? DType::kInt64 : dtype;
    case BinaryType::kOrder:
      refuse(is_complex(dtype), "a real dtype", dtype);
      return dtype;
    case BinaryType::kBits:
      refuse(!whole, "an integer or bool dtype", dtype);
      return dtype;
    case BinaryType::kIntegers:
      refuse(!is_integral(dtype), "an integer dtype", dtype);
      return dtype;
    case BinaryType::kArithmetic:
    case BinaryType::kEquality:
      return dtype;
  }
  return dtype;
}

bool returns_bool(const BinaryRule& rule) {
  return rule.type == BinaryType::kEquality || rule.type == BinaryType::kOrder;
}

// The shape of the result; made in `storage` if it differs from both operands' shapes.
const Dims& result_shape(const Arg& a, const Arg& b, Dims& storage) {
  if (!a.is_tensor()) return b.tensor().sizes();
  if (!b.is_tensor() || a.tensor().sizes() == b.tensor().sizes()) return a.tensor().sizes();
  storage = broadcast_shapes(a.tensor().sizes(), b.tensor().sizes());
  return storage;
}

// A tensor in the compute dtype, of which `storage` holds a copy if it needs a cast, or a number in
// opmath (Note [Numbers beside tensors] in kernel/numbers.h).
kernel::Input operand(const Arg& arg, DType compute, Tensor& storage) {
  if (!arg.is_tensor()) return kernel::Input(arg.scalar(), kernel::opmath(compute));
  if (arg.tensor().dtype() == compute) return kernel::Input(arg.tensor());
  storage = cast_memory(arg.tensor(), compute);
  return kernel::Input(storage);
}

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::kEqual || op == BinaryOp::kNotEqual || op == BinaryOp::kLess ||
         op == BinaryOp::kLessEqual || op == BinaryOp::kGreater || op == BinaryOp::kGreaterEqual;
}

// The result of comparing all numbers of an integer dtype with a number outside its range, which is
// less (`below`) or greater than all of them.
bool outside_answer(BinaryOp op, bool below, bool number_left) {
  if (op == BinaryOp::kEqual || op == BinaryOp::kNotEqual) return op == BinaryOp::kNotEqual;
  const bool less = op == BinaryOp::kLess || op == BinaryOp::kLessEqual;
  return less == (below == number_left);
}

// Whether the number among the operands does not fit the integer dtype of the computation.
// Comparisons and logic still have a result then; other ops throw kValue.
bool has_outside_number(const BinaryRule& rule, const Arg& a, const Arg& b, DType compute) {
  if (a.is_tensor() && b.is_tensor()) return false;
  const Scalar& number = a.is_tensor() ? b.scalar() : a.scalar();
  if (fit_of(number, compute) == Fit::kInside) return false;
  if (!returns_bool(rule)) fail_range(number, compute, a.is_tensor() ? "other" : "input");
  return true;
}

void launch_binary(const BinaryRule& rule, const Tensor& result, const Arg& a, const Arg& b,
                   DType compute) {
  if (result.numel() == 0) return;
  Tensor cast_a;
  Tensor cast_b;
  const kernel::Input input_a = operand(a, compute, cast_a);
  const kernel::Input input_b = operand(b, compute, cast_b);
  const kernel::Elementwise walk(result, {input_a, input_b});
  kernel::launch(kernel::kBinary, result.device(), rule.op, walk.plan());
}

// As launch_binary, for a number outside the range of an integer dtype. A comparison has one result
// for all elements; for logic the number is any number but 0.
void launch_outside(const BinaryRule& rule, const Tensor& result, const Arg& a, const Arg& b,
                    DType compute) {
  const Arg& number = a.is_tensor() ? b : a;
  if (is_comparison(rule.op)) {
    const bool below = fit_of(number.scalar(), compute) == Fit::kBelow;
    fill_memory(result, outside_answer(rule.op, below, !a.is_tensor()));
    return;
  }
  const Arg one(1);
  launch_binary(rule, result, a.is_tensor() ? a : one, b.is_tensor() ? b : one, compute);
}

// Whether the memory of a gradient may become that of its product with x: nobody else sees it, and
// nothing is recorded. On a device the memory would stay with the stream that made it.
bool is_spare(const Tensor& g, const Arg& x) {
  if (grad_enabled() || needs_grad(g) || (x.is_tensor() && needs_grad(x.tensor()))) return false;
  return g.device().is_cpu() && record_of(g) == nullptr && !g.has(kInferenceFlag) &&
         g.is_contiguous() && owns_alone(g);
}

// g times the conjugate of the other operand, in the memory of g: g has the shape and the dtype of
// the product, and shares no memory with x.
Tensor multiply_here(const BinaryRule& rule, const Tensor& g, const Arg& x);

// dL/d(operand). `last`: nobody reads g afterwards.
Tensor derivative_of(const BinaryRule& rule, bool of_a, const BinaryContext& seen, bool last) {
  const Arg& other = of_a ? seen.b : seen.a;
  if (last && rule.op == BinaryOp::kMultiply && is_spare(seen.g, other)) {
    return multiply_here(rule, seen.g, other);
  }
  const BinaryGrad& grad = of_a ? rule.a : rule.b;
  const bool wide = (grad.saves & kInOpmath) != 0;
  return wide ? round_once(seen, grad.derivative) : grad.derivative(seen);
}

// The derivative of one call. Saved slots come in the order a, b, y; scalars are stored by value.
struct BinaryDerivative {
  const BinaryRule* rule;
  Scalar scalar_a;
  Scalar scalar_b;
  bool tensor_a;
  bool tensor_b;
  uint8_t saves;

  void operator()(Backward& ctx) const {
    size_t slot = 0;
    Tensor a;
    Tensor b;
    Tensor y;
    if (tensor_a && (saves & kSaveA) != 0) a = ctx.saved(slot++);
    if (tensor_b && (saves & kSaveB) != 0) b = ctx.saved(slot++);
    if ((saves & kSaveY) != 0) y = ctx.saved(slot);
    const BinaryContext seen{ctx.grad(), tensor_a ? Arg(a) : Arg(scalar_a),
                             tensor_b ? Arg(b) : Arg(scalar_b), y};
    const size_t input_b = tensor_a ? 1 : 0;
    const bool needs_b = tensor_b && ctx.needs(input_b);
    if (tensor_a && ctx.needs(0)) ctx.set(0, derivative_of(*rule, true, seen, !needs_b));
    if (needs_b) ctx.set(input_b, derivative_of(*rule, false, seen, true));
  }
};

// The tensors that the derivatives of the operands that need a gradient read.
uint8_t saves_of(const BinaryRule& rule, const Arg& a, const Arg& b) {
  uint8_t saves = kSaveNothing;
  if (a.is_tensor() && needs_grad(a.tensor())) saves |= rule.a.saves;
  if (b.is_tensor() && needs_grad(b.tensor())) saves |= rule.b.saves;
  return saves;
}

SmallVector<Save, 3> operand_saves(const Arg& a, const Arg& b, const Tensor& original_a,
                                   uint8_t saves) {
  SmallVector<Save, 3> kept;
  if (a.is_tensor() && (saves & kSaveA) != 0) kept.push_back(save_input(original_a));
  if (b.is_tensor() && (saves & kSaveB) != 0) kept.push_back(save_input(b.tensor()));
  return kept;
}

void record_binary(const BinaryRule& rule, const Tensor& output, const Arg& a, const Arg& b,
                   const Tensor& original_a, uint8_t saves) {
  if (forward_enabled() && push_lone(rule, output, a, b)) [[unlikely]]
    return;
  const BinaryDerivative derivative{&rule,         a.scalar(),    b.scalar(),
                                    a.is_tensor(), b.is_tensor(), saves};
  SmallVector<Save, 3> kept = operand_saves(a, b, original_a, saves);
  if ((saves & kSaveY) != 0) kept.push_back(save_output(output));
  const std::span<const Save> saved(kept.data(), kept.size());
  if (rule.op == BinaryOp::kMultiply && a.is_tensor() && b.is_tensor()) {
    record(output, rule.node, {a.tensor(), b.tensor()}, saved, TakesBatches{derivative},
           [&](Forward& ctx) { ctx.set(0, pushed_product(ctx, saves)); });
    return;
  }
  if (a.is_tensor() && b.is_tensor()) {
    record(output, rule.node, {a.tensor(), b.tensor()}, saved, derivative, kElementwise);
  } else {
    record(output, rule.node, {a.is_tensor() ? a.tensor() : b.tensor()}, saved, derivative,
           kElementwise);
  }
}

bool operands_need_grad(const Arg& a, const Arg& b) {
  return (a.is_tensor() && needs_grad(a.tensor())) || (b.is_tensor() && needs_grad(b.tensor()));
}

// ---- derivatives (complex operands: Wirtinger, so factors are conjugated) ----

// g times the conjugate of an operand.
Tensor times(const Tensor& g, const Arg& x) {
  return x.is_tensor() ? multiply(g, conj_of(x.tensor())) : multiply(g, conj_of(x.scalar()));
}
Tensor over(const Tensor& g, const Arg& x) {
  return x.is_tensor() ? divide(g, conj_of(x.tensor())) : divide(g, conj_of(x.scalar()));
}
Tensor as_float(const Tensor& mask, const Tensor& like) {
  return astype(mask, like.dtype());
}

Tensor pass(const BinaryContext& ctx) {
  return ctx.g;
}
Tensor pass_negative(const BinaryContext& ctx) {
  return negative(ctx.g);
}
Tensor multiply_here(const BinaryRule& rule, const Tensor& g, const Arg& x) {
  if (x.is_tensor()) {
    launch_binary(rule, g, g, conj_of(x.tensor()), g.dtype());
  } else {
    launch_binary(rule, g, g, conj_of(x.scalar()), g.dtype());
  }
  return g;
}
Tensor multiply_a(const BinaryContext& ctx) {
  return times(ctx.g, ctx.b);
}
Tensor multiply_b(const BinaryContext& ctx) {
  return times(ctx.g, ctx.a);
}
Tensor divide_a(const BinaryContext& ctx) {
  return over(ctx.g, ctx.b);
}
// -g a / b² = -g (a / b) / b
Tensor divide_b(const BinaryContext& ctx) {
  return negative(over(times(ctx.g, divide(ctx.a, ctx.b)), ctx.b));
}
Tensor zero(const BinaryContext& ctx) {
  return zeros_of(ctx.g);
}
// a - b floor(a / b)
Tensor remainder_b(const BinaryContext& ctx) {
  return negative(multiply(ctx.g, floor_divide(ctx.a, ctx.b)));
}
Scalar minus_one(const Scalar& value) {
  if (value.is_large()) return value.to<double>() - 1;
  switch (value.category()) {
    case Category::kBool:
    case Category::kIntegral:
      return value.to<int64_t>() - 1;
    case Category::kFloating:
      return value.to<double>() - 1;
    case Category::kComplex:
      break;
  }
  return value.to<std::complex<double>>() - 1.0;
}
// b a^(b-1), and 0 where b is 0, also at a = 0
Tensor slope_of_power(const BinaryContext& ctx) {
  if (!ctx.b.is_tensor()) {
    return times(ctx.g, multiply(pow(ctx.a, minus_one(ctx.b.scalar())), ctx.b));
  }
  const Tensor slope = multiply(ctx.b, pow(ctx.a, subtract(ctx.b, 1)));
  const Tensor none = zeros_of(slope);
  return times(ctx.g, where(equal(ctx.b, 0), none, slope));
}
Tensor pow_a(const BinaryContext& ctx) {
  if (!ctx.b.is_tensor()) {
    const auto exponent = ctx.b.scalar().to<std::complex<double>>();
    if (exponent == 0.0) return zeros_of(ctx.g);
    if (exponent == 2.0) return times(ctx.g, multiply(ctx.a, 2));  // 2 a is exact
  }
  return round_once(ctx, slope_of_power);
}
// y ln a, and 0 where a is 0 and b is not negative
Tensor pow_b(const BinaryContext& ctx) {
  if (!ctx.a.is_tensor()) {
    const auto base = ctx.a.scalar().to<std::complex<double>>();
    if (base == 0.0) {
      if (is_complex(ctx.y.dtype())) return zeros_of(ctx.g);
      const Tensor falling = multiply(ctx.g, multiply(ctx.y, -INFINITY));
      return where(greater_equal(ctx.b, 0), zeros_of(falling), falling);
    }
    if (is_complex(ctx.y.dtype())) return times(ctx.g, multiply(ctx.y, Scalar(std::log(base))));
    return multiply(ctx.g, multiply(ctx.y, std::log(base.real())));  // NaN for a negative base
  }
  const Tensor& a = ctx.a.tensor();
  const Tensor slope = multiply(ctx.y, log(a));
  const Tensor flat = equal(a, 0);
  const Tensor inert =
      is_complex(ctx.y.dtype()) ? flat : logical_and(flat, greater_equal(ctx.b, 0));
  return times(ctx.g, where(inert, zeros_of(slope), slope));
}
// If both are equal, each gets half of the gradient; if one is NaN, both get all of it.
Tensor share(const BinaryContext& ctx, const Binary& wins, const Arg& mine, const Arg& other) {
  const Tensor lost = as_float(wins(other, mine), ctx.g);
  const Tensor tied = as_float(equal(mine, other), ctx.g);
  return multiply(ctx.g, subtract(1, add(lost, multiply(tied, 0.5))));
}
Tensor maximum_a(const BinaryContext& ctx) {
  return share(ctx, greater, ctx.a, ctx.b);
}
Tensor maximum_b(const BinaryContext& ctx) {
  return share(ctx, greater, ctx.b, ctx.a);
}
Tensor minimum_a(const BinaryContext& ctx) {
  return share(ctx, less, ctx.a, ctx.b);
}
Tensor minimum_b(const BinaryContext& ctx) {
  return share(ctx, less, ctx.b, ctx.a);
}
// atan2(a, b): (b, -a) / r², divided by r = hypot(a, b) twice, because squares leave the range; 0
// at the origin, where r is the least number above 0 instead.
Tensor radius(const BinaryContext& ctx) {
  const Tensor r = hypot(ctx.a, ctx.b);
  return maximum(r, r.dtype() == DType::kFloat64 ? std::numeric_limits<double>::denorm_min()
                                                 : std::numeric_limits<float>::denorm_min());
}
Tensor atan2_a(const BinaryContext& ctx) {
  const Tensor r = radius(ctx);
  return multiply(ctx.g, divide(divide(ctx.b, r), r));
}
Tensor atan2_b(const BinaryContext& ctx) {
  const Tensor r = radius(ctx);
  return negative(multiply(ctx.g, divide(divide(ctx.a, r), r)));
}
Tensor hypot_a(const BinaryContext& ctx) {
  return multiply(ctx.g, divide(ctx.a, ctx.y));
}
Tensor hypot_b(const BinaryContext& ctx) {
  return multiply(ctx.g, divide(ctx.b, ctx.y));
}

// An operand as a tensor: the first one of an in-place form keeps the values that derivatives read.
Tensor as_tensor(const Arg& arg, DType dtype, Device device, const Out& out) {
  return arg.is_tensor() ? operand(arg.tensor(), out) : full({}, arg.scalar(), dtype, device);
}

[[gnu::noinline]] Tensor composed(const BinaryRule& rule, const Arg& a, const Arg& b, DType dtype,
                                  const Out& out) {
  const Device device = a.is_tensor() ? a.tensor().device() : b.tensor().device();
  const Tensor first = as_tensor(a, dtype, device, out);
  return settle(rule.of_complex(first, as_tensor(b, dtype, device, {})), out);
}

// Note [Plain calls]
// Most calls are plain: contiguous tensors of one shape and dtype, or one and a number, that the
// kernel takes as they are, and a fresh result. Their path compares two shapes once and makes no
// copy of anything. All other calls take the general path, which would give the same.

// Whether the kernel takes these operands as they are. Throws kDType as the general path does.
bool are_plain(const BinaryRule& rule, const Arg& a, const Arg& b) {
  const Tensor& like = a.is_tensor() ? a.tensor() : b.tensor();
  const DType dtype = like.dtype();
  if (!like.is_contiguous() || like.numel() == 0) return false;
  if (a.is_tensor() && b.is_tensor()) {
    const Tensor& other = b.tensor();
    if (other.dtype() != dtype || other.device() != like.device() || !other.is_contiguous() ||
        other.sizes() != like.sizes()) {
      return false;
    }
  } else {
    // Integers have a range that the number may be outside of; 16-bit floats are compared rounded.
    const Scalar& number = a.is_tensor() ? b.scalar() : a.scalar();
    if (!is_floating(dtype) || number.category() == Category::kComplex ||
        (returns_bool(rule) && kernel::opmath(dtype) != dtype)) {
      return false;
    }
  }
  if (rule.of_complex != nullptr && is_complex(dtype)) return false;
  return compute_dtype(rule.type, dtype) == dtype;
}

Tensor launch_plain(const BinaryRule& rule, const Arg& a, const Arg& b) {
  const Tensor& like = a.is_tensor() ? a.tensor() : b.tensor();
  const DType dtype = like.dtype();
  Tensor result = empty_dense_like(like, returns_bool(rule) ? DType::kBool : dtype, like.device());
  kernel::Elementwise walk(result);
  for (const Arg* arg : {&a, &b}) {
    if (arg->is_tensor()) {
      walk.add(arg->tensor());
    } else {
      walk.add(arg->scalar(), kernel::opmath(dtype));
    }
  }
  kernel::launch(kernel::kBinary, result.device(), rule.op, walk.plan());
  return result;
}

// The general path.
Tensor run_binary(const BinaryRule& rule, const Arg& input, const Arg& other, const Out& out) {
  if (input.is_tensor() && other.is_tensor())
    check_same_device(input.tensor(), other.tensor(), "other");
  const DType together = operands_dtype(input, other);
  if (rule.of_complex != nullptr && is_complex(together)) [[unlikely]]
    return composed(rule, input, other, together, out);
  const DType compute = compute_dtype(rule.type, together);
  const Device device = input.is_tensor() ? input.tensor().device() : other.tensor().device();
  const bool grad =
      rule.node != nullptr && is_differentiable(compute) && operands_need_grad(input, other);
  const bool outside = is_integral(compute) && has_outside_number(rule, input, other, compute);
  // Decided before the in-place form gives the first operand a new history.
  const uint8_t saves = grad ? saves_of(rule, input, other) : uint8_t{kSaveNothing};
  // The in-place form overwrites a value that the derivative reads.
  const bool keep = out.is_inplace() && (saves & kSaveA) != 0;
  const Tensor none;
  const Tensor& tensor_a = input.is_tensor() ? input.tensor() : none;
  const Tensor& tensor_b = other.is_tensor() ? other.tensor() : none;
  const Tensor kept = keep ? clone(tensor_a) : Tensor();
  if (grad && out.is_inplace()) {
    const SmallVector<Save, 3> planned = operand_saves(input, other, keep ? kept : tensor_a, saves);
    check_saves(std::span<const Save>(planned.data(), planned.size()));
  }
  DType written = returns_bool(rule) ? DType::kBool : compute;
  // The CPU's kernels cast truths as they write them; every dtype holds them.
  if (returns_bool(rule) && !out.is_fresh() && device.is_cpu()) written = out.tensor().dtype();
  Dims broadcast;
  Result result = allocate(out, result_shape(input, other, broadcast), written, device, grad,
                           {&tensor_a, &tensor_b});
  if (outside) {
    launch_outside(rule, result.value(), input, other, compute);
  } else if (kernel::opmath(compute) != compute && returns_bool(rule)) [[unlikely]] {
    // x == 0.1 holds where x is the element of its dtype nearest to 0.1.
    launch_binary(rule, result.value(), rounded_number(input, compute),
                  rounded_number(other, compute), compute);
  } else {
    launch_binary(rule, result.value(), input, other, compute);
  }
  Tensor output = result.finish();
  if (grad) record_binary(rule, output, input, other, keep ? kept : tensor_a, saves);
  return output;
}

}  // namespace

Tensor Binary::operator()(const Arg& input, const Arg& other, Out out) const {
  TSR_ASSERT(input.is_tensor() || other.is_tensor());
  if (!out.is_fresh() || !are_plain(rule, input, other)) return run_binary(rule, input, other, out);
  const Tensor& like = input.is_tensor() ? input.tensor() : other.tensor();
  const bool grad =
      rule.node != nullptr && is_differentiable(like.dtype()) && operands_need_grad(input, other);
  if (!grad) return launch_plain(rule, input, other);
  if (forward_enabled()) [[unlikely]] {
    if (Tensor value = dual_binary(rule, input, other, like.dtype()); value.defined()) return value;
  }
  const uint8_t saves = saves_of(rule, input, other);
  Tensor output = launch_plain(rule, input, other);
  const Tensor none;
  record_binary(rule, output, input, other, input.is_tensor() ? input.tensor() : none, saves);
  return output;
}

// ---- the rows ----
// clang-format off
constinit const Binary add{{BinaryOp::kAdd, "AddBackward", BinaryType::kArithmetic, {kSaveNothing, pass}, {kSaveNothing, pass}}};
constinit const Binary subtract{{BinaryOp::kSubtract, "SubtractBackward", BinaryType::kNumeric, {kSaveNothing, pass}, {kSaveNothing, pass_negative}}};
constinit const Binary multiply{{BinaryOp::kMultiply, "MultiplyBackward", BinaryType::kArithmetic, {kSaveB, multiply_a}, {kSaveA, multiply_b}}};
constinit const Binary divide{{BinaryOp::kDivide, "DivideBackward", BinaryType::kFloat, {kSaveB, divide_a}, {kSaveA | kSaveB | kInOpmath, divide_b}}};
constinit const Binary floor_divide{{BinaryOp::kFloorDivide, "FloorDivideBackward", BinaryType::kRealCounting, {kSaveNothing, zero}, {kSaveNothing, zero}}};
constinit const Binary remainder{{BinaryOp::kRemainder, "RemainderBackward", BinaryType::kRealCounting, {kSaveNothing, pass}, {kSaveA | kSaveB | kInOpmath, remainder_b}}};
constinit const Binary pow{{BinaryOp::kPow, "PowBackward", BinaryType::kCounting, {kSaveA | kSaveB, pow_a}, {kSaveA | kSaveB | kSaveY | kInOpmath, pow_b}}};
constinit const Binary maximum{{BinaryOp::kMaximum, "MaximumBackward", BinaryType::kReal, {kSaveA | kSaveB, maximum_a}, {kSaveA | kSaveB, maximum_b}}};
constinit const Binary minimum{{BinaryOp::kMinimum, "MinimumBackward", BinaryType::kReal, {kSaveA | kSaveB, minimum_a}, {kSaveA | kSaveB, minimum_b}}};
constinit const Binary atan2{{BinaryOp::kAtan2, "Atan2Backward", BinaryType::kFloatReal, {kSaveA | kSaveB | kInOpmath, atan2_a}, {kSaveA | kSaveB | kInOpmath, atan2_b}}};
constinit const Binary hypot{{BinaryOp::kHypot, "HypotBackward", BinaryType::kFloatReal, {kSaveA | kSaveY | kInOpmath, hypot_a}, {kSaveB | kSaveY | kInOpmath, hypot_b}}};
constinit const Binary equal{{BinaryOp::kEqual, nullptr, BinaryType::kEquality}};
constinit const Binary not_equal{{BinaryOp::kNotEqual, nullptr, BinaryType::kEquality}};
constinit const Binary less{{BinaryOp::kLess, nullptr, BinaryType::kOrder}};
constinit const Binary less_equal{{BinaryOp::kLessEqual, nullptr, BinaryType::kOrder}};
constinit const Binary greater{{BinaryOp::kGreater, nullptr, BinaryType::kOrder}};
constinit const Binary greater_equal{{BinaryOp::kGreaterEqual, nullptr, BinaryType::kOrder}};
constinit const Binary logical_and{{BinaryOp::kLogicalAnd, nullptr, BinaryType::kEquality}};
constinit const Binary logical_or{{BinaryOp::kLogicalOr, nullptr, BinaryType::kEquality}};
constinit const Binary logical_xor{{BinaryOp::kLogicalXor, nullptr, BinaryType::kEquality}};
constinit const Binary bitwise_and{{BinaryOp::kBitwiseAnd, nullptr, BinaryType::kBits}};
constinit const Binary bitwise_or{{BinaryOp::kBitwiseOr, nullptr, BinaryType::kBits}};
constinit const Binary bitwise_xor{{BinaryOp::kBitwiseXor, nullptr, BinaryType::kBits}};
// clang-format on

}  // namespace tsr::ops
