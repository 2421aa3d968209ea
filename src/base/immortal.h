// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// immortal: an object of the whole process, made when the library is loaded and never destroyed.
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

// The one T of the process. Its memory is static, so that making it cannot fail. It is never
// destroyed, because threads may still run and handles may be released after the static
// destructors. It is made when the library is loaded, or earlier if another static needs it. It is
// not made at its first use: another thread could fork while one thread makes it, and the child
// would wait for that thread for ever.
template <class T>
T& immortal() noexcept {
  static_cast<void>(&detail::kMadeAtLoad<T>);
  return detail::make_immortal<T>();
}

}  // namespace tsr
