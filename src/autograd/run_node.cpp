// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/run_node.h"

#include <algorithm>

#include "autograd/anomaly.h"
#include "autograd/grad_mode.h"
#include "autograd/gradient_ops.h"
#include "autograd/validate.h"
#include "base/error.h"

namespace tsr {
namespace {

Tensor checked(const Node& node, const Tensor& grad, size_t index) {
  if (!grad.defined()) return grad;
  const OutputMeta& meta = node.outputs()[index];
  TSR_CHECK(meta.exists, Code::kValue, "grads", "expected no gradient for output ", index, " of ",
            node.name(), ", which its caller skipped, got one");
  TSR_CHECK(grad.sizes() == meta.sizes, Code::kShape, "grads", "expected gradient ", index,
            " to have the shape ", meta.sizes, " of its output, got ", grad.sizes());
  TSR_CHECK(grad.device() == meta.device, Code::kDevice, "grads", "expected gradient ", index,
            " on ", meta.device, ", got one on ", grad.device());
  TSR_CHECK(is_complex(grad.dtype()) == is_complex(meta.dtype), Code::kDType, "grads",
            "expected gradient ", index, " of dtype ", meta.dtype, ", got ", grad.dtype());
  return grad.dtype() == meta.dtype ? grad : gradient_ops().cast(grad, meta.dtype);
}

uint64_t needed_inputs(const Node& node) {
  uint64_t needs = 0;
  const Edges& edges = node.next_edges();
  for (size_t i = 0; i < edges.size() && i < 64; ++i) {
    if (edges[i].node) needs |= uint64_t{1} << i;
  }
  return needs;
}

void apply(Node& node, Backward& ctx) {
  try {
    if (anomaly_mode().on) {
      apply_watched(node, ctx);
    } else {
      node.apply(ctx);
    }
  } catch (Error& error) {
    // As in a backward: where derivatives nest, the innermost node is the one to name.
    if (error.code() != Code::kCallback && !error.message().starts_with("in ")) {
      error.prepend(concat("in ", node.name(), ": "));
    }
    throw;
  }
}

}  // namespace

std::vector<Tensor> run_node(Node& node, std::span<const Tensor> grads) {
  const size_t outputs = node.outputs().size();
  TSR_CHECK(grads.size() == outputs, Code::kValue, "grads",
            "expected one gradient for each of the ", outputs, " outputs of ", node.name(),
            ", got ", grads.size());
  // Ordinary tensors also when this is asked for in inference mode.
  const GradModeScope mode({grad_enabled(), false});
  SmallVector<Tensor, 2> given;
  for (size_t k = 0; k < outputs; ++k) given.push_back(checked(node, grads[k], k));
  const Edges& edges = node.next_edges();
  std::vector<Tensor> results(edges.size());
  const auto defined = [](const Tensor& grad) { return grad.defined(); };
  if (!node.runs_on_undefined() && std::none_of(grads.begin(), grads.end(), defined)) {
    return results;
  }
  Backward ctx(node, {given.data(), given.size()}, results, needed_inputs(node));
  apply(node, ctx);
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].node) {
      results[i] = {};
    } else if (results[i].defined()) {
      fit_gradient(results[i], edges[i].node->outputs()[edges[i].output], node, i);
    }
  }
  return results;
}

}  // namespace tsr
