// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pinned memory: pages of the host that stay where they are, so that a device copies from and to
// them on its own while the host goes on.
#pragma once

#include "base/device.h"
#include "memory/caching_allocator.h"

namespace tsr {

// Note [Pinned memory]
// Each device has a caching allocator for memory pinned for it, with the device's streams and
// events. Its blocks belong to no stream of the device: the streams that copy are told by
// record_stream, so a block that is given back during a copy is lent again when its event is done.
//
// Throws Error kDevice when no backend serves the device, kNotImplemented when its memory cannot be
// reached that way (the CPU itself has no need of it).
CachingAllocator& pinned_allocator(Device device);

// Null when nothing was ever pinned for the device.
[[nodiscard]] CachingAllocator* existing_pinned_allocator(Device device) noexcept;

// The stream that blocks of these allocators are asked for.
[[nodiscard]] StreamHandle host_stream() noexcept;

}  // namespace tsr
