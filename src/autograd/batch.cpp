// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/batch.h"

#include <algorithm>
#include <vector>

#include "autograd/gradient_ops.h"
#include "autograd/validate.h"
#include "autograd/view.h"
#include "base/error.h"

namespace tsr {
namespace {

// Drops the axes of size 1 behind the axis of samples.
Tensor without_padding(const Tensor& grad, DimsView sizes) {
  const auto padding = static_cast<size_t>(grad.ndim()) - sizes.size();
  if (padding == 0) return grad;
  Dims strides{grad.stride(0)};
  for (size_t d = 1 + padding; d < grad.sizes().size(); ++d) strides.push_back(grad.strides()[d]);
  return as_strided_view(grad, sizes, strides, grad.offset());
}

// Stacks one tensor of each sample; undefined ones count as zeros. Undefined if all are.
Tensor stacked(std::vector<Tensor>& rows, const OutputMeta& meta) {
  const bool any =
      std::any_of(rows.begin(), rows.end(), [](const Tensor& row) { return row.defined(); });
  if (!any) return {};
  for (Tensor& row : rows) {
    if (!row.defined()) row = gradient_ops().zeros(meta.sizes, meta.dtype, meta.device);
  }
  return gradient_ops().stack(rows);
}

}  // namespace

int64_t count_samples(std::span<const Tensor> grads) {
  int64_t samples = Backward::kNoBatch;
  for (const Tensor& grad : grads) {
    if (!grad.defined()) continue;
    TSR_CHECK(grad.ndim() > 0, Code::kShape, "grads",
              "expected gradients with an axis of samples in front, got one without axes");
    if (samples == Backward::kNoBatch) samples = grad.size(0);
    TSR_CHECK(grad.size(0) == samples, Code::kShape, "grads",
              "expected gradients of one number of samples, got ", samples, " and ", grad.size(0));
  }
  TSR_CHECK(samples != Backward::kNoBatch, Code::kValue, "grads",
            "expected at least one gradient with an axis of samples in front, got none");
  TSR_CHECK(samples > 0, Code::kValue, "grads", "expected at least one sample, got 0");
  return samples;
}

void fit_batch(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input,
               int64_t samples) {
  Dims wanted{samples};
  for (const int64_t size : meta.sizes) wanted.push_back(size);
  if (!(grad.sizes() == wanted)) {
    const auto rank = static_cast<int64_t>(wanted.size());
    TSR_CHECK(grad.ndim() >= rank && grad.size(0) == samples, Code::kAutograd, nullptr, from.name(),
              " returned an invalid gradient at index ", input, " - got ", grad.sizes(),
              " but expected shape compatible with ", wanted);
    Dims padded = wanted;
    for (int64_t d = rank; d < grad.ndim(); ++d) padded.insert(1, 1);
    if (!(grad.sizes() == padded)) {
      broadcast_strides(padded, contiguous_strides(padded), grad.sizes(), "grads");
      grad = gradient_ops().sum_to(grad, padded);
    }
    grad = without_padding(grad, wanted);
  }
  OutputMeta fitted = meta;
  fitted.sizes = wanted;
  fit_gradient(grad, fitted, from, input);
}

void run_samples(const Node& node, std::span<Tensor> grads, std::span<Tensor> results,
                 int64_t samples, const RunSample& run) {
  const bool in_place = results.empty();
  const std::span<Tensor> targets = in_place ? grads : results;
  const auto meta_of = [&](size_t i) -> const OutputMeta& {
    if (in_place) return node.outputs()[i];
    const Edge& edge = node.next_edge(i);
    return edge.node->outputs()[edge.output];
  };
  std::vector<std::vector<Tensor>> rows(targets.size());
  for (int64_t s = 0; s < samples; ++s) {
    SmallVector<Tensor, 2> given(grads.size());
    SmallVector<Tensor, 4> found(results.size());
    for (size_t k = 0; k < grads.size(); ++k) {
      if (grads[k].defined()) given[k] = gradient_ops().select(grads[k], s);
    }
    run({given.data(), given.size()}, {found.data(), found.size()});
    for (size_t i = 0; i < targets.size(); ++i) {
      Tensor& part = in_place ? given[i] : found[i];
      if (!in_place && part.defined() && node.next_edge(i).node) {
        fit_gradient(part, meta_of(i), node, i);
      }
      rows[i].push_back(std::move(part));
    }
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!in_place && !node.next_edge(i).node) continue;
    targets[i] = stacked(rows[i], meta_of(i));
  }
}

}  // namespace tsr
