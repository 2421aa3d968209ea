// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// History: the last events of an allocator, in a ring that recording never makes larger.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/device_interface.h"

namespace tsr {

enum class HistoryAction : uint8_t {
  kAllocate,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAllocate,
  kSegmentFree,
  kOutOfMemory,
};

struct HistoryEntry {
  HistoryAction action;
  const void* data;
  uint64_t nbytes;
  StreamHandle stream;
  int64_t time_ns;  // of the steady clock
};

// Not thread-safe: its allocator's lock guards it.
class History {
 public:
  // Keeps the last `entries` events; 0 turns recording off. What was recorded is dropped.
  void resize(size_t entries);

  [[nodiscard]] bool enabled() const noexcept { return !ring_.empty(); }
  void add(HistoryAction action, const void* data, uint64_t nbytes, StreamHandle stream) noexcept {
    if (enabled()) [[unlikely]]
      put(action, data, nbytes, stream);
  }

  // A JSON array, oldest first.
  void append_json(std::string& json) const;

 private:
  void put(HistoryAction action, const void* data, uint64_t nbytes, StreamHandle stream) noexcept;

  std::vector<HistoryEntry> ring_;
  uint64_t count_ = 0;
};

}  // namespace tsr
