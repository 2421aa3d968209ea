// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/result.h"

#include <algorithm>

#include "base/error.h"
#include "ops/create/copy.h"

namespace tsr::ops {

Overlap overlap_of(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return Overlap::kNone;
  if (a.storage() == b.storage() && a.data() == b.data() && a.dtype() == b.dtype() &&
      a.sizes() == b.sizes() && a.strides() == b.strides()) {
    return Overlap::kSame;
  }
  // Two storages may wrap the same foreign memory, so compare addresses, not storages.
  const Extent x = extent_of(a.sizes(), a.strides());
  const Extent y = extent_of(b.sizes(), b.strides());
  const char* first = a.data_as<char>();
  const char* second = b.data_as<char>();
  const bool apart = first + x.high * a.itemsize() <= second + y.low * b.itemsize() ||
                     second + y.high * b.itemsize() <= first + x.low * a.itemsize();
  return apart ? Overlap::kNone : Overlap::kSome;
}

namespace {

bool needs_detour(const Tensor& target, const Tensor& input, bool allow_same) {
  if (!input.defined()) return false;
  const Overlap overlap = overlap_of(target, input);
  return overlap == Overlap::kSome || (overlap == Overlap::kSame && !allow_same);
}

bool needs_detour(const Tensor& target, std::initializer_list<const Tensor*> inputs,
                  bool allow_same) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Tensor* input) { return needs_detour(target, *input, allow_same); });
}

void check_target(const Tensor& target, DType dtype, Device device, const char* arg) {
  TSR_CHECK(target.device() == device, Code::kDevice, arg, "expected a tensor on ", device,
            ", got one on ", target.device());
  TSR_CHECK(category(dtype) <= category(target.dtype()), Code::kDType, arg,
            "expected a tensor that can hold a ", dtype, " result, got ", target.dtype());
}

void check_places(const Tensor& target, const char* arg) {
  TSR_CHECK(!may_overlap_itself(target.sizes(), target.strides()), Code::kValue, arg,
            "expected a tensor without overlapping elements, got strides ", target.strides(),
            " for shape ", target.sizes(), "; clone() it first");
}

// Note [Results of another shape]
// A caller's tensor whose shape must change is not changed before the result is complete: it may be
// an input, share memory with an input, have views, or be saved for a backward. The result is
// computed into new memory, which finish() gives to the tensor. Memory of other tensors does not
// change.

// Checks that the caller's tensor can take the result, and tells autograd. Returns true if its
// memory will be written (its version is raised), false if its shape differs and it will get new
// memory.
bool prepare_target(const Out& out, DimsView shape, DType dtype, Device device, bool recording) {
  const Tensor& target = out.tensor();
  const char* arg = out.is_inplace() ? "input" : "dst";
  check_target(target, dtype, device, arg);
  const bool same_shape =
      std::equal(shape.begin(), shape.end(), target.sizes().begin(), target.sizes().end());
  TSR_CHECK(same_shape || !out.is_inplace(), Code::kShape, arg, "expected a result of shape ",
            target.sizes(), " for the in-place form, got ", shape);
  if (same_shape) check_places(target, arg);
  if (out.is_inplace()) {
    begin_inplace(target, recording);
  } else if (same_shape) {
    begin_out(target, recording);
  } else {
    begin_replace(target, recording);
  }
  return same_shape;
}

// Gives the target the memory and the layout of `value`, which nobody else owns. The version number
// continues, so that a node that saved the target sees that it has changed.
void replace_memory(const Tensor& target, const Tensor& value) {
  TensorImpl& impl = *target.impl();
  value.storage()->version.store(target.version() + 1, std::memory_order_relaxed);
  impl.storage = value.storage();
  impl.set_layout(value.sizes(), value.strides(), value.offset());
  leave_base(target);
}

