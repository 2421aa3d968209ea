// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/plan.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "kernel/registry.h"

namespace tsr::kernel {
namespace {

bool bigger_stride(int32_t a, int32_t b, std::span<int64_t* const> strides) {
  for (const int64_t* stride : strides) {
    const int64_t x = std::abs(stride[a]);
    const int64_t y = std::abs(stride[b]);
    if (x != y && x != 0 && y != 0) return x > y;
  }
  return false;
}

void swap_dims(int32_t a, int32_t b, int64_t* sizes, std::span<int64_t* const> strides) {
  std::swap(sizes[a], sizes[b]);
  for (int64_t* stride : strides) std::swap(stride[a], stride[b]);
}

void copy_dim(int32_t to, int32_t from, int64_t* sizes, std::span<int64_t* const> strides) {
  sizes[to] = sizes[from];
  for (int64_t* stride : strides) stride[to] = stride[from];
}

// Whether two dims can be merged: in every operand, one step of `outer` spans all of `inner`.
bool mergeable(int32_t outer, int32_t inner, const int64_t* sizes,
               std::span<int64_t* const> strides) {
  return std::all_of(strides.begin(), strides.end(), [&](const int64_t* stride) {
    return stride[outer] == stride[inner] * sizes[inner];
  });
}

}  // namespace

int32_t merge_dims(int32_t ndim, int64_t* sizes, std::span<int64_t* const> strides,
                   bool keep_order) {
  int32_t kept = 0;
  for (int32_t i = 0; i < ndim; ++i) {
    if (sizes[i] != 1) copy_dim(kept++, i, sizes, strides);
  }
  if (kept == 0) {
    sizes[0] = 1;
    for (int64_t* stride : strides) stride[0] = 0;
    return 1;
  }
  if (!keep_order) {
    // Insertion sort: stable, and nearly always already in order.
    for (int32_t i = 1; i < kept; ++i) {
      for (int32_t j = i; j > 0 && bigger_stride(j, j - 1, strides); --j) {
        swap_dims(j, j - 1, sizes, strides);
      }
    }
  }
  int32_t last = 0;
  for (int32_t i = 1; i < kept; ++i) {
    if (mergeable(last, i, sizes, strides)) {
      const int64_t merged = sizes[last] * sizes[i];
      copy_dim(last, i, sizes, strides);
      sizes[last] = merged;
    } else {
      copy_dim(++last, i, sizes, strides);
    }
  }
  return last + 1;
}

void Elementwise::build(const Tensor& out, std::span<const Input> inputs) {
  TSR_ASSERT(inputs.size() < kMaxOperands);
  begin(out);
  // Fast path: every operand is contiguous and of the output's shape, or has one element.
  bool contiguous = out.is_contiguous();
  for (const Input& input : inputs) {
    if (input.tensor == nullptr) {
      add(*input.scalar, input.scalar_dtype);
      continue;
    }
    const Tensor& tensor = *input.tensor;
    add(tensor);
    if (tensor.numel() != 1) {
      contiguous = contiguous && tensor.is_contiguous() && tensor.sizes() == out.sizes();
    } else if (plan_.numel != 1) {
      plan_.strides[plan_.operands - 1][0] = 0;
    }
  }
  if (!contiguous) return build_strided(out, inputs);
  plan_.ndim = 1;
  plan_.sizes[0] = plan_.numel;
}

void Elementwise::build_strided(const Tensor& out, std::span<const Input> inputs) {
  const auto rank = static_cast<int32_t>(out.ndim());
  std::array<int64_t*, kMaxOperands> strides;
  for (int32_t i = 0; i < plan_.operands; ++i) strides[static_cast<size_t>(i)] = plan_.strides[i];
  for (int32_t d = 0; d < rank; ++d) {
    plan_.sizes[d] = out.size(d);
    plan_.strides[0][d] = byte_stride(out, d);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = inputs[i].tensor;
    const int64_t shift = rank - (tensor == nullptr ? 0 : tensor->ndim());
    for (int64_t d = 0; d < rank; ++d) {
      const bool broadcast = d < shift || tensor->size(d - shift) == 1;
      plan_.strides[i + 1][d] = broadcast ? 0 : tensor->stride(d - shift) * tensor->itemsize();
    }
  }
  const auto used = std::span<int64_t* const>(strides.data(), static_cast<size_t>(plan_.operands));
  plan_.ndim = merge_dims(rank, plan_.sizes, used, false);
}

Elementwise& Elementwise::param(int index, const Scalar& value, DType dtype) {
  value.store(opmath(dtype), plan_.params[index].bytes);
  return *this;
}

void plan_reduction(ReducePlan& plan, ReduceOp op, const Tensor& output, const Tensor& input,
                    DimsView axes, bool keep_order) {
  plan.op = op;
  plan.place = place_on(input.device());
  plan.input = input.data();
  plan.output = output.data();
  plan.input_dtype = input.dtype();
  plan.output_dtype = output.dtype();
  plan.kept_numel = output.numel();
  plan.reduced_numel = 1;
  const bool keepdims = output.ndim() == input.ndim();
  int32_t kept = 0;
  int32_t reduced = 0;
  for (int64_t d = 0; d < input.ndim(); ++d) {
    const int64_t stride = byte_stride(input, d);
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) {
      plan.reduced_sizes[reduced] = input.size(d);
      plan.reduced_strides[reduced++] = stride;
      plan.reduced_numel *= input.size(d);
    } else {
      const int64_t out_dim = keepdims ? d : kept;
      plan.kept_sizes[kept] = input.size(d);
      plan.kept_input_strides[kept] = stride;
      plan.kept_output_strides[kept++] = byte_stride(output, out_dim);
    }
  }
  const std::array<int64_t*, 2> kept_strides{plan.kept_output_strides, plan.kept_input_strides};
  const std::array<int64_t*, 1> reduced_strides{plan.reduced_strides};
  plan.kept_ndim = merge_dims(kept, plan.kept_sizes, kept_strides, false);
  plan.reduced_ndim = merge_dims(reduced, plan.reduced_sizes, reduced_strides, keep_order);
}

