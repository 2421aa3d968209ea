// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ReadyQueue: nodes whose gradients are complete; the one with the largest sequence number runs
// first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tsr {

struct Slot;

// Newest first keeps the peak of memory low: it is the reverse of the order in which the forward
// made its tensors. AccumulateGrad has the largest number of all, so that gradients reach their
// leaves and are freed at once. Equal numbers (several leaves, several threads) run in order of
// arrival.
//
// Each backward has its own queue, driven by its calling thread; a nested backward runs to its end
// on top of the one that started it, so the deeper one always goes first.
class ReadyQueue {
 public:
  void push(uint64_t sequence, Slot* slot) {
    heap_.push_back({sequence, arrivals_++, slot});
    std::push_heap(heap_.begin(), heap_.end());
  }
  // Not when empty.
  Slot* pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    Slot* slot = heap_.back().slot;
    heap_.pop_back();
    return slot;
  }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

 private:
  struct Entry {
    uint64_t sequence;
    uint64_t arrival;
    Slot* slot;
    bool operator<(const Entry& other) const noexcept {
      return sequence != other.sequence ? sequence < other.sequence : arrival > other.arrival;
    }
  };
  std::vector<Entry> heap_;
  uint64_t arrivals_ = 0;
};

}  // namespace tsr
