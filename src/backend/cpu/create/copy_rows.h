// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows that move elements: casts, and copies with non-temporal stores.
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
};

}  // namespace tsr::cpu
