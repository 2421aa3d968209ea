// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/sort.h"

#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/opmath.h"
#include "ops/reduce/sum_to.h"
#include "ops/samples.h"

namespace tsr::ops {
namespace {

// A view with `axis` and the last dim swapped; its own inverse.
Tensor swap_with_last(const Tensor& input, int64_t axis) {
  Dims sizes = input.sizes();
  Dims strides = input.strides();
  std::swap(sizes[static_cast<size_t>(axis)], sizes.back());
  std::swap(strides[static_cast<size_t>(axis)], strides.back());
  return make_view(input, sizes, strides, input.offset());
}

struct Sorted {
  Tensor values;     // undefined if not wanted
  Tensor positions;  // undefined if not wanted
};

enum class Wanted : uint8_t { kValues, kPositions, kBoth };

// The first `keep` of every line along axis, or those of its `ranks`, in new row-major memory of
// the result's shape.
Sorted sort_lines(const Tensor& input, int64_t axis, int64_t keep, bool descending, Wanted wanted,
                  const Tensor& ranks = {}) {
  const bool scalar = input.ndim() == 0;
  const Tensor lines =
      scalar ? make_view(input, Dims{1}, Dims{1}, input.offset()) : swap_with_last(input, axis);
  const Tensor source = contiguous_memory(lines);
  const Tensor chosen =
      !ranks.defined() || scalar ? ranks : contiguous_memory(swap_with_last(ranks, axis));
  Dims shape = lines.sizes();
  shape.back() = keep;
  Sorted sorted;
  if (wanted != Wanted::kPositions) sorted.values = empty(shape, input.dtype(), input.device());
  if (wanted != Wanted::kValues) sorted.positions = empty(shape, DType::kInt64, input.device());
  kernel::SortPlan plan{};
  plan.columns = lines.sizes().back();
  plan.rows = plan.columns == 0 ? 0 : source.numel() / plan.columns;
  plan.keep = keep;
  plan.descending = descending ? 1 : 0;
  plan.place = kernel::place_on(input.device());
  plan.dtype = input.dtype();
  plan.input = source.data();
  plan.values = data_or_null(sorted.values);
  plan.positions = static_cast<int64_t*>(data_or_null(sorted.positions));
  plan.ranks = static_cast<const int64_t*>(data_or_null(chosen));
  if (plan.rows != 0 && keep != 0) kernel::launch(kernel::kSort, input.device(), plan);
  for (Tensor* part : {&sorted.values, &sorted.positions}) {
    if (!part->defined()) continue;
    *part = scalar ? make_view(*part, {}, {}, 0) : contiguous_memory(swap_with_last(*part, axis));
  }
  return sorted;
}

// The gradient of each value goes to the position that the value came from. Positions that come
// more than once, as equal ranks have them, add up.
void record_sorted(const Tensor& values, const Tensor& input, const Tensor& positions,
                   int64_t axis) {
  record(values, "SortBackward", {input}, {save_input(positions)},
         TakesBatches{[shape = input.sizes(), axis](Backward& ctx) {
           const Tensor& g = ctx.grad();
           if (shape.empty()) {
             ctx.set(0, g);
             return;
           }
           const Tensor whole = zeros_like_shape(ctx.batched(shape), g.dtype(), g.device());
           ctx.set(0, scatter_add(whole, axis + ctx.lead(), for_samples(ctx, ctx.saved(0)), g));
         }},
         [&](Forward& ctx) {
           const Tensor& t = ctx.tangent();
           ctx.set(0, t.ndim() == 0 ? t : take_along_axis(t, positions, axis));
         });
}

int64_t check_axis(const Tensor& input, int64_t axis) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  return wrap_axis(axis, input.ndim());
}

int64_t line_length(const Tensor& input, int64_t axis) {
  return input.ndim() == 0 ? 1 : input.size(axis);
}

std::tuple<Tensor, Tensor> leading(const Tensor& input, int64_t axis, int64_t keep, bool descending,
                                   const Out& values, const Out& indices) {
  check_apart(values, "values", indices, "indices");
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  const Sorted sorted = sort_lines(input, axis, keep, descending, Wanted::kBoth);
  Tensor first = deliver(sorted.values, values, grad);
  Tensor second = deliver(sorted.positions, indices, false);
  if (grad) record_sorted(first, input, sorted.positions, axis);
  return {std::move(first), std::move(second)};
}

}  // namespace

Tensor sort(const Tensor& input, int64_t axis, bool descending, bool, Out out) {
  const int64_t along = check_axis(input, axis);
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  const Sorted sorted = sort_lines(input, along, line_length(input, along), descending,
                                   grad ? Wanted::kBoth : Wanted::kValues);
  Tensor output = deliver(sorted.values, out, grad);
  if (grad) record_sorted(output, input, sorted.positions, along);
  return output;
}

Tensor argsort(const Tensor& input, int64_t axis, bool descending, bool, Out out) {
  const int64_t along = check_axis(input, axis);
  const Sorted sorted =
      sort_lines(input, along, line_length(input, along), descending, Wanted::kPositions);
  return deliver(sorted.positions, out, false);
}

std::tuple<Tensor, Tensor> sort_with_indices(const Tensor& input, int64_t axis, bool descending,
                                             bool, Out values, Out indices) {
  const int64_t along = check_axis(input, axis);
  return leading(input, along, line_length(input, along), descending, values, indices);
}

std::tuple<Tensor, Tensor> topk(const Tensor& input, int64_t k, int64_t axis, bool largest, bool,
                                Out values, Out indices) {
  const int64_t along = check_axis(input, axis);
  const int64_t length = line_length(input, along);
  TSR_CHECK(k >= 0 && k <= length, Code::kValue, "k", "expected a count in [0, ", length, "], got ",
            k);
  if (input.ndim() == 0 && k == 0) {
    fail(Code::kValue, "k", __FILE__, __LINE__, "expected 1 for a 0-dim input, got 0");
  }
  return leading(input, along, k, largest, values, indices);
}

Tensor msort(const Tensor& input, Out out) {
  return sort(input, 0, false, true, out);
}

std::tuple<Tensor, Tensor> at_ranks(const Tensor& input, int64_t axis, const Tensor& ranks) {
  const int64_t along = check_axis(input, axis);
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input);
  const Sorted sorted =
      sort_lines(input, along, line_length(ranks, along), false, Wanted::kBoth, ranks);
  if (grad) record_sorted(sorted.values, input, sorted.positions, along);
  return {sorted.values, sorted.positions};
}

}  // namespace tsr::ops
