// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/arrange.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// ---- repeating ----

// The layouts of a repetition. `shape` is the shape of the result. With the shape `sizes` instead,
// the result is the input with stride 0 along the dims `copies`.
struct Repeated {
  Dims shape;
  Dims sizes;
  Dims strides;
  Dims copies;

  void add(int64_t size, int64_t stride, bool copy) {
    if (copy) copies.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(size);
    strides.push_back(copy ? 0 : stride);
  }
};

// Axis d gets counts[d] copies: of each element (`each`) or of the whole axis. `sizes` leaves out
// dims of size 1, so it never has more than 63 dims.
Repeated repeat_layout(const Tensor& input, DimsView counts, bool each) {
  Repeated layout;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    const int64_t count = counts[static_cast<size_t>(d)];
    int64_t total = 0;
    TSR_CHECK(!__builtin_mul_overflow(input.size(d), count, &total), Code::kShape, nullptr,
              "expected fewer than 2^63 elements, got ", count, " copies of shape ", input.sizes());
    layout.shape.push_back(total);
  }
  checked_numel(layout.shape, input.itemsize());
  if (numel_of(layout.shape) == 0) {
    layout.sizes = layout.strides = layout.shape;
    return layout;
  }
  for (int64_t d = 0; d < input.ndim(); ++d) {
    const int64_t count = counts[static_cast<size_t>(d)];
    if (!each && count > 1) layout.add(count, 0, true);
    if (input.size(d) > 1) layout.add(input.size(d), input.stride(d), false);
    if (each && count > 1) layout.add(count, 0, true);
  }
  return layout;
}

Tensor copy_repeated(const Tensor& input, const Repeated& layout, const char* node,
                     const Out& out) {
  const bool grad = needs_grad(input);
  Result result =
      allocate_apart(out, layout.shape, input.dtype(), input.device(), grad, {&input}, true);
  const Tensor& value = result.value();
  if (value.numel() != 0) {
    copy_memory(make_view(value, layout.sizes, contiguous_strides(layout.sizes), value.offset()),
                make_view(input, layout.sizes, layout.strides, input.offset()));
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, node, {input}, {}, TakesBatches{[old = input.sizes(), layout](Backward& ctx) {
             const Dims whole = ctx.batched(old);
             if (numel_of(layout.shape) == 0) {
               ctx.set(0, zeros_like_shape(whole, ctx.grad().dtype(), ctx.grad().device()));
               return;
             }
             const Tensor copies = reshape(ctx.grad(), ctx.batched(layout.sizes));
             const Dims axes = sample_axes(ctx, layout.copies);
             ctx.set(0, reshape(sum(copies, DimsView(axes)), whole));
           }});
  }
  return output;
}

int64_t checked_count(int64_t count) {
  TSR_CHECK(count >= 0, Code::kValue, "repeats", "expected counts that are not negative, got ",
            count);
  return count;
}

// The input position of each element of the result; `counts` is 1-D int64 on the CPU, in memory
// that no other thread writes between the two passes.
Tensor repeated_positions(const Tensor& counts, int64_t size) {
  kernel::note_host_decision("counts of repetitions");
  const int64_t* count = counts.data_as<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    TSR_CHECK(!__builtin_add_overflow(total, checked_count(count[i]), &total), Code::kShape,
              "repeats", "expected fewer than 2^63 elements, got more");
  }
  Tensor positions = empty(Dims{total}, DType::kInt64);
  auto* next = positions.data_as<int64_t>();
  for (int64_t i = 0; i < size; ++i) next = std::fill_n(next, count[i], i);
  return positions;
}

// ---- rolling ----

struct Roll {
  int64_t axis, shift;
};

// dst = src rolled: along each axis, two blocks change places.
void roll_memory(const Tensor& dst, const Tensor& src, std::span<const Roll> rolls) {
  if (rolls.empty()) return copy_memory(dst, src);
  const Roll& roll = rolls.front();
  const int64_t size = src.size(roll.axis);
  const auto rest = rolls.subspan(1);
  const int64_t kept = size - roll.shift;
  roll_memory(narrow_memory(dst, roll.axis, roll.shift, kept),
              narrow_memory(src, roll.axis, 0, kept), rest);
  roll_memory(narrow_memory(dst, roll.axis, 0, roll.shift),
              narrow_memory(src, roll.axis, kept, roll.shift), rest);
}

