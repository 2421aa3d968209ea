// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// CUDA devices as the allocator and the runtime see them: memory, streams, events, copies.
#pragma once

#include "base/device_interface.h"

namespace tsr::cuda {

const DeviceInterface& device_interface() noexcept;

}  // namespace tsr::cuda
