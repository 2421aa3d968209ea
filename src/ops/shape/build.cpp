// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/build.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/nn/window.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

template <class Change>
std::vector<Tensor> each(std::span<const Tensor> tensors, Change change) {
  std::vector<Tensor> changed;
  for (const Tensor& tensor : tensors) changed.push_back(change(tensor));
  return changed;
}

void check_vectors(std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    TSR_CHECK(tensor.ndim() <= 1, Code::kShape, "tensors", "expected vectors, got shape ",
              tensor.sizes());
  }
}

}  // namespace

// ---- Stacks ----

Tensor hstack(std::span<const Tensor> tensors, Out out) {
  const std::vector<Tensor> parts = each(tensors, atleast_1d);
  return ops::concat(parts, !parts.empty() && parts[0].ndim() == 1 ? 0 : 1, out);
}

Tensor vstack(std::span<const Tensor> tensors, Out out) {
  return ops::concat(each(tensors, atleast_2d), 0, out);
}

Tensor dstack(std::span<const Tensor> tensors, Out out) {
  return ops::concat(each(tensors, atleast_3d), 2, out);
}

Tensor column_stack(std::span<const Tensor> tensors, Out out) {
  const auto column = [](const Tensor& tensor) {
    return tensor.ndim() >= 2 ? tensor : reshape(tensor, Dims{tensor.numel(), 1});
  };
  return ops::concat(each(tensors, column), 1, out);
}

namespace {

// Where a block stands in the matrix.
struct Corner {
  int64_t row, column, rows, columns;
};

}  // namespace

Tensor block_diag(std::span<const Tensor> tensors, Out out) {
  TSR_CHECK(!tensors.empty(), Code::kValue, "tensors", "expected at least one tensor, got none");
  const std::vector<Tensor> blocks = each(tensors, atleast_2d);
  DType dtype = blocks[0].dtype();
  Dims shape{0, 0};
  std::vector<Corner> corners;
  for (const Tensor& block : blocks) {
    check_same_device(blocks[0], block, "tensors");
    TSR_CHECK(block.ndim() == 2, Code::kShape, "tensors",
              "expected at most 2 dimensions in every tensor, got shape ", block.sizes());
    dtype = promote_types(dtype, block.dtype(), "tensors");
    corners.push_back({shape[0], shape[1], block.size(0), block.size(1)});
    TSR_CHECK(!__builtin_add_overflow(shape[0], block.size(0), &shape[0]) &&
                  !__builtin_add_overflow(shape[1], block.size(1), &shape[1]),
              Code::kShape, "tensors", "expected fewer than 2^63 elements, got more");
  }
  checked_numel(shape, itemsize(dtype));
  const bool grad = is_differentiable(dtype) && needs_grad(blocks);
  Result result = allocate_apart(out, shape, dtype, blocks[0].device(), grad, blocks);
  fill_memory(result.value(), 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Tensor rows = narrow_memory(result.value(), 0, corners[i].row, corners[i].rows);
    copy_memory(narrow_memory(rows, 1, corners[i].column, corners[i].columns), blocks[i]);
  }
  Tensor output = result.finish();
  if (grad) {
    record(output, "BlockDiagBackward", blocks, {}, TakesBatches{[corners](Backward& ctx) {
             const int64_t lead = ctx.lead();
             for (size_t i = 0; i < corners.size(); ++i) {
               if (!ctx.needs(i)) continue;
               const Tensor rows = narrow(ctx.grad(), lead, corners[i].row, corners[i].rows);
               ctx.set(i, narrow(rows, lead + 1, corners[i].column, corners[i].columns));
             }
           }});
  }
  return output;
}

// ---- Grids ----

std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors) {
  Dims shape;
  for (const Tensor& tensor : tensors) shape = broadcast_shapes(shape, tensor.sizes(), "tensors");
  return each(tensors, [&](const Tensor& tensor) { return broadcast_to(tensor, shape); });
}

std::vector<Tensor> meshgrid(std::span<const Tensor> tensors, std::string_view indexing) {
  TSR_CHECK(indexing == "xy" || indexing == "ij", Code::kValue, "indexing",
            "expected \"xy\" or \"ij\", got \"", indexing, "\"");
  check_vectors(tensors);
  const bool swapped = indexing == "xy" && tensors.size() >= 2;
  const auto axis_of = [&](size_t i) { return swapped && i < 2 ? 1 - i : i; };
  Dims shape(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) shape[axis_of(i)] = tensors[i].numel();
  std::vector<Tensor> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Dims own(tensors.size(), 1);
    own[axis_of(i)] = tensors[i].numel();
    grids.push_back(broadcast_to(reshape(tensors[i], own), shape));
  }
  return grids;
}

