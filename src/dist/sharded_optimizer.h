// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ShardedOptimizer: each rank keeps the optimizer state of its share of the parameters and updates
// them; then all ranks get the new values (stage 1 of Rajbhandari and others, "ZeRO", 2020).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/intrusive_ptr.h"
#include "dist/collectives.h"
#include "optim/optimizer.h"

namespace tsr::dist {

inline constexpr auto kShardedOptimizerTag = static_cast<ObjectTag>(0x5453535aU);

// All ranks call the functions together, with equal parameters in equal groups. Options and groups
// belong to the optimizer, which keeps the states of this rank's parameters only. One thread at a
// time.
class ShardedOptimizer final : public Object {
 public:
  // Throws kShape on all ranks if the ranks have different parameters. States that the optimizer
  // has already are divided at the first step.
  ShardedOptimizer(IntrusivePtr<optim::Optimizer> optimizer, GroupPtr group);
  static void destroy(ShardedOptimizer* optimizer) noexcept;

  [[nodiscard]] optim::Optimizer& optimizer() const noexcept { return *optimizer_; }

  // Updates this rank's parameters that have gradients, as Optimizer::step, and gives all ranks all
  // parameters. The gradients must be equal on all ranks.
  void step();
  // An optimizer with the states of all parameters, on rank `to`; null on the others. -1: on every
  // rank. It shares the parameters, and so may be saved or stepped in place of this one.
  [[nodiscard]] IntrusivePtr<optim::Optimizer> gather(int64_t to);
  // {"owners": [[rank of each parameter] of each group], "state_bytes": of this rank} as JSON.
  [[nodiscard]] std::string report();

 private:
  ~ShardedOptimizer() = default;
  // Gives new parameters to the rank with the smallest share, the largest first.
  void assign();
  [[nodiscard]] bool owns(const Tensor& param) const;
  void forget_others();

  IntrusivePtr<optim::Optimizer> optimizer_;
  GroupPtr group_;
  std::unordered_map<const TensorImpl*, int64_t> owners_;
  std::vector<int64_t> loads_;  // bytes of the parameters of each rank
};

}  // namespace tsr::dist
