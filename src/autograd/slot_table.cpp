// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/slot_table.h"

#include <algorithm>

namespace tsr {

SlotTable::~SlotTable() {
  size_t size = kFirstChunk;
  for (size_t c = 0; c < chunks_.size(); ++c) {
    const size_t used = c + 1 == chunks_.size() ? used_ : size;
    for (size_t i = 0; i < used; ++i) {
      Slot& slot = chunks_[c][i];
      if (slot.node != nullptr) let_go(slot);
      std::destroy_at(&slot);
    }
    small_free(chunks_[c], size * sizeof(Slot));
    size = std::min(size * 2, kLastChunk);
  }
}

Slot& SlotTable::new_slot(Node& node) {
  if (used_ == chunk_size_) {
    const size_t size = chunks_.empty() ? kFirstChunk : std::min(chunk_size_ * 2, kLastChunk);
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back(static_cast<Slot*>(small_allocate(size * sizeof(Slot))));
    chunk_size_ = size;
    used_ = 0;
  }
  Slot* slot = std::construct_at(chunks_.back() + used_);
  ++used_;
  slot->node = &node;
  return *slot;
}

Tensor& Slot::of_rest(uint32_t output) {
  if (!rest) rest = std::make_unique<Tensor[]>(node->outputs().size() - 1);
  return rest[output - 1];
}

Slot& SlotTable::claim(Node& node, bool& fresh) {
  fresh = false;
  if (Slot* known = find(node)) return *known;
  fresh = true;
  Slot& slot = new_slot(node);
  const void* nobody = nullptr;
  if (node.owner_.compare_exchange_strong(nobody, this, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
    node.scratch_ = &slot;
  } else {
    contended_.emplace(&node, &slot);
  }
  return slot;
}

Slot* SlotTable::find_contended(const Node& node) noexcept {
  const auto found = contended_.find(&node);
  return found == contended_.end() ? nullptr : found->second;
}

void SlotTable::let_go(Slot& slot) noexcept {
  Node& node = *slot.node;
  slot.node = nullptr;
  if (node.owner_.load(std::memory_order_relaxed) == this) {
    node.owner_.store(nullptr, std::memory_order_release);
  }
}

}  // namespace tsr
