// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Out and Result: where an op writes. One op function serves the functional form, the out= form and
// the in-place form.
#pragma once

#include <initializer_list>
#include <span>

#include "autograd/record.h"
#include "autograd/view.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// The last argument of every op. `Out{}` asks for a fresh tensor.
class Out {
 public:
  Out() = default;
  // The out= form: writes into `dst`. If `dst` has another shape, it gets the memory of the result.
  static Out into(const Tensor& dst) { return Out(&dst, false); }
  // The in-place form: writes into the op's own first argument, which keeps its shape and dtype.
  static Out inplace(const Tensor& input) { return Out(&input, true); }

  [[nodiscard]] bool is_fresh() const { return tensor_ == nullptr; }
  [[nodiscard]] bool is_inplace() const { return inplace_; }
  [[nodiscard]] const Tensor& tensor() const { return *tensor_; }

 private:
  Out(const Tensor* tensor, bool inplace) : tensor_(tensor), inplace_(inplace) {}
  const Tensor* tensor_ = nullptr;
  bool inplace_ = false;
};

// The tensor that the kernel writes, and what is done with it afterwards.
class Result {
 public:
  explicit Result(Tensor value) : value_(std::move(value)) {}
  Result(Tensor value, Tensor target) : value_(std::move(value)), target_(std::move(target)) {}

  // The memory for LAUNCH, with the dtype and shape that were asked for.
  [[nodiscard]] const Tensor& value() const { return value_; }
  // The op's return value: the fresh tensor or the caller's tensor. A detour (the kernel wrote
  // other memory because of another dtype or an overlap) is copied into the caller's tensor now; a
  // caller's tensor of another shape takes over the new memory. Call once, after LAUNCH and before
  // RECORD.
  Tensor finish();

 private:
  Tensor value_;
  Tensor target_;
};

// ALLOCATE: a result of this shape and dtype in the form that `out` asks for. `recording` is
// needs_grad of the op's inputs. The inputs matter twice: a fresh result takes the memory order of
// the first input of its shape, and a caller's tensor gets a detour if it overlaps an input, unless
// both are the same elements. Throws kShape if an in-place form would change the shape; kDType if
// the result's category does not fit the caller's tensor; kValue if the caller's tensor overlaps
// itself; and the errors of begin_inplace and begin_out.
Result allocate(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                std::initializer_list<const Tensor*> inputs);
// As above, for kernels that do not work element by element (matmul, reductions, indexing): every
// overlap with an input needs a detour, and a fresh result is row-major. With `contiguous`, a
// caller's tensor that is not row-major also gets a detour.
Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      std::initializer_list<const Tensor*> inputs, bool contiguous = false);
// As above for a list of inputs.
Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      std::span<const Tensor> inputs, bool contiguous = false);
// For kernels that cannot write the caller's tensor: `value` is fresh memory of the result's shape
// and dtype; `out` is not fresh.
Result allocate_detour(const Out& out, Tensor value, bool recording);
// Delivers a result that other ops have computed, in the form that `out` asks for. `recording` is
// needs_grad of the op's inputs.
Tensor deliver(const Tensor& value, const Out& out, bool recording);

// How the memory of two tensors overlaps: not at all, exactly (the same elements), or in some other
// way, judged by the extents of their layouts. Compares addresses, because two storages may wrap
// the same foreign memory.
enum class Overlap { kNone, kSame, kSome };
Overlap overlap_of(const Tensor& a, const Tensor& b);

// For ops with two results: throws kValue if both would be written to the same memory.
void check_apart(const Out& first, const char* first_arg, const Out& second,
                 const char* second_arg);

// Throws kDevice unless all defined tensors are on one device.
void check_same_device(const Tensor& first, const Tensor& second, const char* arg);
// Throws kDevice, kDType unless `tensor`, the argument `arg`, has the device and the dtype of
// `input`; with a rank also kShape unless it has this many dims.
void check_like(const Tensor& tensor, const char* arg, const Tensor& input);
void check_like(const Tensor& tensor, const char* arg, const Tensor& input, int64_t rank);

}  // namespace tsr::ops
