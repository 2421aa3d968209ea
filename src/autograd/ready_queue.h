// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// ReadyQueue: nodes whose gradients are complete; the one with the largest sequence number runs
// first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
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
    const Entry entry{sequence, arrivals_++, slot};
    if (first_.slot == nullptr) {
      first_ = entry;
    } else if (first_ < entry) {
      push_behind(std::exchange(first_, entry));
    } else {
      push_behind(entry);
    }
  }
  // Not when empty.
  Slot* pop() {
    Slot* slot = first_.slot;
    if (heap_.empty()) {
      first_.slot = nullptr;
    } else {
      std::pop_heap(heap_.begin(), heap_.end());
      first_ = heap_.back();
      heap_.pop_back();
    }
    return slot;
  }
  [[nodiscard]] bool empty() const noexcept { return first_.slot == nullptr; }

 private:
  struct Entry {
    uint64_t sequence;
    uint64_t arrival;
    Slot* slot;
    bool operator<(const Entry& other) const noexcept {
      return sequence != other.sequence ? sequence < other.sequence : arrival > other.arrival;
    }
  };
  void push_behind(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end());
  }

  Entry first_{};            // the next one; in a chain it is the only one
  std::vector<Entry> heap_;  // the others
  uint64_t arrivals_ = 0;
};

}  // namespace tsr
