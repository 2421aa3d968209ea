// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// AccumulateGrad: the node at a leaf, which adds what arrives to the leaf's .grad.
#pragma once

#include "autograd/node.h"
#include "base/fork_mutex.h"

namespace tsr {

struct TensorRecord;

// One per leaf. It owns the leaf; the leaf knows it weakly, so that it dies with the last graph
// that uses the leaf.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;

  // Nothing when the leaf has stopped requiring grad since. Features E5. No grad yet: takes the
  // gradient itself when nobody else has it and its layout is
  // the leaf's, else a copy. Otherwise adds in place, or, when the backward is recorded, out of
  // place. Concurrent runs add up.
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
