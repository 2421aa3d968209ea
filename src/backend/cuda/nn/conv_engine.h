// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution by cuDNN's graph interface: its heuristics propose engines, and the first one that
// keeps our rules for numbers and can be planned is cached for convolutions of the same shape.
#pragma once

#include "backend/cuda/host.h"
#include "backend/cuda/nn/conv_shape.h"

namespace tsr::cuda {

// Input, weight and output in the layouts of the shape.
struct ConvPointers {
  void* of[3];
};

// Runs the pass of the plan without the bias. May throw std::bad_alloc.
kernel::Status run_engine(const kernel::ConvPlan& plan, const ConvShape& shape,
                          const ConvPointers& data);

}  // namespace tsr::cuda