Tensor cartesian_prod(std::span<const Tensor> tensors) {
  TSR_CHECK(!tensors.empty(), Code::kValue, "tensors", "expected at least one tensor, got none");
  check_vectors(tensors);
  if (tensors.size() == 1) return atleast_1d(tensors[0]);
  const auto flat = [](const Tensor& grid) { return reshape(grid, Dims{-1}); };
  return stack(each(meshgrid(tensors, "ij"), flat), 1);
}

namespace {

// How many choices of r out of n there are; 2^62 stands for that many and more.
int64_t choices(int64_t n, int64_t r, bool with_replacement) {
  constexpr int64_t kMany = int64_t{1} << 62;
  const int64_t pool = with_replacement ? n + r - 1 : n;
  if (n == 0 || r > pool) return 0;
  const int64_t least = std::min(r, pool - r);
  __int128 count = 1;
  for (int64_t i = 1; i <= least; ++i) {
    count = count * (pool - least + i) / i;
    if (count >= kMany) return kMany;
  }
  return static_cast<int64_t>(count);
}

// The next choice in lexicographic order.
void advance(std::span<int64_t> chosen, int64_t n, bool with_replacement) {
  const size_t r = chosen.size();
  const auto last = [&](size_t i) {
    return with_replacement ? n - 1 : n - static_cast<int64_t>(r - i);
  };
  size_t i = r;
  while (i > 0 && chosen[i - 1] == last(i - 1)) --i;
  if (i == 0) return;
  ++chosen[i - 1];
  for (size_t k = i; k < r; ++k) chosen[k] = chosen[k - 1] + (with_replacement ? 0 : 1);
}

}  // namespace

Tensor combinations(const Tensor& input, int64_t r, bool with_replacement) {
  TSR_CHECK(input.ndim() == 1, Code::kShape, "input", "expected a vector, got shape ",
            input.sizes());
  TSR_CHECK(r >= 0, Code::kValue, "r", "expected a count that is not negative, got ", r);
  if (r == 0) return clone(narrow(input, 0, 0, 0));
  const int64_t count = choices(input.numel(), r, with_replacement);
  const Dims shape{count, r};
  checked_numel(shape, static_cast<int64_t>(sizeof(int64_t)));
  const Tensor positions = tsr::empty(shape, DType::kInt64);
  std::vector<int64_t> chosen(count > 0 ? static_cast<size_t>(r) : 0);
  if (!with_replacement) std::iota(chosen.begin(), chosen.end(), 0);
  auto* row = positions.data_as<int64_t>();
  for (int64_t i = 0; i < count; ++i, row += r) {
    std::copy(chosen.begin(), chosen.end(), row);
    advance(chosen, input.numel(), with_replacement);
  }
  return take(input, positions, 0);
}

// ---- Diagonals ----

Tensor diag(const Tensor& input, int64_t offset, Out out) {
  TSR_CHECK(input.ndim() == 1 || input.ndim() == 2, Code::kShape, "input",
            "expected 1 or 2 dimensions, got shape ", input.sizes());
  if (input.ndim() == 1) return diag_embed(input, offset, 0, 1, out);
  const bool recording = needs_grad(input);
  return deliver(clone(diagonal(input, offset)), out, recording);
}

Tensor diag_embed(const Tensor& input, int64_t offset, int64_t axis1, int64_t axis2, Out out) {
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least one dimension, got a 0-dim tensor");
  const int64_t rank = input.ndim() + 1;
  const int64_t rows = wrap_axis(axis1, rank, "axis1");
  const int64_t columns = wrap_axis(axis2, rank, "axis2");
  TSR_CHECK(rows != columns, Code::kValue, "axis2", "expected two different axes, got ", axis1,
            " and ", axis2);
  TSR_CHECK(offset > -(int64_t{1} << 61) && offset < int64_t{1} << 61, Code::kShape, "offset",
            "expected an offset below 2^61, got ", offset);
  const int64_t width = input.size(input.ndim() - 1) + std::abs(offset);
  Dims shape(input.sizes().begin(), input.sizes().end() - 1);
  shape.insert(static_cast<size_t>(std::min(rows, columns)), width);
  shape.insert(static_cast<size_t>(std::max(rows, columns)), width);
  checked_numel(shape, input.itemsize());
  const bool recording = needs_grad(input);
  const Tensor result =
      scatter_window(input, shape, "DiagEmbedBackward",
                     [offset, rows = rows - rank, columns = columns - rank](const Tensor& t) {
                       return diagonal(t, offset, rows, columns);
                     });
  return deliver(result, out, recording);
}

Tensor diagflat(const Tensor& input, int64_t offset, Out out) {
  return diag_embed(reshape(input, Dims{-1}), offset, 0, 1, out);
}

}  // namespace tsr::ops
