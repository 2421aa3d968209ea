// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How much a test does. A sanitizer makes code three to forty times slower and looks at its memory,
// for which fewer dtypes, threads and rounds are enough: the run of the release build checks the
// values.
#pragma once

namespace tsr {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__clang__)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// `whole`, or with a sanitizer `less`.
template <class T>
constexpr T effort(T whole, T less) {
  return kSanitized ? less : whole;
}

}  // namespace tsr
