// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Divides a convolution among the threads of our pool.
#pragma once

#include <cstdint>

#include "backend/cpu/nn/onednn/conv_approach.h"
#include "kernel/nn.h"

namespace tsr::cpu::onednn {

// Note [Shares]
// oneDNN enters one parallel region for every reorder and one for the primitive. Each wakes its
// threads, and a layout too small for that is changed by one thread alone. If a convolution is
// divided into shares, all of that happens in one region of our pool: every thread changes the
// layouts of its own images and convolves them, while they are in its cache.
struct Shares {
  int64_t count = 1;
  // Else the share is a part of the output's channels.
  bool images = true;
  // The gradient of the weight is a sum over the images: all shares but the first write to memory
  // of their own, which is added to the result.
  bool sums = false;
};

// One share where dividing does not pay.
Shares shares_of(const kernel::ConvPlan& plan, const Approach& way, int32_t threads);
// The plan of one share; for `sums`, its weight and bias are still the whole plan's.
kernel::ConvPlan share_of(const kernel::ConvPlan& plan, const Shares& shares, int64_t index);

int64_t weight_numel(const kernel::ConvPlan& plan);

}  // namespace tsr::cpu::onednn
