// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// record: the RECORD step of an op. Builds the node, connects it to the inputs' nodes, saves what
// the derivative needs and makes the outputs part of the graph.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <span>
#include <utility>

#include "autograd/forward_rule.h"
#include "autograd/grad_mode.h"
#include "autograd/node.h"

namespace tsr {

// Borrowed tensors, written {a, b} or given as a span.
class TensorRefs {
 public:
  struct Ref {
    Ref(const Tensor& value) noexcept : tensor(&value) {}
    const Tensor* tensor;
  };
  TensorRefs(std::initializer_list<Ref> refs) noexcept
      : refs_(std::data(refs)), count_(refs.size()) {}
  // A span, vector or array of tensors.
  template <class Range>
  requires std::convertible_to<const Range&, std::span<const Tensor>> TensorRefs(const Range& range)
  noexcept {
    const std::span<const Tensor> tensors(range);
    tensors_ = tensors.data();
    count_ = tensors.size();
  }

  [[nodiscard]] size_t size() const noexcept { return count_; }
  const Tensor& operator[](size_t i) const noexcept {
    return refs_ != nullptr ? *refs_[i].tensor : tensors_[i];
  }

 private:
  const Ref* refs_ = nullptr;
  const Tensor* tensors_ = nullptr;
  size_t count_ = 0;
};

// What the derivative will read as ctx.saved(0), ctx.saved(1), ...
struct Save {
  const Tensor* tensor;
  const Tensor* input;  // the input whose value it is; null for outputs
};
// An input, or a tensor the op made for its own use (a mask, statistics). May be undefined.
inline Save save_input(const Tensor& tensor) noexcept {
  return {&tensor, &tensor};
}
// The value that `input` had before the in-place form wrote it: a copy from copy_before_write.
inline Save save_input(const Tensor& copy, const Tensor& input) noexcept {
  return {&copy, &input};
}
// One of the outputs given to record.
inline Save save_output(const Tensor& output) noexcept {
  return {&output, nullptr};
}

// What a derivative that reads its input must save when the input is also the target: call it under
// needs_grad, before begin_inplace.
Tensor copy_before_write(const Tensor& target);

class Saves {
 public:
  Saves(std::initializer_list<Save> saves) noexcept
      : data_(std::data(saves)), count_(saves.size()) {}
  Saves(std::span<const Save> saves) noexcept : data_(saves.data()), count_(saves.size()) {}
  template <size_t N>
  Saves(const std::array<Save, N>& saves) noexcept : data_(saves.data()), count_(N) {}
  [[nodiscard]] const Save* begin() const noexcept { return data_; }
  [[nodiscard]] const Save* end() const noexcept { return data_ + count_; }
  [[nodiscard]] size_t size() const noexcept { return count_; }

 private:
  const Save* data_;
  size_t count_;
};

// What an op that writes into its arguments calls under needs_grad, before the first write, with
// the saves that it will give to record (outputs may be among them): throws what record would
// throw for them, while nothing has changed yet.
void check_saves(Saves saves);

namespace detail {
// Takes over the node's first reference, also when it throws. `rule` may be null.
void connect(Node* node, TensorRefs outputs, TensorRefs inputs, Saves saves,
             const ForwardRule* rule);
// The common case of forward mode, for which no node is made: an output in new memory, and the case
// of LoneTangents. False: another case, and nothing has been done. Call it under forward_enabled().
bool push_alone(const Tensor& output, const TensorRefs& inputs, const Saves& saves,
                const ForwardRule& rule);
// record of an elementwise derivative with forward mode on. Out of line, so that record stays small
// enough to be inlined.
template <class F>
[[gnu::noinline]] void record_dual(const Tensor& output, const char* name, TensorRefs inputs,
                                   Saves saves, F derivative) {
  using Batches = TakesBatches<F>;
  const ForwardRule rule(kElementwise, derivative);
  if (push_alone(output, inputs, saves, rule)) return;
  connect(new LambdaNode<Batches>(name, Batches{derivative}), {output}, inputs, saves, &rule);
}
}  // namespace detail

// The tangents of an op's inputs in the common case of forward mode: at most four inputs, one
// level, and no input that requires grad. For ops that compute the tangent of their only output
// together with it; they call no record in this case.
class LoneTangents {
 public:
  LoneTangents() = default;
  LoneTangents(const LoneTangents&) = delete;
  LoneTangents& operator=(const LoneTangents&) = delete;
  ~LoneTangents();

