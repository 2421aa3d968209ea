// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_DEBUG=handles: a table of all live handles and of those released lately. It reliably catches
// the use of a handle that was released lately, and reports at exit the handles that were never
// released.
#pragma once

#include <cstddef>
#include <string>

#include "base/intrusive_ptr.h"

namespace tsr::capi {

// Set once when the library is loaded, from the environment.
extern const bool g_debug_handles;

// The caller got a reference, or added one.
void debug_hand_out(const void* handle) noexcept;
// The caller gives a reference back. False if it has none.
bool debug_take_back(const void* handle) noexcept;
// Whether the caller may use this handle now.
bool debug_is_live(const void* handle) noexcept;
// What is known about a handle that is not live, for the end of "got a released or foreign handle".
std::string debug_history(const void* handle);
// The live handles as a JSON array, oldest first.
std::string debug_snapshot();

// Reports to the log a release that found no object.
[[gnu::cold]] void report_bad_release(const void* handle) noexcept;

inline void hand_out(const void* handle) noexcept {
  if (g_debug_handles) [[unlikely]]
    debug_hand_out(handle);
}
inline bool take_back(const void* handle) noexcept {
  return !g_debug_handles || debug_take_back(handle);
}

// Whether `handle` names a live object of this kind: best effort by its tag, reliable with the
// table.
[[gnu::always_inline]] inline bool is_live(const void* handle, ObjectTag tag) noexcept {
  if (handle == nullptr) return false;
  if (g_debug_handles && !debug_is_live(handle)) [[unlikely]]
    return false;
  ObjectTag found;  // copied: a foreign pointer need not be aligned
  __builtin_memcpy(&found, static_cast<const char*>(handle) + offsetof(Object, tag), sizeof(found));
  return found == tag;
}

}  // namespace tsr::capi
