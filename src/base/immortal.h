// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// immortal: an object of the whole process that is made at first use and never destroyed.
#pragma once

#include <new>

namespace tsr {

// The one T of the process. Its memory is static, so that making it cannot fail; it has no end,
// because threads may still work and handles be released after the static destructors have run.
template <class T>
T& immortal() noexcept {
  alignas(T) static unsigned char storage[sizeof(T)];
  static T* const instance = ::new (static_cast<void*>(storage)) T;
  return *instance;
}

}  // namespace tsr
