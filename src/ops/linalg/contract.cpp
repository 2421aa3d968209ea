// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/contract.h"

#include <algorithm>
#include <numeric>

#include "autograd/forward.h"
#include "base/error.h"
#include "kernel/contract.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/composition.h"
#include "ops/create/copy.h"
#include "ops/linalg/matmul.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::BinaryOp;

void check_pair(const Tensor& input, const Tensor& other) {
  check_like(other, "other", input);
}

// Both operands in their common shape, with `axis` last.
struct Vectors {
  Tensor left, right;
};
Vectors vectors_along(const Tensor& input, const Tensor& other, int64_t axis) {
  const Dims shape = broadcast_shapes(input.sizes(), other.sizes());
  const auto rank = static_cast<int64_t>(shape.size());
  TSR_CHECK(rank >= 1, Code::kShape, "input", "expected at least 1 dimension, got shapes ",
            input.sizes(), " and ", other.sizes());
  const int64_t along = wrap_axis(axis, rank);
  const auto prepare = [&](const Tensor& operand) {
    // The axis itself does not broadcast, as the Array API standard says; the others do, in the
    // product.
    Dims sizes(static_cast<size_t>(rank - operand.ndim()), 1);
    for (const int64_t size : operand.sizes()) sizes.push_back(size);
    const Tensor full = operand.ndim() == rank ? operand : reshape(operand, sizes);
    return along == rank - 1 ? full : moveaxis(full, Dims{along}, Dims{-1});
  };
  const Vectors found{prepare(input), prepare(other)};
  TSR_CHECK(found.left.size(rank - 1) == found.right.size(rank - 1), Code::kShape, "other",
            "expected size ", found.left.size(rank - 1), " along axis ", axis, ", got ",
            found.right.size(rank - 1));
  return found;
}

int64_t size_product(const Tensor& input, DimsView axes) {
  Dims sizes;
  for (const int64_t axis : axes) sizes.push_back(input.size(axis));
  return checked_numel(sizes, 1);
}

Dims axes_left(const Tensor& input, DimsView taken) {
  Dims left;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    if (std::find(taken.begin(), taken.end(), d) == taken.end()) left.push_back(d);
  }
  return left;
}

Dims joined(DimsView a, DimsView b) {
  Dims all(a);
  for (const int64_t axis : b) all.push_back(axis);
  return all;
}

// The factor of a product over its last two axes, of which one has size 1: with `size` there, and
// both as one axis.
Tensor stretched(const Tensor& factor, int64_t size) {
  Dims full = factor.sizes();
  (full[full.size() - 2] == 1 ? full[full.size() - 2] : full.back()) = size;
  Dims flat(full.begin(), full.end() - 1);
  flat.back() = full[full.size() - 2] * full.back();
  return reshape(broadcast_to(factor, full), flat);
}

// Whether the CPU multiplies the last rows of `right` by a number of `left` each in one pass: rows
// that are at least as long as a line of the cache, of a dtype that has such a kernel.
bool takes_rows(const Tensor& left, const Tensor& right) {
  const DType dtype = left.dtype();
  if (!left.device().is_cpu() || right.dtype() != dtype) return false;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kInt64) return false;
  return right.sizes().back() * right.itemsize() >= 64;
}

void launch(BinaryOp op, const Tensor& result, const Tensor& a, const Tensor& b) {
  const kernel::Elementwise walk(result, {a, b});
  kernel::launch(kernel::kBinary, result.device(), op, walk.plan());
}

// The cross products of vectors of one shape and dtype, without autograd. a[i] b[i + 1] -
// a[i + 1] b[i], counted modulo 3, stands at i + 2: for i = 0 and 1 at 2 and 0, for i = 2 at 1.
Tensor cross_by_parts(const Tensor& a, const Tensor& b, int64_t axis) {
  const Tensor result = empty(a.sizes(), a.dtype(), a.device());
  if (result.numel() == 0) return result;
  const Tensor spare = empty(a.sizes(), a.dtype(), a.device());
  const auto write = [&](int64_t i, int64_t next, int64_t count, int64_t place, int64_t step) {
    Dims sizes = a.sizes();
    Dims strides = result.strides();
    sizes[static_cast<size_t>(axis)] = count;
    strides[static_cast<size_t>(axis)] *= step;
    const Tensor part =
        make_view(result, sizes, strides, result.offset() + place * result.stride(axis));
    const auto of = [&](const Tensor& x, int64_t first) {
      return narrow_memory(x, axis, first, count);
    };
    const Tensor second = of(spare, 0);
    launch(BinaryOp::kMultiply, part, of(a, i), of(b, next));
    launch(BinaryOp::kMultiply, second, of(a, next), of(b, i));
    launch(BinaryOp::kSubtract, part, part, second);
  };
  write(0, 1, 2, 2, -2);
  write(2, 0, 1, 1, 1);
  return result;
}

