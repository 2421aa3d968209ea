// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_DEBUG=handles: a table of every handle that is out and of those released lately, so that a
// released one is always caught, and what is never released is told at exit.
#pragma once

#include <cstddef>
#include <string>

#include "base/intrusive_ptr.h"

namespace tsr::capi {

// Set once when the library is loaded, from the environment.
extern const bool g_debug_handles;

// A reference went to the caller, or the caller added one.
void debug_hand_out(const void* handle) noexcept;
// The caller gave one back; false when it had none.
bool debug_take_back(const void* handle) noexcept;
// Whether the caller may use this handle now.
bool debug_is_live(const void* handle) noexcept;
// What is known of a handle that is not live, to be put behind "got a released or foreign handle".
std::string debug_history(const void* handle);
// The handles that are out as a JSON array, oldest first.
std::string debug_snapshot();

// Tells the log of a release that found no object.
[[gnu::cold]] void report_bad_release(const void* handle) noexcept;

inline void hand_out(const void* handle) noexcept {
  if (g_debug_handles) [[unlikely]]
    debug_hand_out(handle);
}
inline bool take_back(const void* handle) noexcept {
  return !g_debug_handles || debug_take_back(handle);
}

// Whether `handle` names a live object of this kind: best effort by its tag, surely with the table.
[[gnu::always_inline]] inline bool is_live(const void* handle, ObjectTag tag) noexcept {
  if (handle == nullptr) return false;
  if (g_debug_handles && !debug_is_live(handle)) [[unlikely]]
    return false;
  ObjectTag found;  // copied: a foreign pointer need not be aligned
  __builtin_memcpy(&found, static_cast<const char*>(handle) + offsetof(Object, tag), sizeof(found));
  return found == tag;
}

}  // namespace tsr::capi
