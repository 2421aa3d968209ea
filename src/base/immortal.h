// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// immortal: an object of the whole process that is made when the library is loaded and never
// destroyed.
#pragma once

#include <new>

namespace tsr {

namespace detail {

template <class T>
T& make_immortal() noexcept {
  alignas(T) static unsigned char storage[sizeof(T)];
  static T* const instance = ::new (static_cast<void*>(storage)) T;
  return *instance;
}

template <class T>
inline const bool kMadeAtLoad = (static_cast<void>(make_immortal<T>()), true);

}  // namespace detail

// The one T of the process. Its memory is static, so that making it cannot fail; it has no end,
// because threads may still work and handles be released after the static destructors have run.
// It is made when the library is loaded, or earlier when another static needs it: a thread that
// made it later, at its first use, could be forked away in the middle, and the child would wait for
// that thread for ever.
template <class T>
T& immortal() noexcept {
  static_cast<void>(&detail::kMadeAtLoad<T>);
  return detail::make_immortal<T>();
}

}  // namespace tsr
