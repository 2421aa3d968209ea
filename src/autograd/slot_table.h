// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// SlotTable: what one backward knows about each node it walks, found from the node in a few
// instructions.
#pragma once

#include <memory>
#include <unordered_map>

#include "autograd/node.h"
#include "memory/small_alloc.h"

namespace tsr {

// One node's part in one backward. Made for every node that a backward walks: it has no more than
// what the walk needs, and is not written again before the node's first gradient comes.
struct Slot {
  Node* node = nullptr;
  uint32_t dependencies = 0;   // edges into the node that have not delivered yet
  int32_t first_capture = -1;  // into the list of captures
  bool needed = false;         // the node is to be run
  bool wanted = false;         // its gradients are to be delivered, to a capture or a hook
  bool visited = false;        // by the walk to targets
  bool queued = false;         // a root that is in the queue
  Tensor first;                // the sums that arrived so far, one per output of the node
  std::unique_ptr<Tensor[]> rest;

  [[nodiscard]] Tensor& gradient(uint32_t output) { return output == 0 ? first : of_rest(output); }
  [[nodiscard]] Tensor& of_rest(uint32_t output);
};

// While one backward walks a node, the node stores the address of its slot. If a second backward
// (of another thread, or nested) reaches the node at the same time, that backward keeps its slot in
// a map of its own. The caller keeps the nodes alive.
class SlotTable {
 public:
  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable();

  // The node's slot; `fresh` says whether this call made it.
  Slot& claim(Node& node, bool& fresh);
  // Null when never claimed.
  [[nodiscard]] Slot* find(const Node& node) noexcept {
    if (node.owner_.load(std::memory_order_relaxed) == this) [[likely]] {
      return static_cast<Slot*>(node.scratch_);
    }
    return contended_.empty() ? nullptr : find_contended(node);
  }
  // Releases the node for other backwards; find must not be called for it again.
  void let_go(Slot& slot) noexcept;

 private:
  // Chunks are memory of the small lists, which the next backward finds again.
  static constexpr size_t kFirstChunk = 16;
  static constexpr size_t kLastChunk = 1024;
  static_assert(kLastChunk * sizeof(Slot) <= kSmallLimit);

  Slot& new_slot(Node& node);
  [[nodiscard]] Slot* find_contended(const Node& node) noexcept;

  SmallVector<Slot*, 8> chunks_;
  size_t chunk_size_ = 0;
  size_t used_ = 0;  // in the last chunk
  std::unordered_map<const Node*, Slot*> contended_;
};

}  // namespace tsr
