// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode: levels, dual tensors, and where tangents live.
#pragma once

#include <cstdint>

#include "autograd/grad_mode.h"
#include "tensor/tensor.h"

namespace tsr {

struct TensorRecord;

// Note [Forward mode]
// A dual tensor has a tangent: its derivative in the direction that make_dual has chosen. The
// RECORD step of every op computes the tangents of the outputs from those of the inputs (record.h),
// also in no_grad mode. Tangents belong to a level. A thread opens levels inside each other, and
// the tangent of a level may itself have tangents of the levels around it: while the tangent of a
// level is computed, ops see only the levels outside it, so that derivatives of derivatives in
// different directions are never mixed up.
// A tangent lives in a cell of the tensor's record. A view that autograd tracks has no cell: its
// tangent is the same view of its base's tangent, which therefore has the base's layout as soon as
// there is a view; a write through any view reaches both. The end of a level clears its cells, also
// those of tensors that nodes have saved, whose tangents may lead back to the nodes.

// Levels have numbers that are never used again; this stands for the innermost one.
inline constexpr int64_t kInnermostLevel = -1;

// Opens a level inside the levels of this thread.
int64_t enter_forward_level();
// Throws kAutograd unless the level is the innermost one of this thread.
void exit_forward_level(int64_t level);
// The innermost level that ops of this thread see; kInnermostLevel if there is none.
[[nodiscard]] int64_t current_forward_level() noexcept;

// An alias of `primal`, with its history, that has `tangent` at `level`. Throws kAutograd for a
// level that is not open on this thread, a primal that has a tangent there already, a tangent that
// has one there or at an inner level; kDType, kShape, kDevice for a tangent that does not fit.
Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t level = kInnermostLevel);
struct Unpacked {
  Tensor primal;   // an alias of the dual, with its history, without tangent at the level
  Tensor tangent;  // undefined: none, which means zero
};
Unpacked unpack_dual(const Tensor& dual, int64_t level = kInnermostLevel);

// Forward mode off for a scope: ops treat duals as ordinary tensors.
class ForwardOff {
 public:
  ForwardOff() noexcept : ForwardOff(true) {}
  explicit ForwardOff(bool off) noexcept : previous_(t_forward_mode.off) { set(off); }
  ForwardOff(const ForwardOff&) = delete;
  ForwardOff& operator=(const ForwardOff&) = delete;
  ~ForwardOff() { set(previous_); }

 private:
  static void set(bool off) noexcept {
    t_forward_mode.off = off;
    update_record_mask();
  }
  bool previous_;
};

// Neither history nor tangents, for an op that computes its value from other ops and records the
// whole.
struct Unrecorded {
  NoGrad no_grad;
  ForwardOff no_tangents;
};

// ---- for the RECORD step ----

// In it ops see only the levels outside `level`. `plain`: in no_grad mode too.
class BelowLevel {
 public:
  explicit BelowLevel(const ForwardLevel& level, bool plain = false) noexcept;
  BelowLevel(const BelowLevel&) = delete;
  BelowLevel& operator=(const BelowLevel&) = delete;
  ~BelowLevel();

 private:
  ForwardLevel* before_;
  bool record_;
};

[[nodiscard]] ForwardLevel* outer_level(const ForwardLevel& level) noexcept;
[[nodiscard]] int64_t number_of(const ForwardLevel& level) noexcept;
// The level of that number, if it is open on this thread and ops may see it, else null. What
// outlives a call of the library keeps numbers: a level may end at any time between two calls.
[[nodiscard]] ForwardLevel* find_level(int64_t number) noexcept;
// Undefined: none.
[[nodiscard]] Tensor tangent_of(const Tensor& tensor, const ForwardLevel& level);
// The same without a reference, in the common case that the tensor is no view and has one tangent;
// null: another case, or none. Valid until the tensor or its tangent changes.
[[nodiscard]] TensorImpl* lent_tangent(const Tensor& tensor, const ForwardLevel& level) noexcept;
// Whether the tensor has a tangent at a level that ops see.
[[nodiscard]] bool has_tangent(const Tensor& tensor);
// Replaces the tangent, whose shape must broadcast to the tensor's; undefined: zero. Call it under
// BelowLevel.
void set_tangent(const Tensor& tensor, ForwardLevel& level, Tensor tangent);
// The same for a tensor that is no view and a defined tangent of its shape and dtype; needs no
// BelowLevel.
void set_fitting_tangent(const Tensor& tensor, ForwardLevel& level, Tensor tangent);
// Gives `to`, another tensor of the same shape and dtype, the tangents of `from`.
void copy_tangents(const Tensor& from, const Tensor& to);
// As Tensor::detached, with the tangents.
[[nodiscard]] Tensor detached_dual(const Tensor& tensor);
// `tensor` cast and broadcast, so that it can stand for a tangent of a tensor like that.
[[nodiscard]] Tensor fit_tangent(Tensor tensor, DimsView sizes, DType dtype);

// For the end of a tensor that has cells.
void drop_cells(TensorRecord& record) noexcept;
// Frees the memory of a record that has been destroyed, and what stands behind it if it is `wide`.
void free_block(TensorRecord* record, bool wide) noexcept;

}  // namespace tsr
