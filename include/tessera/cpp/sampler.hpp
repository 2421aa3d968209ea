// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The samples of a data set that one of several ranks gets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/cpp/tensor.hpp"
#include "tessera/dist.h"

namespace tessera::data {

struct SamplerOptions {
  bool shuffle = true;
  int64_t seed = 0;
  bool drop_last = false;  // leave the last samples out instead of repeating the first ones
};

// Every sample on one rank: rank r has the positions r, r + ranks, ... of an order that all ranks
// share, in every language. A copy is the same sampler.
class DistributedSampler {
 public:
  DistributedSampler(int64_t count, int64_t ranks, int64_t rank, SamplerOptions options = {})
      : count_(count), ranks_(ranks), rank_(rank), options_(options) {
    if (ranks < 1 || rank < 0 || rank >= ranks) {
      tessera::detail::throw_value("DistributedSampler", "rank",
                                   "a number from 0 below " + std::to_string(ranks) + " ranks",
                                   std::to_string(rank));
    }
  }

  // Gives the next pass another order, the same on all ranks.
  void set_epoch(int64_t epoch) const noexcept { *epoch_ = epoch; }
  // How many samples each rank has.
  int64_t size() const noexcept {
    return count_ / ranks_ + (!options_.drop_last && count_ % ranks_ != 0 ? 1 : 0);
  }
  std::vector<int64_t> positions() const {
    tsr_tensor out = nullptr;
    const int64_t seed = options_.shuffle ? options_.seed + *epoch_ : tsr_none();
    check(tsr_rank_positions(count_, ranks_, rank_, seed, options_.drop_last ? 1 : 0, &out));
    return Tensor::take(out).to_vector<int64_t>();
  }

 private:
  int64_t count_, ranks_, rank_;
  SamplerOptions options_;
  std::shared_ptr<int64_t> epoch_{new int64_t(0)};
};

}  // namespace tessera::data
