// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/host_stack.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <utility>

#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr {
namespace {

// A thread inside the source shares ownership, so that the source's end waits for it.
struct Place {
  GuardedMutex mutex;
  std::shared_ptr<const HostStackSource> source;
};

constinit thread_local bool t_asking = false;

struct Asking {
  Asking() noexcept { t_asking = true; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { t_asking = false; }
};

// The line of a text file without the blanks around it; empty if it cannot be read.
std::string line_of(const std::string& file, int64_t number) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return {};
  std::ifstream text(file);
  std::string line;
  for (int64_t i = 0; i < number; ++i) {
    if (!std::getline(text, line)) return {};
  }
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The source line of a frame "file:line in function".
std::string source_of(std::string_view frame) {
  const size_t end = frame.find(" in ");
  const size_t colon = frame.substr(0, end).rfind(':');
  if (end == std::string_view::npos || colon == std::string_view::npos) return {};
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(frame.data() + colon + 1, frame.data() + end, number);
  if (error != std::errc() || rest != frame.data() + end) return {};
  return line_of(std::string(frame.substr(0, colon)), number);
}

}  // namespace

std::shared_ptr<const HostStackSource> set_host_stack(
    std::shared_ptr<const HostStackSource> source) {
  Place& place = immortal<Place>();
  const std::lock_guard lock(place.mutex);
  return std::exchange(place.source, std::move(source));
}

std::string host_stack() {
  if (t_asking) return {};
  std::shared_ptr<const HostStackSource> source;
  {
    Place& place = immortal<Place>();
    const std::lock_guard lock(place.mutex);
    source = place.source;
  }
  if (source == nullptr) return {};
  const Asking asking;
  std::string stack = (*source)();
  while (!stack.empty() && stack.back() == '\n') stack.pop_back();
  return stack;
}

std::string host_stack_or_none() noexcept {
  try {
    return host_stack();
  } catch (...) {  // the host failed, or there is no memory
    return {};
  }
}

std::string with_source_lines(std::string_view stack) {
  std::string text;
  while (!stack.empty()) {
    const size_t end = stack.find('\n');
    const std::string_view frame = stack.substr(0, end);
    stack.remove_prefix(end == std::string_view::npos ? stack.size() : end + 1);
    text.append("  ").append(frame).append("\n");
    if (const std::string source = source_of(frame); !source.empty())
      text.append("    ").append(source).append("\n");
  }
  return text;
}

}  // namespace tsr
