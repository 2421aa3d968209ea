// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/debug_handles.h"

#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "capi/log.h"

namespace tsr::capi {
namespace {

bool wanted() noexcept {
  const char* value = std::getenv("TSR_DEBUG");
  return value != nullptr && std::string_view(value).find("handles") != std::string_view::npos;
}

struct Table {
  std::mutex mutex;
  std::unordered_map<const void*, int64_t> references;
};

// Never destroyed: handles may be released while the process exits.
Table& table() {
  static Table* const kTable = new Table;
  return *kTable;
}

}  // namespace

const bool g_debug_handles = wanted();

void debug_hand_out(const void* handle) noexcept {
  try {
    const std::lock_guard lock(table().mutex);
    ++table().references[handle];
  } catch (...) {
    log_message(TSR_LOG_ERROR, "handles", "no memory to note a handle");
  }
}

bool debug_take_back(const void* handle) noexcept {
  const std::lock_guard lock(table().mutex);
  const auto found = table().references.find(handle);
  if (found == table().references.end()) return false;
  if (--found->second == 0) table().references.erase(found);
  return true;
}

void report_bad_release() noexcept {
  log_message(TSR_LOG_ERROR, "handles",
              "a handle was released that is not out, or of another kind");
}

bool debug_is_live(const void* handle) noexcept {
  const std::lock_guard lock(table().mutex);
  return table().references.contains(handle);
}

}  // namespace tsr::capi
