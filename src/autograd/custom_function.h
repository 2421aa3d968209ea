// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Custom functions: differentiable operations whose derivative lives outside the library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "autograd/node.h"
#include "autograd/record.h"

namespace tsr {

class CustomNode;

// What the user implements. The destructor releases the user's data; it runs exactly once, together
// with the node's.
class CustomFunction {
 public:
  CustomFunction() = default;
  CustomFunction(const CustomFunction&) = delete;
  CustomFunction& operator=(const CustomFunction&) = delete;
  virtual ~CustomFunction() = default;

  // grads: one per output; undefined entries only with set_materialize_grads(false). Fills
  // `results`, one per input; undefined means zero. Runs on the thread that called backward. May
  // throw.
  virtual void backward(CustomNode& node, std::span<const Tensor> grads,
                        std::span<Tensor> results) = 0;
  // Whether the function has a rule for forward mode; if not, dual inputs are refused.
  [[nodiscard]] virtual bool has_jvp() const noexcept { return false; }
  // tangents: one per input; fills `results`, one per output. Undefined means zero. Runs in attach.
  virtual void jvp(CustomNode& node, std::span<const Tensor> tangents, std::span<Tensor> results);
  // The objects of the host language that this function owns.
  [[nodiscard]] virtual HostData host_data() const noexcept { return {}; }
};

// Node form: the forward runs in the host language, under no_grad, then
//   create(inputs) ; save(...) ; mark_...(...) ; attach(outputs)
// When no input needs grad, the node is in no graph: save() and attach() then do nothing, so that
// callers need no second code path. With dual inputs, attach() also sets the tangents of the
// outputs; the forward must run under ForwardOff then.
class CustomNode final : public Node {
 public:
  static IntrusivePtr<CustomNode> create(std::string name, std::span<const Tensor> inputs,
                                         std::unique_ptr<CustomFunction> function);

  // Whether any input needs grad, and each one.
  [[nodiscard]] bool records() const noexcept { return records_; }
  [[nodiscard]] bool needs_input_grad(size_t input) const;

  // Inputs, outputs or anything else; read back by saved(i) in backward. Undefined is allowed.
  void save(std::span<const Tensor> tensors);
  // What jvp reads, until attach has run it; nothing checks it against in-place writes.
  void save_for_forward(std::span<const Tensor> tensors);
  [[nodiscard]] const Tensor& saved_for_forward(size_t index) const;
  // Inputs that the forward wrote in place; they must be given to attach as outputs.
  void mark_dirty(std::span<const Tensor> tensors);
  // Outputs without gradient.
  void mark_non_differentiable(std::span<const Tensor> outputs);
  // Whether undefined gradients reach backward as zeros (default).
  void set_materialize_grads(bool value) noexcept { materialize_ = value; }
  // The derivative is not itself differentiable: differentiating it raises.
  void set_once_differentiable(bool value) noexcept { once_ = value; }
  // Once. Makes `outputs` the results of this node. Throws kAutograd when an output is an input
  // that was not marked dirty, when a dirty input is not among the outputs, when a dirty view is
  // one of several differentiable outputs (the node is then a part of its base's), and when a level
  // of forward mode at which an input was dual is no longer open, or is another thread's.
  void attach(std::span<const Tensor> outputs);

  [[nodiscard]] CustomFunction& function() const noexcept { return *function_; }
  void apply(Backward& ctx) override;
  [[nodiscard]] bool runs_on_undefined() const noexcept override { return true; }
  [[nodiscard]] HostData host_data() const noexcept override { return function_->host_data(); }

 private:
  CustomNode(std::string name, std::span<const Tensor> inputs,
             std::unique_ptr<CustomFunction> function);
  void check_outputs(std::span<const Tensor> outputs) const;
  void check_dirty_views(std::span<const Tensor> outputs) const;
  [[nodiscard]] bool has_gradient(const Tensor& output) const noexcept;
  [[nodiscard]] ForwardLevel& open_level(int64_t number) const;
  void check_result(const Tensor& result, size_t input) const;
  void check_tangent(const Tensor& result, size_t output) const;
  void save_pending(std::span<const Tensor> outputs);
  [[nodiscard]] SavedTensor make_saved(const Tensor& tensor, std::span<const Tensor> outputs) const;
  void attach_output(const Tensor& output, uint32_t index);
  void record_outputs(std::span<const Tensor> outputs);
  void keep_tangents();
  void push_forward(std::span<const Tensor> outputs);
  [[nodiscard]] bool is_dirty(const Tensor& tensor) const noexcept;
  void forget_arguments() noexcept;

  std::string text_;
  std::unique_ptr<CustomFunction> function_;
  SmallVector<bool, 8> needs_;
  std::vector<Tensor> inputs_;  // until attach
  std::vector<Tensor> forward_saved_;
  // The tangents of the inputs before the forward wrote in place, by the number of their level;
  // until attach.
  std::vector<std::pair<int64_t, std::vector<Tensor>>> tangents_;
  std::vector<Tensor> pending_;  // saved before attach
  // What the marks named, held until attach: a tensor that is gone would lend its address to
  // another.
  std::vector<Tensor> dirty_;
  std::vector<Tensor> non_differentiable_;
  bool records_ = false;
  bool attached_ = false;
  bool materialize_ = true;
  bool once_ = false;
};

}  // namespace tsr