  // False: another case.
  bool find(const TensorRefs& inputs) { return look(inputs, false); }
  // The same without references of its own, which cost more than a short row: for an op that only
  // reads the memory of the tangents, and does not hand them on.
  bool borrow(const TensorRefs& inputs) { return look(inputs, true); }
  // Of input i; undefined: zero.
  [[nodiscard]] const Tensor& operator[](size_t i) const noexcept { return tangents_[i]; }
  [[nodiscard]] std::span<const Tensor> all() const noexcept { return {tangents_.data(), count_}; }
  [[nodiscard]] bool any() const noexcept;
  // Whether no tangent can require grad, so that nothing of the computation is to be recorded.
  [[nodiscard]] bool are_plain() const noexcept;
  // For an output that is no view and a tangent of its shape and dtype.
  void give(const Tensor& output, Tensor tangent) const;

 private:
  bool look(const TensorRefs& inputs, bool borrow);

  std::array<Tensor, 4> tangents_;
  uint32_t borrowed_ = 0;  // bit i: tangents_[i] is not a reference
  size_t count_ = 0;
};

// Call only under needs_grad(inputs...), after LAUNCH:
//   record(result, "MulBackward", {a, b}, {save_input(a), save_input(b)}, [](Backward& ctx) {
//     if (ctx.needs(0)) ctx.set(0, ops::multiply(ctx.grad(), ctx.saved(1)));
//     if (ctx.needs(1)) ctx.set(1, ops::multiply(ctx.grad(), ctx.saved(0)));
//   });
// - `derivative` holds attributes by value and no tensor; tensors go through `saves`.
// - Outputs of integer or bool dtype, and undefined ones, take no part.
// - An output that is also an input is the in-place form: the tensor gets the new history. An input
//   that the write has destroyed cannot be saved as it is: a backward through it would raise. Where
//   the derivative needs the old value, the op saves a copy: save_input(copy, input).
// - The gradient set for an input may have any shape that sums to the input's, and any dtype.
// - With forward mode on, also sets the tangents of the outputs: Note [Rules of forward mode].
// Throws kAutograd when a tensor of inference mode is saved.
template <class F>
void record(const Tensor& output, const char* name, TensorRefs inputs, Saves saves, F derivative) {
  detail::connect(new LambdaNode<F>(name, std::move(derivative)), {output}, inputs, saves, nullptr);
}
template <class F>
void record(const Tensor& output, const char* name, TensorRefs inputs, Saves saves, F derivative,
            const ForwardRule& rule) {
  if (forward_enabled() && detail::push_alone(output, inputs, saves, rule)) [[unlikely]]
    return;
  detail::connect(new LambdaNode<F>(name, std::move(derivative)), {output}, inputs, saves, &rule);
}
// An elementwise derivative also takes batches. Inlined always: it is short, and a call would copy
// the derivative.
template <class F>
[[gnu::always_inline]] inline void record(const Tensor& output, const char* name, TensorRefs inputs,
                                          Saves saves, F derivative, ForwardRule::Elementwise) {
  if (forward_enabled()) [[unlikely]]
    return detail::record_dual(output, name, inputs, saves, std::move(derivative));
  using Batches = TakesBatches<F>;
  detail::connect(new LambdaNode<Batches>(name, Batches{std::move(derivative)}), {output}, inputs,
                  saves, nullptr);
}

// As record, for several outputs: ctx.grad(k) belongs to outputs[k] and may be undefined.
template <class F>
void record_outputs(TensorRefs outputs, const char* name, TensorRefs inputs, Saves saves,
                    F derivative) {
  detail::connect(new LambdaNode<F>(name, std::move(derivative)), outputs, inputs, saves, nullptr);
}
template <class F>
void record_outputs(TensorRefs outputs, const char* name, TensorRefs inputs, Saves saves,
                    F derivative, const ForwardRule& rule) {
  detail::connect(new LambdaNode<F>(name, std::move(derivative)), outputs, inputs, saves, &rule);
}

}  // namespace tsr
