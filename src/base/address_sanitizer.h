// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_ADDRESS_SANITIZER: defined where the compiler's address sanitizer is on.
#pragma once

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define TSR_ADDRESS_SANITIZER
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer)
#define TSR_ADDRESS_SANITIZER
#endif
#endif
