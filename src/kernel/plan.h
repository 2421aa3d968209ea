// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Planning: turns tensors into the plain-data plans of the contract (broadcast, reorder, merge
// dims).
#pragma once

#include <span>

#include "base/scalar.h"
#include "kernel/index.h"
#include "kernel/place.h"
#include "kernel/pointwise.h"
#include "kernel/reduce.h"
#include "tensor/tensor.h"

namespace tsr::kernel {

// One input of an elementwise call: a tensor, or a scalar. The plan stores the scalar itself, with
// stride 0, so that no tensor is made for it. `scalar_dtype` is the dtype of the stored scalar.
struct Input {
  Input(const Tensor& value) : tensor(&value) {}
  Input(const Scalar& value, DType dtype) : scalar(&value), scalar_dtype(dtype) {}

  const Tensor* tensor = nullptr;
  const Scalar* scalar = nullptr;
  DType scalar_dtype = DType::kBool;
};

// Plans out = f(inputs...): every input broadcasts to the shape of `out` (already checked by the
// caller). The plan borrows the memory of the tensors and holds the scalars itself, so it must not
// be copied.
class Elementwise {
 public:
  Elementwise(const Tensor& out, std::initializer_list<Input> inputs) {
    build(out, std::span<const Input>(inputs.begin(), inputs.size()));
  }
  Elementwise(const Tensor& out, std::span<const Input> inputs) { build(out, inputs); }
  // For operands that the caller knows to be contiguous and of one shape, or numbers: add() appends
  // one input after the other, and looks at no shape.
  explicit Elementwise(const Tensor& out) {
    begin(out);
    plan_.ndim = 1;
    plan_.sizes[0] = plan_.numel;
  }
  Elementwise(const Elementwise&) = delete;
  Elementwise& operator=(const Elementwise&) = delete;

  void add(const Tensor& input) {
    const int64_t size = input.itemsize();
    const auto slot = static_cast<size_t>(plan_.operands++);
    plan_.data[slot] = input.data();
    plan_.dtypes[slot] = input.dtype();
    plan_.strides[slot][0] = size;
  }
  void add(const Scalar& number, DType dtype) {
    const auto slot = static_cast<size_t>(plan_.operands++);
    number.store(dtype, scalars_[slot]);
    plan_.data[slot] = scalars_[slot];
    plan_.dtypes[slot] = dtype;
    plan_.strides[slot][0] = 0;
    plan_.host_operands |= 1U << slot;
  }

  // Stores parameter `index` in the opmath type of `dtype`.
  Elementwise& param(int index, const Scalar& value, DType dtype);

  [[nodiscard]] const ElementwisePlan& plan() const { return plan_; }
  [[nodiscard]] ElementwisePlan& plan() { return plan_; }

 private:
  // The facts about the output, which is operand 0.
  void begin(const Tensor& out) {
    plan_.operands = 1;
    plan_.host_operands = 0;
    plan_.numel = out.numel();
    plan_.place = place_on(out.device());
    plan_.data[0] = out.data();
    plan_.dtypes[0] = out.dtype();
    plan_.strides[0][0] = out.itemsize();
  }
  void build(const Tensor& out, std::span<const Input> inputs);
  void build_strided(const Tensor& out, std::span<const Input> inputs);

  ElementwisePlan plan_;
  // The scalar inputs, each in the slot of its operand.
  alignas(16) std::byte scalars_[kMaxOperands][16];
};

// The distance in bytes from one position of a dim to the next; 0 if the dim has no second
// position. An imported tensor may have any stride there, even one that overflows in bytes.
inline int64_t byte_stride(const Tensor& tensor, int64_t dim) {
  return tensor.size(dim) <= 1 ? 0 : tensor.stride(dim) * tensor.itemsize();
}

// Sorts the dims of a walk by the strides of its operands (largest first) and merges dims that are
// contiguous in all of them. `strides[i]` belongs to operand i. Returns the new number of dims, at
// least 1.
int32_t merge_dims(int32_t ndim, int64_t* sizes, std::span<int64_t* const> strides,
                   bool keep_order);

// Fills the iteration part of a reduction of `input` over `axes` (wrapped) into `output`. `output`
// has the reduced shape, with or without the reduced dims as size 1. `keep_order` keeps the reduced
// dims in row-major order (arg reductions).
void plan_reduction(ReducePlan& plan, ReduceOp op, const Tensor& output, const Tensor& input,
                    DimsView axes, bool keep_order);

// One axis of an indexed array: its number, its length and its stride in elements.
struct IndexedAxis {
  int64_t axis, size, stride;
};

// Plans `op` over tensors of one shape: `values`, the `array` with stride 0 along the dims that the
// indices range over, and one int64 index array for each of `axes` (at most kMaxIndices).
// `from_end`: negative indices count from the end.
void plan_index(IndexPlan& plan, IndexOp op, const Tensor& values, const Tensor& array,
                std::span<const Tensor> indices, std::span<const IndexedAxis> axes,
                bool from_end = true);

}  // namespace tsr::kernel
