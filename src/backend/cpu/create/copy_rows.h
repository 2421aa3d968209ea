// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows that move elements: casts, copies with non-temporal stores, and rows of one element or
// backwards.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace tsr::cpu {

// to[i] = from[i] converted, for i < count; the two do not overlap unless they are the same array
// and the target's element is not larger.
using CastRow = void (*)(int64_t count, void* to, const void* from);

struct CopyRows {
  CastRow (*cast)(DType from, DType to);
  // Copies with non-temporal stores, unordered until the next store fence; `to` is 64-byte aligned,
  // nbytes a multiple of 64.
  void (*stream)(void* to, const void* from, int64_t nbytes);
  // Writes an element of 1, 2, 4, 8 or 16 bytes `count` times.
  void (*repeat)(int64_t count, int64_t size, void* to, const void* element);
  // to[i] = from[count - 1 - i] for elements of 1, 2, 4, 8 or 16 bytes; the two do not overlap.
  void (*reverse)(int64_t count, int64_t size, void* to, const void* from);
};

}  // namespace tsr::cpu