Tensor rolled(const Tensor& x, int64_t axis, const Out& out = {}) {
  return roll(x, Dims{-1}, DimsView(Dims{axis}), out);
}
// a[i] b[i + 1] - a[i + 1] b[i], which stands at i + 2: to be rolled once more.
Tensor cross_before_roll(const Tensor& a, const Tensor& b, int64_t axis) {
  return subtract(multiply(a, rolled(b, axis)), multiply(rolled(a, axis), b));
}

// The same of short rows, by rolled copies, some thousand numbers at a time, which stay in the
// caches.
Tensor cross_rolled(const Tensor& a, const Tensor& b, int64_t axis) {
  constexpr int64_t kBlock = int64_t{1} << 16;
  const Tensor result = empty(a.sizes(), a.dtype(), a.device());
  const int64_t lines = axis == 0 ? 1 : a.size(0);
  const int64_t block =
      axis == 0 || !a.device().is_cpu()
          ? a.size(0)
          : std::max<int64_t>(1, kBlock * lines / std::max<int64_t>(a.numel(), 1));
  for (int64_t first = 0; first < a.size(0); first += block) {
    const auto of = [&](const Tensor& x) {
      return narrow_memory(x, 0, first, std::min(block, a.size(0) - first));
    };
    const Tensor part = of(result);
    rolled(cross_before_roll(of(a), of(b), axis), axis, Out::into(part));
  }
  return result;
}

// Whether parts of the vectors cost less than rolled copies of all: rows are long, or there is one.
bool pays_by_parts(const Tensor& a, int64_t axis) {
  constexpr int64_t kLongRow = 64;
  int64_t row = 1;
  for (int64_t d = axis + 1; d < a.ndim(); ++d) row *= a.size(d);
  return row >= kLongRow || a.numel() == 3 * row;
}

}  // namespace

Tensor vecdot(const Tensor& input, const Tensor& other, int64_t axis, Out out) {
  check_pair(input, other);
  TSR_CHECK(input.dtype() != DType::kBool, Code::kDType, "input",
            "expected a numeric dtype, got bool");
  const bool grad = needs_grad(input, other);
  const Vectors v = vectors_along(input, other, axis);
  const Tensor left = conj_of(v.left);
  // 16-bit floats would be rounded before they are added up; a product of matrices does that once.
  if (kernel::opmath(input.dtype()) != input.dtype()) {
    const Tensor products = matmul(expand_dims(left, -2), expand_dims(v.right, -1));
    return deliver(squeeze(products, Dims{-2, -1}), out, grad);
  }
  return sum(multiply(left, v.right), DimsView(Dims{-1}), false, input.dtype(), out);
}

Tensor inner(const Tensor& input, const Tensor& other, Out out) {
  check_pair(input, other);
  if (input.ndim() == 0 || other.ndim() == 0) return multiply(input, other, out);
  return tensordot(input, other, Dims{-1}, Dims{-1}, out);
}

Tensor tensordot(const Tensor& input, const Tensor& other, DimsView input_axes, DimsView other_axes,
                 Out out) {
  check_pair(input, other);
  TSR_CHECK(input_axes.size() == other_axes.size(), Code::kValue, "other_axes", "expected ",
            input_axes.size(), " axes as input_axes, got ", other_axes.size());
  const Dims left = wrap_axes(input_axes, input.ndim(), "input_axes");
  const Dims right = wrap_axes(other_axes, other.ndim(), "other_axes");
  for (size_t i = 0; i < left.size(); ++i) {
    TSR_CHECK(input.size(left[i]) == other.size(right[i]), Code::kShape, "other", "expected ",
              input.size(left[i]), " along axis ", right[i], " as along axis ", left[i],
              " of the input, got shape ", other.sizes());
  }
  const Dims rows = axes_left(input, left);
  const Dims columns = axes_left(other, right);
  const int64_t summed = size_product(input, left);
  Dims shape;
  for (const int64_t axis : rows) shape.push_back(input.size(axis));
  for (const int64_t axis : columns) shape.push_back(other.size(axis));
  const Tensor a =
      reshape(permute_dims(input, joined(rows, left)), Dims{size_product(input, rows), summed});
  const Tensor b = reshape(permute_dims(other, joined(right, columns)),
                           Dims{summed, size_product(other, columns)});
  const bool grad = needs_grad(input, other);
  return deliver(reshape(matmul(a, b), shape), out, grad);
}

