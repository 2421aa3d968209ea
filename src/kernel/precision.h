// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The precision of float32 products: one setting of the process, which the planner writes into the
// plans of products and convolutions.
#pragma once

#include <atomic>
#include <cstdint>

namespace tsr::kernel {

enum class Precision : int32_t {
  kHighest,  // float32 throughout
  kHigh,     // factors may be rounded to 10 bits of fraction (TF32); sums stay float32
  kMedium,   // factors may be rounded to bfloat16's 7 bits
};

inline constinit std::atomic<Precision> g_matmul_precision{Precision::kHighest};

}  // namespace tsr::kernel
