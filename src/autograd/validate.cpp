// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/validate.h"

#include "autograd/gradient_ops.h"
#include "base/error.h"

namespace tsr::detail {
namespace {

// Whether broadcasting `from` gives `to`.
bool expands_to(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) return false;
  const size_t lead = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1 && from[d] != to[lead + d]) return false;
  }
  return true;
}

}  // namespace

void fit_gradient_slowly(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input) {
  TSR_CHECK(meta.differentiable, Code::kAutograd, nullptr, from.name(),
            " returned a gradient for its input ", input, ", which is not differentiable");
  TSR_CHECK(expands_to(meta.sizes, grad.sizes()), Code::kAutograd, nullptr, from.name(),
            " returned an invalid gradient at index ", input, " - got ", grad.sizes(),
            " but expected shape compatible with ", meta.sizes);
  TSR_CHECK(grad.device() == meta.device || meta.sizes.empty(), Code::kAutograd, nullptr,
            from.name(), " returned an invalid gradient at index ", input, " - got device ",
            grad.device(), " but expected ", meta.device);
  if (!(grad.sizes() == meta.sizes)) grad = gradient_ops().sum_to(grad, meta.sizes);
  if (grad.device() != meta.device) grad = gradient_ops().to_device(grad, meta.device);
  if (grad.dtype() != meta.dtype) grad = gradient_ops().cast(grad, meta.dtype);
}

}  // namespace tsr::detail