Tensor kron(const Tensor& input, const Tensor& other, Out out) {
  const size_t rank = static_cast<size_t>(std::max(input.ndim(), other.ndim()));
  TSR_CHECK(2 * rank <= static_cast<size_t>(kMaxTensorRank), Code::kShape, "input",
            "expected at most ", kMaxTensorRank / 2, " dimensions, got ", rank);
  const auto size_at = [&](const Tensor& tensor, size_t d) {
    const size_t missing = rank - static_cast<size_t>(tensor.ndim());
    return d < missing ? 1 : tensor.sizes()[d - missing];
  };
  Dims blocks;  // of the input, each axis followed by one of size 1
  Dims inside;  // of the other, each axis behind one of size 1
  Dims shape;
  for (size_t d = 0; d < rank; ++d) {
    blocks.push_back(size_at(input, d));
    blocks.push_back(1);
    inside.push_back(1);
    inside.push_back(size_at(other, d));
    shape.push_back(checked_numel(Dims{size_at(input, d), size_at(other, d)}, 1));
  }
  const bool grad = needs_grad(input, other);
  Tensor left = reshape(input, blocks);
  Tensor right = reshape(other, inside);
  if (rank > 0 && numel_of(shape) != 0 && (grad || !takes_rows(left, right))) {
    // The last two axes of the products become one long row: its factors are written out before.
    left = stretched(left, inside.back());
    right = stretched(right, blocks[2 * rank - 2]);
  }
  return deliver(reshape(multiply(left, right), shape), out, grad);
}

// c[i] = a[i + 1] b[i + 2] - a[i + 2] b[i + 1], counted modulo 3.
Tensor cross(const Tensor& input, const Tensor& other, int64_t axis, Out out) {
  const Dims shape = broadcast_shapes(input.sizes(), other.sizes());
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t along = wrap_axis(axis, rank);
  TSR_CHECK(rank >= 1 && shape[static_cast<size_t>(along)] == 3, Code::kShape, "input",
            "expected 3 numbers along axis ", axis, ", got shapes ", input.sizes(), " and ",
            other.sizes());
  if (needs_grad(input, other) && out.is_fresh() && !forward_enabled()) {
    Tensor product;
    {
      const Unrecorded pause;
      product = cross(input, other, axis);
    }
    record(product, "LinalgCrossBackward", {input, other}, {save_input(input), save_input(other)},
           TakesBatches{[behind = along - rank](Backward& ctx) {
             const Tensor& g = ctx.grad();
             if (ctx.needs(0)) ctx.set(0, cross(conj_of(ctx.saved(1)), g, behind));
             if (ctx.needs(1)) ctx.set(1, cross(g, conj_of(ctx.saved(0)), behind));
           }});
    return product;
  }
  // The difference of two products that nearly cancel shows their rounding, so they are computed
  // in opmath.
  const auto full = [&](const Tensor& operand) {
    const Tensor wide = in_opmath(operand);
    return wide.sizes() == shape ? wide : broadcast_to(wide, shape);
  };
  const Tensor a = full(input);
  const Tensor b = full(other);
  const DType dtype = promote_types(input.dtype(), other.dtype());
  if (dtype != DType::kBool && !needs_grad(input, other)) {
    const DType wide = promote_types(a.dtype(), b.dtype());
    const auto make = pays_by_parts(a, along) ? cross_by_parts : cross_rolled;
    return settle(astype(make(cast_memory(a, wide), cast_memory(b, wide), along), dtype), out);
  }
  const Tensor before = cross_before_roll(a, b, along);
  if (before.dtype() == dtype) return rolled(before, along, out);
  return settle(astype(rolled(before, along), dtype), out);
}

Tensor trace(const Tensor& input, int64_t offset, std::optional<DType> dtype, Out out) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  return sum(diagonal(input, offset, -2, -1), DimsView(Dims{-1}), false, dtype, out);
}

}  // namespace tsr::ops
