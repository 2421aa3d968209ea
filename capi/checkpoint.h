// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Checkpoints: functions that save their arguments only; the backward runs them again.
#pragma once

#include <memory>
#include <span>

#include "autograd/saved_tensor.h"
#include "capi/callback.h"

namespace tsr::capi {

struct CheckpointOptions {
  bool restore_random = true;  // the second run gets the random numbers of the first
  bool stop_early = true;      // the second run ends with the last tensor that is needed
  bool check_metadata = true;  // the two runs must save tensors of the same sizes and dtypes
};

// Hooks for the first run. `run` is the host's function, called with `inputs` without history.
std::shared_ptr<SavedTensorHooks> make_checkpoint(std::span<const Tensor> inputs,
                                                  tsr_checkpoint_run_fn run, UserData data,
                                                  CheckpointOptions options);

}  // namespace tsr::capi
