// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a history tells: as JSON and in the error of a device that is out of memory.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "base/decimal.h"
#include "base/text.h"
#include "memory/history.h"
#include "memory/sizes.h"

namespace tsr {
namespace {

constexpr const char* kActionNames[] = {"alloc",         "free_requested", "free_completed",
                                        "segment_alloc", "segment_free",   "oom"};

uintptr_t address(const void* data) noexcept {
  return reinterpret_cast<uintptr_t>(data);
}

void append_quoted(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += c;
    }
  }
  json += '"';
}

void append_frames(std::string& json, std::string_view stack) {
  json += '[';
  for (size_t begin = 0; begin < stack.size();) {
    const size_t end = std::min(stack.find('\n', begin), stack.size());
    if (begin > 0) json += ", ";
    append_quoted(json, stack.substr(begin, end - begin));
    begin = end + 1;
  }
  json += ']';
}

std::string first_frame(uint32_t stack) {
  const std::string text = text_of_history(stack);
  return text.substr(0, text.find('\n'));
}

// Numbers the texts that a report uses from 0, in the order of their first use.
class Numbering {
 public:
  // The member `name` of an entry; nothing for no text.
  void append_member(std::string& json, const char* name, uint32_t text) {
    if (text == kNoText) return;
    const auto [place, fresh] = numbers_.emplace(text, used_.size());
    if (fresh) used_.push_back(text);
    json += concat(", \"", name, "\": ", place->second);
  }
  [[nodiscard]] const std::vector<uint32_t>& used() const noexcept { return used_; }

 private:
  std::map<uint32_t, size_t> numbers_;
  std::vector<uint32_t> used_;
};

struct Report {
  std::string json;
  Numbering operations;
  Numbering stacks;

  void append_context(const HistoryContext& context) {
    operations.append_member(json, "operation", context.operation);
    stacks.append_member(json, "stack", context.stack);
    if (context.shape != kNoText) {
      json += ", \"tensor\": ";
      append_quoted(json, text_of_history(context.shape));
    }
    if (context.thread != 0) json += concat(", \"thread\": ", context.thread);
    json += '}';
  }
  void append_entry(const HistoryEntry& entry) {
    json += concat("{\"action\": \"", kActionNames[static_cast<size_t>(entry.action)],
                   "\", \"address\": ", address(entry.data), ", \"size\": ", entry.nbytes,
                   ", \"stream\": ", address(entry.stream), ", \"time_ns\": ", entry.time_ns);
    append_context(entry.context);
  }
  void append_texts() {
    json += ", \"operations\": [";
    for (const uint32_t& text : operations.used()) {
      if (&text != operations.used().data()) json += ", ";
      json += "{\"name\": ";
      append_quoted(json, operation_name(text));
      json += ", \"path\": ";
      append_quoted(json, text_of_history(text));
      json += '}';
    }
    json += "], \"stacks\": [";
    for (const uint32_t& text : stacks.used()) {
      if (&text != stacks.used().data()) json += ", ";
      append_frames(json, text_of_history(text));
    }
    json += ']';
  }
};

void append_holder(std::string& json, const MemoryHolder& holder) {
  json += "{\"operation\": ";
  append_quoted(json, operation_name(holder.operation));
  json += ", \"path\": ";
  append_quoted(json, text_of_history(holder.operation));
  json += concat(", \"bytes\": ", holder.nbytes, ", \"count\": ", holder.count,
                 ", \"largest\": ", holder.largest, ", \"tensor\": ");
  append_quoted(json, text_of_history(holder.shape));
  json += ", \"stack\": ";
  append_frames(json, text_of_history(holder.stack));
  json += '}';
}

// "512.00 MiB in 4 blocks by conv2d, float32[8, 64, 56, 56], at model.py:31 in forward"
std::string line_of(const MemoryHolder& holder) {
  std::string line = concat("\n  ", in_bytes(holder.nbytes), " in ", holder.count,
                            holder.count == 1 ? " block by " : " blocks by ");
  if (holder.operation == kNoText) {
    line += "code outside every operation";
  } else {
    line += operation_name(holder.operation);
  }
  if (holder.shape != kNoText) {
    line += holder.count == 1 ? ", " : ", the largest ";
    line += text_of_history(holder.shape);
  }
  if (holder.stack != kNoText) {
    line += ", at ";
    line += first_frame(holder.stack);
  }
  return line;
}

}  // namespace

std::string in_bytes(uint64_t nbytes) {
  if (nbytes < 1024) return concat(nbytes, " bytes");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(nbytes) / 1024.0;
  size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < std::size(kUnits); ++unit) value /= 1024.0;
  return rounded(value, 2) + ' ' + kUnits[unit];
}

std::string MemoryHistory::holders_json(size_t most) const {
  std::string json = "[";
  for (const MemoryHolder& holder : holders(most)) {
    if (json.size() > 1) json += ", ";
    append_holder(json, holder);
  }
  return json + "]";
}

std::string MemoryHistory::holders_text(size_t most) const noexcept {
  try {
    std::string text;
    for (const MemoryHolder& holder : holders(most)) text += line_of(holder);
    return text;
  } catch (...) {  // no memory for it
    return {};
  }
}

std::string MemoryHistory::snapshot_members(std::vector<HistoryEntry> of_segments) const {
  std::vector<HistoryEntry> entries;
  std::vector<HistoryEntry> live;
  size_t most = 0;
  uint64_t count = 0;
  uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    most = ring_.size();
    count = count_;
    lost = lost_;
    const uint64_t first = count > most ? count - most : 0;
    for (uint64_t i = first; i < count; ++i) entries.push_back(ring_[i % most]);
    for (const auto& [data, block] : live_) {
      live.push_back({HistoryAction::kAllocate, data, block.nbytes, block.stream, block.time_ns,
                      block.context});
    }
  }
  entries.insert(entries.end(), of_segments.begin(), of_segments.end());
  const auto earlier = [](const HistoryEntry& a, const HistoryEntry& b) {
    return a.time_ns < b.time_ns;
  };
  std::stable_sort(entries.begin(), entries.end(), earlier);
  std::stable_sort(live.begin(), live.end(), earlier);
  const size_t skipped = entries.size() > most ? entries.size() - most : 0;
  entries.erase(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(skipped));

  Report report;
  report.json = "\"history\": [";
  for (const HistoryEntry& entry : entries) {
    if (&entry != entries.data()) report.json += ", ";
    report.append_entry(entry);
  }
  report.json += "], \"live\": [";
  for (const HistoryEntry& block : live) {
    if (&block != live.data()) report.json += ", ";
    report.json +=
        concat("{\"address\": ", address(block.data), ", \"size\": ", block.nbytes,
               ", \"stream\": ", address(block.stream), ", \"time_ns\": ", block.time_ns);
    report.append_context(block.context);
  }
  report.json += ']';
  report.append_texts();
  report.json += concat(", \"recording\": {\"running\": ", running(), ", \"entries\": ", most,
                        ", \"recorded\": ", count, ", \"lost\": ", lost, "}");
  return report.json;
}

}  // namespace tsr
