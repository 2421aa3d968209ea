// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Out and Result: where an op writes. One op function serves the functional, the out= and the
// in-place form.
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
  // The out= form: writes into `dst`. One of another shape gets the memory of the result instead of
  // its own.
  static Out into(const Tensor& dst) { return Out(&dst, false); }
  // The in-place form: writes into the op's own first argument, whose shape and dtype stay.
  static Out inplace(const Tensor& input) { return Out(&input, true); }

  [[nodiscard]] bool is_fresh() const { return tensor_ == nullptr; }
  [[nodiscard]] bool is_inplace() const { return inplace_; }
  [[nodiscard]] const Tensor& tensor() const { return *tensor_; }

 private:
  Out(const Tensor* tensor, bool inplace) : tensor_(tensor), inplace_(inplace) {}
  const Tensor* tensor_ = nullptr;
  bool inplace_ = false;
};

// What the kernel writes, and what becomes of it.
class Result {
 public:
  explicit Result(Tensor value) : value_(std::move(value)) {}
  Result(Tensor value, Tensor target) : value_(std::move(value)), target_(std::move(target)) {}

  // The memory for LAUNCH: of the dtype and shape that were asked for.
  [[nodiscard]] const Tensor& value() const { return value_; }
  // The op's return value: the fresh tensor, or the caller's, into which a detour through other
  // memory (another dtype, overlapping memory) is copied now; one of another shape takes the memory
  // over. Call once, after LAUNCH and before RECORD.
  Tensor finish();

 private:
  Tensor value_;
  Tensor target_;
};

// ALLOCATE: a result of this shape and dtype in the form that `out` asks for. `recording` is
// needs_grad of the op's inputs. The inputs are looked at for two things: a fresh result takes the
// memory order of the first input of its shape, and a caller's tensor that overlaps an input
// otherwise than element on element gets a detour. Throws: kShape when an in-place form would
// change the shape; kDType when the result's category does not fit the caller's tensor; kValue when
// that overlaps itself; kAutograd and kValue as begin_inplace and begin_out do.
Result allocate(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                std::initializer_list<const Tensor*> inputs);
// As above, for kernels that do not work element on element (matmul, reductions, indexing): every
// overlap with an input gets a detour, and a fresh result is row-major; a caller's tensor that is
// not row-major gets a detour too when `contiguous`.
Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      std::initializer_list<const Tensor*> inputs, bool contiguous = false);
// As above for a list of inputs.
Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      std::span<const Tensor> inputs, bool contiguous = false);
// For kernels that cannot write the caller's tensor: `value` is fresh memory of the result's shape
// and dtype; `out` is not fresh.
Result allocate_detour(const Out& out, Tensor value, bool recording);
// The result of an op that other ops have computed, in the form that `out` asks for; `recording` is
// needs_grad of the op's inputs.
Tensor deliver(const Tensor& value, const Out& out, bool recording);

// How the memory of two tensors lies: apart, the same places element on element, or neither (as far
// as the reach of their layouts tells). Storages of foreign memory may share it, so addresses
// count.
enum class Overlap { kNone, kSame, kSome };
Overlap overlap_of(const Tensor& a, const Tensor& b);

// For ops with two results: throws kValue when both are to be written to the same memory.
void check_apart(const Out& first, const char* first_arg, const Out& second,
                 const char* second_arg);

// Throws kDevice unless all defined tensors are on one device.
void check_same_device(const Tensor& first, const Tensor& second, const char* arg);

}  // namespace tsr::ops
