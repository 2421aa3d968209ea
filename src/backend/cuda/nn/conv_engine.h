// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution by cuDNN's graph interface: its heuristics propose engines, and the first that keeps
// our rules for numbers and can be planned is kept for the next convolution of the same shape.
#pragma once

#include "backend/cuda/host.h"
#include "backend/cuda/nn/conv_shape.h"

namespace tsr::cuda {

// Where cuDNN finds input, weight and output, each as the shape wants it.
struct ConvPointers {
  void* of[3];
};

// Runs the pass of the plan without the bias. May throw std::bad_alloc.
kernel::Status run_engine(const kernel::ConvPlan& plan, const ConvShape& shape,
                          const ConvPointers& data);

}  // namespace tsr::cuda
