// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// AccumulateGrad: the node at a leaf, which adds what arrives to the leaf's .grad.
#pragma once

#include "autograd/node.h"
#include "base/fork_mutex.h"

namespace tsr {

struct TensorRecord;

// One per leaf. The accumulator owns the leaf; the leaf has only a weak pointer to the accumulator,
// which therefore dies with the last graph that uses the leaf.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;

  // Does nothing if the leaf no longer requires grad. If the leaf has no .grad yet, keeps the
  // gradient itself when nobody else owns it and its strides are the leaf's, and a copy otherwise.
  // If there is a .grad, adds in place, or out of place when the backward is recorded. Concurrent
  // backwards add up.
  void apply(Backward& ctx) override;

  [[nodiscard]] const Tensor& leaf() const noexcept { return leaf_; }

 private:
  void accumulate(TensorRecord& record, Tensor grad);

  Tensor leaf_;
  ForkMutex mutex_;
};

// The leaf's accumulator, made if there is none.
NodePtr accumulator_of(const Tensor& leaf, TensorRecord& record);
// The accumulator if some graph holds it; null otherwise.
NodePtr existing_accumulator(TensorRecord& record) noexcept;

}  // namespace tsr