// One entry for each axis that is shifted, with the shift in (0, size).
SmallVector<Roll, 4> normal_rolls(const Tensor& input, DimsView shifts, DimsView axes) {
  Dims total(static_cast<size_t>(input.ndim()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto dim = static_cast<size_t>(wrap_axis(axes[i], input.ndim(), "axes"));
    if (input.ndim() == 0) continue;
    const int64_t size = std::max<int64_t>(input.sizes()[dim], 1);
    const int64_t shift = shifts[shifts.size() == 1 ? 0 : i] % size;
    total[dim] = (total[dim] + shift + size) % size;
  }
  SmallVector<Roll, 4> rolls;
  for (size_t d = 0; d < total.size(); ++d) {
    if (total[d] != 0) rolls.push_back({static_cast<int64_t>(d), total[d]});
  }
  return rolls;
}

// ---- triangles ----

Tensor triangle(const Tensor& input, int64_t diagonal, bool upper, const Out& out) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  const bool grad = needs_grad(input);
  const Tensor none;
  Result result = allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad,
                                 {out.is_inplace() ? &none : &input}, true);
  if (input.numel() != 0) {
    const Tensor dense = contiguous_memory(input);
    const int64_t rows = input.size(input.ndim() - 2);
    const int64_t columns = input.size(input.ndim() - 1);
    // Beyond the corners, a larger shift changes nothing.
    const int64_t shift = std::clamp(diagonal, -rows, columns);
    const kernel::TrianglePlan plan{upper ? 1 : 0,
                                    input.numel() / (rows * columns),
                                    rows,
                                    columns,
                                    shift,
                                    kernel::place_on(input.device()),
                                    input.dtype(),
                                    dense.data(),
                                    result.value().data()};
    kernel::launch(kernel::kTriangle, input.device(), plan);
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, upper ? "TriuBackward" : "TrilBackward", {input}, {},
           TakesBatches{[diagonal, upper](Backward& ctx) {
             ctx.set(0, triangle(ctx.grad(), diagonal, upper, {}));
           }},
           [&](Forward& ctx) { ctx.set(0, triangle(ctx.tangent(), diagonal, upper, {})); });
  }
  return output;
}

}  // namespace

Tensor tile(const Tensor& input, DimsView repetitions, Out out) {
  for (const int64_t count : repetitions) {
    TSR_CHECK(count >= 0, Code::kValue, "repetitions",
              "expected counts that are not negative, got ", repetitions);
  }
  TSR_CHECK(repetitions.size() <= static_cast<size_t>(kMaxTensorRank), Code::kShape, "repetitions",
            "expected at most ", kMaxTensorRank, " counts, got ", repetitions.size());
  Dims counts(repetitions);
  while (counts.size() < input.sizes().size()) counts.insert(0, 1);
  Dims shape = input.sizes();
  while (shape.size() < counts.size()) shape.insert(0, 1);
  checked_numel(shape, input.itemsize());
  const Tensor source = reshape(input, shape);
  return copy_repeated(source, repeat_layout(source, counts, false), "TileBackward", out);
}

Tensor repeat(const Tensor& input, const Scalar& repeats, std::optional<int64_t> axis, Out out) {
  TSR_CHECK(repeats.category() <= Category::kIntegral, Code::kDType, "repeats",
            "expected an integer, got ", repeats);
  const int64_t count = checked_count(repeats.to<int64_t>());
  if (!axis.has_value() || input.ndim() == 0) {
    wrap_axis(axis.value_or(0), input.ndim());
    const Tensor flat = reshape(input, Dims{-1});
    return copy_repeated(flat, repeat_layout(flat, Dims{count}, true), "RepeatBackward", out);
  }
  Dims counts(static_cast<size_t>(input.ndim()), 1);
  counts[static_cast<size_t>(wrap_axis(*axis, input.ndim()))] = count;
  return copy_repeated(input, repeat_layout(input, counts, true), "RepeatBackward", out);
}

Tensor repeat(const Tensor& input, const Tensor& repeats, std::optional<int64_t> axis, Out out) {
  TSR_CHECK(is_integral(repeats.dtype()), Code::kDType, "repeats", "expected integers, got ",
            repeats.dtype());
  TSR_CHECK(repeats.ndim() <= 1, Code::kShape, "repeats",
            "expected at most 1 dimension, got shape ", repeats.sizes());
  // One count for all positions needs no list of positions: an empty input may have 2^60 of them.
  if (repeats.numel() == 1) {
    const Tensor one = cast_memory(to(repeats, Device{}, std::nullopt), DType::kInt64);
    kernel::note_host_decision("a count of repetitions");
    return repeat(input, *one.data_as<int64_t>(), axis, out);
  }
  const Tensor source = axis.has_value() && input.ndim() > 0 ? input : reshape(input, Dims{-1});
  const int64_t dim = wrap_axis(axis.value_or(0), source.ndim());
  const int64_t size = source.size(dim);
  TSR_CHECK(repeats.numel() == size, Code::kShape, "repeats",
            "expected one count or one for each of ", size, " positions, got shape ",
            repeats.sizes());
  const Tensor counts = contiguous_memory(to(repeats.detached(), Device{}, DType::kInt64, true));
  return take(source, repeated_positions(counts, size), dim, out);
}

