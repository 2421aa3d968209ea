// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_DEBUG=handles: a table of every handle that is out, so that a released one is always caught.
#pragma once

#include "base/intrusive_ptr.h"

namespace tsr::capi {

// Set once when the library is loaded, from the environment.
extern const bool g_debug_handles;

// A reference went to the caller, or the caller added one.
void debug_hand_out(const void* handle) noexcept;
// The caller gave one back; false when it had none, which the log is told.
bool debug_take_back(const void* handle) noexcept;
// Whether the caller may use this handle now.
bool debug_is_live(const void* handle) noexcept;

inline void hand_out(const void* handle) noexcept {
  if (g_debug_handles) [[unlikely]] debug_hand_out(handle);
}
inline bool take_back(const void* handle) noexcept {
  return !g_debug_handles || debug_take_back(handle);
}

// Whether `handle` names a live object of this kind: best effort by its tag, surely with the table.
inline bool is_live(const void* handle, ObjectTag tag) noexcept {
  if (handle == nullptr || (reinterpret_cast<uintptr_t>(handle) & (alignof(Object) - 1)) != 0) {
    return false;
  }
  if (g_debug_handles && !debug_is_live(handle)) [[unlikely]] return false;
  return static_cast<const Object*>(handle)->tag == tag;
}

}  // namespace tsr::capi