void plan_index(IndexPlan& plan, IndexOp op, const Tensor& values, const Tensor& array,
                std::span<const Tensor> indices, std::span<const IndexedAxis> axes, bool from_end) {
  TSR_ASSERT(indices.size() <= kMaxIndices && indices.size() == axes.size());
  plan.op = op;
  plan.indices = static_cast<int32_t>(indices.size());
  plan.from_end = from_end ? 1 : 0;
  ElementwisePlan& walk = plan.walk;
  walk.operands = plan.indices + 2;
  walk.host_operands = 0;
  walk.numel = values.numel();
  walk.place = place_on(values.device());
  std::array<int64_t*, kMaxOperands> strides;
  for (int32_t i = 0; i < walk.operands; ++i) {
    const auto k = static_cast<size_t>(i);
    const Tensor& operand = i == 0 ? values : i == 1 ? array : indices[k - 2];
    walk.data[i] = operand.data();
    walk.dtypes[i] = operand.dtype();
    strides[k] = walk.strides[i];
    for (int64_t d = 0; d < values.ndim(); ++d) walk.strides[i][d] = byte_stride(operand, d);
  }
  std::copy(values.sizes().begin(), values.sizes().end(), walk.sizes);
  for (size_t j = 0; j < axes.size(); ++j) {
    plan.indexed_axes[j] = axes[j].axis;
    plan.indexed_sizes[j] = axes[j].size;
    plan.indexed_strides[j] = axes[j].size <= 1 ? 0 : axes[j].stride * array.itemsize();
  }
  const auto used = std::span<int64_t* const>(strides.data(), static_cast<size_t>(walk.operands));
  walk.ndim = merge_dims(static_cast<int32_t>(values.ndim()), walk.sizes, used, true);
}

}  // namespace tsr::kernel