Tensor fresh_like(DimsView shape, DType dtype, Device device,
                  std::initializer_list<const Tensor*> inputs) {
  for (const Tensor* input : inputs) {
    if (!input->defined()) continue;
    const Dims& sizes = input->sizes();
    // The shape is mostly that of an input, and not a copy of it.
    const bool own = shape.data() == sizes.data();
    if (!own && !std::equal(shape.begin(), shape.end(), sizes.begin(), sizes.end())) continue;
    // Keep strides that are positive and leave no gap.
    if (input->is_contiguous()) return empty_dense_like(*input, dtype, device);
    if (!is_dense(sizes, input->strides())) break;
    return empty_strided(shape, dense_strides_like(shape, input->strides()), dtype, device);
  }
  return empty(shape, dtype, device);
}

}  // namespace

Tensor Result::finish() {
  if (!target_.defined()) return std::move(value_);
  if (target_.sizes() == value_.sizes()) {
    copy_memory(target_, value_);
  } else {
    replace_memory(target_, cast_memory(value_, target_.dtype()));
  }
  return std::move(target_);
}

Result allocate(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                std::initializer_list<const Tensor*> inputs) {
  if (out.is_fresh()) return Result(fresh_like(shape, dtype, device, inputs));
  const bool kept = prepare_target(out, shape, dtype, device, recording);
  if (kept && out.tensor().dtype() == dtype && !needs_detour(out.tensor(), inputs, true))
    return Result(out.tensor());
  return Result(fresh_like(shape, dtype, device, inputs), out.tensor());
}

namespace {

Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      bool overlaps, bool contiguous) {
  const bool kept = prepare_target(out, shape, dtype, device, recording);
  const Tensor& target = out.tensor();
  if (kept && !overlaps && target.dtype() == dtype && (target.is_contiguous() || !contiguous))
    return Result(target);
  return Result(empty(shape, dtype, device), target);
}

}  // namespace

Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      std::initializer_list<const Tensor*> inputs, bool contiguous) {
  if (out.is_fresh()) return Result(empty(shape, dtype, device));
  const bool overlaps = needs_detour(out.tensor(), inputs, false);
  return allocate_apart(out, shape, dtype, device, recording, overlaps, contiguous);
}

Result allocate_apart(const Out& out, DimsView shape, DType dtype, Device device, bool recording,
                      std::span<const Tensor> inputs, bool contiguous) {
  if (out.is_fresh()) return Result(empty(shape, dtype, device));
  const bool overlaps = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
    return needs_detour(out.tensor(), input, false);
  });
  return allocate_apart(out, shape, dtype, device, recording, overlaps, contiguous);
}

Result allocate_detour(const Out& out, Tensor value, bool recording) {
  prepare_target(out, value.sizes(), value.dtype(), value.device(), recording);
  return Result(std::move(value), out.tensor());
}

Tensor deliver(const Tensor& value, const Out& out, bool recording) {
  if (out.is_fresh()) return value;
  Result result =
      allocate_apart(out, value.sizes(), value.dtype(), value.device(), recording, {&value});
  copy_memory(result.value(), value);
  return result.finish();
}

void check_apart(const Out& first, const char* first_arg, const Out& second,
                 const char* second_arg) {
  if (first.is_fresh() || second.is_fresh()) return;
  TSR_CHECK(!first.tensor().is_same(second.tensor()) &&
                overlap_of(first.tensor(), second.tensor()) == Overlap::kNone,
            Code::kValue, second_arg, "expected a tensor that shares no memory with `", first_arg,
            "`, because each result needs a place of its own, got the same memory for `", first_arg,
            "` and `", second_arg, "`");
}

void check_same_device(const Tensor& first, const Tensor& second, const char* arg) {
  TSR_CHECK(!first.defined() || !second.defined() || first.device() == second.device(),
            Code::kDevice, arg, "expected a tensor on ", first.device(), ", got one on ",
            second.device());
}

void check_like(const Tensor& tensor, const char* arg, const Tensor& input) {
  check_same_device(input, tensor, arg);
  TSR_CHECK(tensor.dtype() == input.dtype(), Code::kDType, arg, "expected ", input.dtype(),
            " as input, got ", tensor.dtype());
}

void check_like(const Tensor& tensor, const char* arg, const Tensor& input, int64_t rank) {
  check_like(tensor, arg, input);
  TSR_CHECK(tensor.ndim() == rank, Code::kShape, arg, "expected ", rank,
            rank == 1 ? " dimension, got shape " : " dimensions, got shape ", tensor.sizes());
}

}  // namespace tsr::ops
