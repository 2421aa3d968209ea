// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Which bin of a histogram an element falls into.
#pragma once

#include <cstdint>
#include <limits>

#include "backend/common/search_row.h"

namespace tsr::math {

template <class T>
struct Bins {
  const T* edges;  // count + 1, not falling
  int64_t count;
  T low, high;  // the first and the last edge
  T scale;      // bins per unit where they have equal widths, else 0

  TSR_HD static Bins of(const void* edges, int64_t count, bool equal_widths) {
    Bins bins{static_cast<const T*>(edges), count, T{}, T{}, T{0}};
    bins.low = bins.edges[0];
    bins.high = bins.edges[count];
    const T scale = static_cast<T>(count) / (bins.high - bins.low);
    if (equal_widths && scale <= std::numeric_limits<T>::max()) bins.scale = scale;
    return bins;
  }
  // -1: in none.
  TSR_HD int64_t bin_of(T value) const {
    if (!(value >= low && value <= high)) return -1;
    if (value == high) return count - 1;
    if (scale == T{0})
      return search_row(count, value, true, [&](int64_t i) { return edges[i]; }) - 1;
    // The quotient is a guess: the edges decide.
    auto bin = static_cast<int64_t>((value - low) * scale);
    bin = bin < count ? bin : count - 1;
    while (value < edges[bin]) --bin;
    while (value >= edges[bin + 1]) ++bin;
    return bin;
  }
};

}  // namespace tsr::math
