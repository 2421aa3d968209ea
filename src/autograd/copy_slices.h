// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CopySlices: the node of a base tensor after an in-place op has written to a view of it.
#pragma once

#include "autograd/node.h"

namespace tsr {

// Sizes, strides and offset of a view, in elements of its storage.
struct Geometry {
  Geometry(const Dims& new_sizes, const Dims& new_strides, int64_t first)
      : sizes(new_sizes), strides(new_strides), offset(first) {}
  explicit Geometry(const Tensor& tensor)
      : Geometry(tensor.sizes(), tensor.strides(), tensor.offset()) {}
  // The same place in each of so many pieces of `length` elements that follow each other: with an
  // axis of samples in front (Note [Batched backward]).
  [[nodiscard]] Geometry of_samples(int64_t samples, int64_t length) const;
  Dims sizes;
  Dims strides;
  int64_t offset;
};

// Runs the op's node on the part of the base's gradient that belongs to the view, and replaces that
// part by the gradient of the view's old value. The rest of the gradient passes unchanged.
class CopySlices final : public Node {
 public:
  // `fn` is the op's node; its output `output` was written into `view`, its input `input`. That
  // input's gradient goes to `base_edge` as a part of the base's.
  CopySlices(const Tensor& base, const Edge& base_edge, const Tensor& view, NodePtr fn,
             uint32_t output, size_t input);
  // `fn` may live on: the host can hold the node of a custom function.
  ~CopySlices() override { fn_->set_outer(nullptr); }

  void apply(Backward& ctx) override;
  void release() noexcept override;
  [[nodiscard]] bool takes_batches() const noexcept override { return fn_->takes_batches(); }
  [[nodiscard]] const Node* part() const noexcept override { return fn_.get(); }
  void record_saved_use() const override { fn_->record_saved_use(); }

 protected:
  // The view's new value, seen from the base's new value.
  [[nodiscard]] Edge output_edge(uint32_t index) const override;

 private:
  [[nodiscard]] Tensor run_fn(Backward& ctx, const Tensor& slice);

  Geometry base_;
  Geometry view_;
  NodePtr fn_;
  uint32_t output_;
  size_t input_;
};

// The node of a view: takes its gradient back to the base. Both share one storage.
NodePtr make_strided_node(const Edge& source_edge, const Geometry& source, const Tensor& window);

}  // namespace tsr
