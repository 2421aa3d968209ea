// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/sampler.h"

#include "base/error.h"
#include "base/generator.h"
#include "ops/create/create.h"
#include "ops/random/random.h"
#include "optim/optimizer.h"

namespace tsr::dist {

Tensor positions_of_rank(int64_t count, int64_t ranks, int64_t rank, std::optional<int64_t> seed,
                         bool drop_last) {
  TSR_CHECK(count >= 0, Code::kValue, "count", "expected a number of samples from 0, got ", count);
  TSR_CHECK(ranks >= 1, Code::kValue, "ranks", "expected at least one rank, got ", ranks);
  TSR_CHECK(rank >= 0 && rank < ranks, Code::kValue, "rank", "expected a number from 0 below ",
            ranks, ", got ", rank);
  const optim::Quiet quiet;
  const int64_t share = count / ranks + (!drop_last && count % ranks != 0 ? 1 : 0);
  const Tensor positions = empty(Dims{share}, DType::kInt64);
  auto* next = positions.data_as<int64_t>();
  for (int64_t i = 0; i < share; ++i) next[i] = (rank % count + i * ranks) % count;
  if (!seed) return positions;
  const auto generator =
      IntrusivePtr<Generator>::adopt(new Generator(static_cast<uint64_t>(*seed)));
  const Tensor order = ops::randperm(count, DType::kInt64, Device{}, generator.get());
  const auto* from = order.data_as<int64_t>();
  for (int64_t i = 0; i < share; ++i) next[i] = from[next[i]];
  return positions;
}

}  // namespace tsr::dist
