// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a batched backward does beside an ordinary one: Note [Batched backward] in node.h.
#pragma once

#include <functional>
#include <span>

#include "autograd/node.h"

namespace tsr {

// The number of samples: the size of the first axis of the gradients, which must agree. Undefined
// gradients count for nothing. Throws kShape, kValue.
int64_t count_samples(std::span<const Tensor> grads);

// As fit_gradient (validate.h), for a gradient with an axis of samples in front.
void fit_batch(Tensor& grad, const OutputMeta& meta, const Node& from, size_t input,
               int64_t samples);

// Calls run(gradients of one sample, gradients of its inputs) for each sample, with gradients as in
// an ordinary backward, and stacks what it sets. `results` may be empty: then run changes the
// gradients, and these are stacked in their places.
using RunSample = std::function<void(std::span<Tensor> grads, std::span<Tensor> results)>;
void run_samples(const Node& node, std::span<Tensor> grads, std::span<Tensor> results,
                 int64_t samples, const RunSample& run);

}  // namespace tsr
