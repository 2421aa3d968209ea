// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Batcher's odd-even merge sort as a network: a list of pairs of places, the same for all rows of a
// length. It compares more often than other sorts of few items, but never jumps by what it finds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tsr::cpu {

class SortNetwork {
 public:
  static constexpr int kMost = 64;  // items

  // For rows of `count` items.
  void build(int count) {
    size_ = 0;
    for (int run = 1; run < count; run *= 2) {  // runs of so many items are sorted
      for (int step = run; step > 0; step /= 2) {
        for (int first = step % run; first + step < count; first += 2 * step) {
          for (int low = first; low < std::min(first + step, count - step); ++low) {
            // Within two runs that are merged.
            if (low / (2 * run) == (low + step) / (2 * run))
              pairs_[size_++] = {static_cast<uint8_t>(low), static_cast<uint8_t>(low + step)};
          }
        }
      }
    }
  }

  // Item::order(a, b) puts the lesser one into a.
  template <class Item>
  void sort(Item* items) const {
    for (int i = 0; i < size_; ++i) Item::order(items[pairs_[i].low], items[pairs_[i].high]);
  }

 private:
  struct Pair {
    uint8_t low, high;
  };
  static constexpr int kPairs = 543;  // of kMost items

  int size_ = 0;
  Pair pairs_[kPairs];
};

}  // namespace tsr::cpu
