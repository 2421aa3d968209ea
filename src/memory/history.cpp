// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/history.h"

#include <chrono>

#include "base/text.h"

namespace tsr {
namespace {

constexpr const char* kActionNames[] = {"alloc",         "free_requested", "free_completed",
                                        "segment_alloc", "segment_free",   "oom"};

}  // namespace

void History::resize(size_t entries) {
  ring_ = std::vector<HistoryEntry>(entries);
  count_ = 0;
}

void History::put(HistoryAction action, const void* data, uint64_t nbytes,
                  StreamHandle stream) noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  ring_[count_++ % ring_.size()] =
      HistoryEntry{action, data, nbytes, stream,
                   std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

void History::append_json(std::string& json) const {
  json += '[';
  const uint64_t first = count_ > ring_.size() ? count_ - ring_.size() : 0;
  for (uint64_t i = first; i < count_; ++i) {
    const HistoryEntry& entry = ring_[i % ring_.size()];
    if (i > first) json += ", ";
    json += concat("{\"action\": \"", kActionNames[static_cast<size_t>(entry.action)],
                   "\", \"address\": ", reinterpret_cast<uintptr_t>(entry.data),
                   ", \"size\": ", entry.nbytes,
                   ", \"stream\": ", reinterpret_cast<uintptr_t>(entry.stream),
                   ", \"time_ns\": ", entry.time_ns, "}");
  }
  json += ']';
}

}  // namespace tsr
