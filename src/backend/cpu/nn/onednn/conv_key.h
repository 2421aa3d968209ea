// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ConvKey: all that a prepared convolution depends on: the plan without its pointers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/nn/onednn/conv_approach.h"
#include "kernel/nn.h"

namespace tsr::cpu::onednn {

struct ConvKey {
  std::array<int64_t, 28> words{};

  ConvKey(const kernel::ConvPlan& plan, bool input_last, bool output_last, int32_t threads) {
    size_t i = 0;
    words[i++] = static_cast<int64_t>(plan.pass) | int64_t{plan.spatial} << 8 |
                 static_cast<int64_t>(plan.dtype) << 16 | int64_t{input_last} << 24 |
                 int64_t{output_last} << 25 | int64_t{plan.bias != nullptr} << 26 |
                 int64_t{threads} << 32;
    for (const int64_t value :
         {plan.batch, plan.in_channels, plan.out_channels, plan.groups, output_step(plan)}) {
      words[i++] = value;
    }
    for (int d = 0; d < plan.spatial; ++d) {
      for (const int64_t value : {plan.input_size[d], plan.output_size[d], plan.kernel[d],
                                  plan.stride[d], plan.padding[d], plan.dilation[d]}) {
        words[i++] = value;
      }
    }
  }
  bool operator==(const ConvKey&) const = default;
};

struct ConvKeyHash {
  size_t operator()(const ConvKey& key) const noexcept {
    uint64_t hash = 0xcbf29ce484222325U;
    for (const int64_t word : key.words) {
      hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
  }
};

}  // namespace tsr::cpu::onednn