Tensor flip(const Tensor& input, std::optional<DimsView> axes, Out out) {
  const Dims flipped = reduction_axes(input, axes);
  Dims strides = input.strides();
  int64_t offset = input.offset();
  if (input.numel() != 0) {
    for (const int64_t axis : flipped) {
      if (input.ndim() == 0) break;
      const auto dim = static_cast<size_t>(axis);
      offset += (input.sizes()[dim] - 1) * strides[dim];
      strides[dim] = -strides[dim];
    }
  }
  const bool grad = needs_grad(input);
  Result result = allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad, {&input});
  copy_memory(result.value(), make_view(input, input.sizes(), strides, offset));
  Tensor output = result.finish();
  if (grad) {
    record(output, "FlipBackward", {input}, {}, TakesBatches{[flipped](Backward& ctx) {
             ctx.set(0, flip(ctx.grad(), DimsView(sample_axes(ctx, flipped))));
           }},
           [&](Forward& ctx) { ctx.set(0, flip(ctx.tangent(), DimsView(flipped))); });
  }
  return output;
}

Tensor fliplr(const Tensor& input, Out out) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  return flip(input, Dims{1}, out);
}

Tensor flipud(const Tensor& input, Out out) {
  TSR_CHECK(input.ndim() >= 1, Code::kShape, "input",
            "expected at least one dimension, got a 0-dim tensor");
  return flip(input, Dims{0}, out);
}

Tensor rot90(const Tensor& input, int64_t k, std::optional<DimsView> axes, Out out) {
  TSR_CHECK(input.ndim() >= 2, Code::kShape, "input", "expected at least 2 dimensions, got shape ",
            input.sizes());
  const Dims given = axes.has_value() ? Dims(*axes) : Dims{0, 1};
  TSR_CHECK(given.size() == 2, Code::kValue, "axes", "expected two axes, got ", given);
  const Dims plane = wrap_axes(given, input.ndim(), "axes");
  const int64_t turns = (k % 4 + 4) % 4;
  if (turns == 0) return clone(input, out);
  if (turns == 2) return flip(input, DimsView(plane), out);
  const bool recording = needs_grad(input);
  const Tensor turned = turns == 1 ? transpose(flip(input, Dims{plane[1]}), plane[0], plane[1])
                                   : flip(transpose(input, plane[0], plane[1]), Dims{plane[1]});
  return deliver(turned, out, recording);
}

Tensor roll(const Tensor& input, DimsView shifts, std::optional<DimsView> axes, Out out) {
  if (!axes.has_value()) {
    TSR_CHECK(shifts.size() == 1, Code::kValue, "shift",
              "expected one shift where no axes are given, got ", shifts);
    const Tensor flat = reshape(input, Dims{-1});
    const bool recording = needs_grad(input);
    return deliver(reshape(roll(flat, shifts, Dims{0}), input.sizes()), out, recording);
  }
  TSR_CHECK(shifts.size() == axes->size() || shifts.size() == 1, Code::kValue, "shift",
            "expected one shift for each of the axes ", *axes, ", got ", shifts);
  const bool grad = needs_grad(input);
  const SmallVector<Roll, 4> rolls = normal_rolls(input, shifts, *axes);
  Result result = allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad, {&input});
  if (input.numel() != 0) roll_memory(result.value(), input, {rolls.data(), rolls.size()});
  Tensor output = result.finish();
  if (grad) {
    record(output, "RollBackward", {input}, {}, TakesBatches{[rolls](Backward& ctx) {
             Dims back;
             Dims dims;
             for (const Roll& entry : rolls) {
               back.push_back(-entry.shift);
               dims.push_back(entry.axis + ctx.lead());
             }
             ctx.set(0, rolls.empty() ? ctx.grad() : roll(ctx.grad(), back, DimsView(dims)));
           }},
           [&](Forward& ctx) { ctx.set(0, roll(ctx.tangent(), shifts, axes)); });
  }
  return output;
}

Tensor tril(const Tensor& input, int64_t diagonal, Out out) {
  return triangle(input, diagonal, false, out);
}

Tensor triu(const Tensor& input, int64_t diagonal, Out out) {
  return triangle(input, diagonal, true, out);
}

}  // namespace tsr::ops
