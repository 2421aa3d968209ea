// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tells the address sanitizer which cached CPU memory is lent. Does nothing in other builds.
#pragma once

#include <cstdint>

#include "base/address_sanitizer.h"
#include "base/device.h"

#if defined(TSR_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace tsr {

inline void poison([[maybe_unused]] Device device, [[maybe_unused]] const void* data,
                   [[maybe_unused]] uint64_t nbytes) noexcept {
#if defined(TSR_ADDRESS_SANITIZER)
  if (device.is_cpu()) __asan_poison_memory_region(data, nbytes);
#endif
}

inline void unpoison([[maybe_unused]] Device device, [[maybe_unused]] const void* data,
                     [[maybe_unused]] uint64_t nbytes) noexcept {
#if defined(TSR_ADDRESS_SANITIZER)
  if (device.is_cpu()) __asan_unpoison_memory_region(data, nbytes);
#endif
}

}  // namespace tsr
