// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks that keep saved tensors as copies: on another device, or beside the original.
#pragma once

#include <memory>
#include <optional>

#include "autograd/saved_tensor.h"

namespace tsr::ops {

struct SavedCopies {
  // Where the copies lie; absent: where the tensor is.
  std::optional<Device> device;
  // Copies in host memory are pinned for the device that they come from.
  bool pinned = false;
  // Copy also what is there already. A function may then be followed by writes to what it saved.
  bool always = false;
};

// Without `always`, tensors that are on the device already and leaves that require grad, which the
// graph keeps anyway, are saved as they are. Throws kDevice if no backend serves the device.
std::shared_ptr<SavedTensorHooks> save_copies(const SavedCopies& where);

}  // namespace tsr::ops
