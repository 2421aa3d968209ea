// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks that keep saved tensors in files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "autograd/saved_tensor.h"

namespace tsr::io {

// Each saved tensor of at least `min_bytes` is a safetensors file in `folder` until no node needs
// it any more. Leaves that require grad, which the graph keeps anyway, stay in memory. Files of a
// process that is killed remain; their names begin with "saved-" and the process's number. Throws
// kIo if no file can be made in the folder.
std::shared_ptr<SavedTensorHooks> save_in_files(std::string folder, int64_t min_bytes);

}  // namespace tsr::io
