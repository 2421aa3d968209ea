// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CopySlices: the node of a tensor of which an op has rewritten a part through a view.
#pragma once

#include "autograd/node.h"

namespace tsr {

// A window on a storage, in elements.
struct Geometry {
  explicit Geometry(const Tensor& tensor)
      : sizes(tensor.sizes()), strides(tensor.strides()), offset(tensor.offset()) {}
  Dims sizes;
  Dims strides;
  int64_t offset;
};

// Runs the op's node on the part of the gradient that belongs to the view, and replaces that part
// by what the op passes on to the view's old value; the rest of the gradient goes through
// unchanged.
class CopySlices final : public Node {
 public:
  // `fn` is the op's node; its output `output` was written into `view`, its input `input`. That
  // input's gradient goes to `base_edge` as a part of the base's.
  CopySlices(const Tensor& base, const Edge& base_edge, const Tensor& view, NodePtr fn,
             uint32_t output, size_t input);

  void apply(Backward& ctx) override;
  void release() noexcept override;
  [[nodiscard]] HostData host_data() const noexcept override { return fn_->host_data(); }

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

// The node that leads from a window back to the tensor it was cut from, both on one storage.
NodePtr make_strided_node(const Edge& source_edge, const Geometry& source, const Tensor& window);

}  // namespace tsr
