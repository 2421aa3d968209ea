// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/debug_handles.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/trace.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/log.h"
#include "capi/program/program.h"
#include "dist/collectives.h"
#include "dist/data_parallel.h"
#include "dist/sharded_optimizer.h"
#include "io/safetensors.h"
#include "memory/quarantine.h"
#include "optim/grad_scaler.h"
#include "optim/optimizer.h"
#include "profile/profiler.h"

namespace tsr::capi {
namespace {

// Note [Handles under debug]
// The table has an entry for each live handle, with the function that made it, and keeps the
// entries of the handles released last. The memory of dead tensors and nodes waits in a queue
// (memory/quarantine.h) before it is used again, so that the address of a released handle is not
// taken by a new one. The name of the function comes from trace events, for which this mode has a
// listener of its own. This is the only part of the library that may write to stderr: a user who
// sets TSR_DEBUG asks for it.

constexpr size_t kQuarantined = 8192;  // unless the variable says quarantine=N

std::string_view setting() noexcept {
  const char* value = std::getenv("TSR_DEBUG");
  return value == nullptr ? std::string_view() : std::string_view(value);
}

size_t quarantined() noexcept {
  constexpr std::string_view kName = "quarantine=";
  const size_t at = setting().find(kName);
  if (at == std::string_view::npos) return kQuarantined;
  return std::strtoull(setting().data() + at + kName.size(), nullptr, 10);
}

struct Entry {
  int64_t references = 0;  // 0 after the release
  uint64_t number = 0;     // counts the handles, from 1
  const char* made_by = "";
  ObjectTag kind = ObjectTag::kDead;
};

struct Released {
  const void* handle;
  uint64_t number;
};

struct Table {
  GuardedMutex mutex;
  std::unordered_map<const void*, Entry> entries;
  std::deque<Released> released;  // oldest first
  size_t most_released = quarantined();
  uint64_t given_out = 0;
};

Table& table() {
  return immortal<Table>();
}

// ---- The calling function ----

// The ABI functions that this thread is in, innermost last. Deeper calls count as the deepest one
// here.
struct Calls {
  static constexpr int kDeepest = 8;
  const char* names[kDeepest];
  int depth;
};
constinit thread_local Calls t_calls = {};

void note_call(const TraceEvent& event, void**) noexcept {
  if (event.phase == TracePhase::kBegin) {
    if (t_calls.depth < Calls::kDeepest) t_calls.names[t_calls.depth] = event.name;
    ++t_calls.depth;
  } else if (t_calls.depth > 0) {
    --t_calls.depth;
  }
}

const char* current_call() noexcept {
  if (t_calls.depth == 0) return "a getter";
  return t_calls.names[std::min(t_calls.depth, Calls::kDeepest) - 1];
}

// ---- Texts ----

const char* kind_name(ObjectTag kind) noexcept {
  // Of the layers above autograd, which have tags of their own.
  if (kind == optim::kOptimizerTag) return "optimizer";
  if (kind == optim::kGradScalerTag) return "gradient scaler";
  if (kind == io::kArchiveTag) return "archive";
  if (kind == profile::kProfilerTag) return "profiler";
  if (kind == program::kProgramTag) return "program";
  if (kind == dist::kGroupTag) return "group";
  if (kind == dist::kWorkTag) return "work";
  if (kind == dist::kDataParallelTag) return "data-parallel";
  if (kind == dist::kShardedOptimizerTag) return "sharded optimizer";
  switch (kind) {
    case ObjectTag::kTensor:
      return "tensor";
    case ObjectTag::kNode:
      return "node";
    case ObjectTag::kGenerator:
      return "generator";
    case ObjectTag::kStream:
      return "stream";
    case ObjectTag::kEvent:
      return "event";
    case ObjectTag::kError:
      return "error";
    case ObjectTag::kBuffer:
      return "buffer";
    case ObjectTag::kScope:
      return "scope";
    case ObjectTag::kAmbient:
      return "saved state";
    default:
      return "object";
  }
}

using Listed = std::vector<Entry>;

// The live handles, oldest first.
Listed live_entries() {
  Listed live;
  {
    const std::lock_guard lock(table().mutex);
    for (const auto& [handle, entry] : table().entries) {
      if (entry.references > 0) live.push_back(entry);
    }
  }
  std::sort(live.begin(), live.end(),
            [](const Entry& a, const Entry& b) { return a.number < b.number; });
  return live;
}

// One line for each function that made handles which were never released.
std::string leak_report() {
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, uint64_t>> found;
  for (const Entry& entry : live_entries()) {
    auto& [count, first] = found[{kind_name(entry.kind), entry.made_by}];
    if (count++ == 0) first = entry.number;
  }
  std::string text;
  for (const auto& [what, figures] : found) {
    text += concat("tessera: ", figures.first, " ", what.first, " handle",
                   figures.first == 1 ? "" : "s", " of ", what.second,
                   " never released (the first is handle ", figures.second, ")\n");
  }
  return text;
}

void report_leaks() noexcept {
  try {
    const std::string text = leak_report();
    if (text.empty()) return;
    log_message(TSR_LOG_WARNING, "handles", text);
    const char* path = std::getenv("TSR_DEBUG_FILE");
    std::FILE* file = path == nullptr ? stderr : std::fopen(path, "a");
    if (file == nullptr) return;
    std::fputs(text.c_str(), file);
    path == nullptr ? std::fflush(file) : std::fclose(file);
  } catch (...) {  // no memory for a report
  }
}

}  // namespace

namespace {

bool start_if_wanted() {
  if (setting().find("handles") == std::string_view::npos) return false;
  set_trace_hook(TraceListener::kHandles, note_call, static_cast<uint32_t>(TraceKind::kCall));
  start_quarantine(quarantined());
  // Registered before the program's own handlers, so that it runs after them, when they have
  // released everything.
  static_cast<void>(std::atexit(report_leaks));
  return true;
}

}  // namespace

const bool g_debug_handles = start_if_wanted();

void debug_hand_out(const void* handle) noexcept {
  try {
    const std::lock_guard lock(table().mutex);
    Entry& entry = table().entries[handle];
    if (entry.references++ > 0) return;
    entry.number = ++table().given_out;
    entry.made_by = current_call();
    entry.kind = static_cast<const Object*>(handle)->tag;
    return;
  } catch (...) {
  }
  log_message(TSR_LOG_ERROR, "handles", "no memory to note a handle");
}

bool debug_take_back(const void* handle) noexcept {
  try {
    Table& known = table();
    const std::lock_guard lock(known.mutex);
    const auto found = known.entries.find(handle);
    if (found == known.entries.end() || found->second.references == 0) return false;
    if (--found->second.references > 0) return true;
    known.released.push_back({handle, found->second.number});
    while (known.released.size() > known.most_released) {
      const Released oldest = known.released.front();
      known.released.pop_front();
      const auto entry = known.entries.find(oldest.handle);
      const bool same = entry != known.entries.end() && entry->second.number == oldest.number;
      if (same && entry->second.references == 0) known.entries.erase(entry);
    }
  } catch (...) {  // no memory for the entry of the released handle
  }
  return true;
}

bool debug_is_live(const void* handle) noexcept {
  const std::lock_guard lock(table().mutex);
  const auto found = table().entries.find(handle);
  return found != table().entries.end() && found->second.references > 0;
}

std::string debug_history(const void* handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().entries.find(handle);
  if (found == table().entries.end()) return {};
  const Entry& entry = found->second;
  return concat(": the ", kind_name(entry.kind), " that ", entry.made_by, " gave out as handle ",
                entry.number);
}

void report_bad_release(const void* handle) noexcept {
  try {
    const std::string known = g_debug_handles ? debug_history(handle) : std::string();
    log_message(TSR_LOG_ERROR, "handles",
                concat("a handle was released that is not out, or of another kind", known));
  } catch (...) {  // no memory for the text
  }
}

std::string debug_snapshot() {
  std::string json = "[";
  for (const Entry& entry : live_entries()) {
    json += concat(json.size() == 1 ? "" : ",", "{\"handle\":", entry.number, ",\"kind\":\"",
                   kind_name(entry.kind), "\",\"made_by\":\"", entry.made_by,
                   "\",\"references\":", entry.references, "}");
  }
  return json + "]";
}

}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_debug_snapshot(tsr_buffer* json) {
  clear(json);
  return guard(kInfo_debug_snapshot, [&] {
    out_arg(json, "json");
    TSR_CHECK(g_debug_handles, Code::kValue, nullptr,
              "expected TSR_DEBUG=handles in the environment when the library was loaded");
    give_text(debug_snapshot(), json);
  });
}

}  // extern "C"
