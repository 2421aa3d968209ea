// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Binary search in a sorted row of keys.
#pragma once

#include <cstdint>

#include "base/half.h"

namespace tsr::math {

// How many of the `count` keys come before `key`: those that are smaller, or not larger when
// `right`. key_at(i) gives the i-th one. The loop has no branch that depends on the data.
template <class Key, class KeyAt>
TSR_HD int64_t search_row(int64_t count, Key key, bool right, const KeyAt& key_at) {
  if (count == 0) return 0;
  const auto comes_before = [&](int64_t i) {
    const Key other = key_at(i);
    return right ? other <= key : other < key;
  };
  int64_t first = 0;
  while (count > 1) {
    const int64_t half = count / 2;
    first += comes_before(first + half - 1) ? half : 0;
    count -= half;
  }
  return first + (comes_before(first) ? 1 : 0);
}

}  // namespace tsr::math
