// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <utility>

#include "base/fork_mutex.h"
#include "base/guarded_mutex.h"
#include "base/host_stack.h"
#include "base/immortal.h"
#include "base/thread_exit.h"
#include "profile/costs.h"
#include "profile/timelines.h"

namespace tsr::profile {
namespace {

constexpr size_t kChunkEvents = 512;

struct Chunk {
  Chunk* older;
  size_t size;
  Event events[kChunkEvents];
};

// Note [Logs of threads]
// A thread writes its events into a log of its own, without a lock. `busy` is set while it writes.
// Who takes the logs first clears g_recording, and then waits until no log is busy: a thread sets
// `busy` before it looks at g_recording, so it either sees that recording has paused or is waited
// for. A log outlives its thread, and another thread takes it over. A child of a fork keeps the log
// of the thread that forked. It never touches the others: their threads may have been writing.
struct Log {
  std::atomic<bool> busy{false};
  std::atomic<bool> owned{true};
  uint8_t mark = 0;  // the process, see fork_mark
  Chunk* newest = nullptr;
  int64_t lost = 0;
};

struct Logs {
  GuardedMutex mutex;
  std::vector<Log*> all;                 // never freed
  std::map<int32_t, std::string> names;  // of threads
};

std::atomic<bool> g_recording{false};
std::atomic<int64_t> g_free_chunks{0};  // that may still be made

// Threads may still read these for the last recording while the next one starts.
struct Settings {
  std::atomic<DescribeArguments> describe{nullptr};
  std::atomic<bool> stacks{false};
  std::atomic<int32_t> first_own_id{0}, last_own_id{0};
};
constinit Settings g_settings;
int64_t g_capacity = 0;

// See Note [Thread-local state].
constinit thread_local Log* t_log = nullptr;

void give_up_log() noexcept {
  if (Log* log = std::exchange(t_log, nullptr)) log->owned.store(false, std::memory_order_release);
}

void note_thread_name(Logs& logs, int32_t thread) {
  char name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  logs.names[thread] = name;
}

// Null if there is no memory.
Log* make_log(int32_t thread) noexcept {
  try {
    Logs& logs = immortal<Logs>();
    const std::lock_guard lock(logs.mutex);
    Log* log = t_log;  // after a fork; else it would not be called
    if (log == nullptr) {
      const auto free = std::find_if(logs.all.begin(), logs.all.end(), [](const Log* each) {
        return each->mark == fork_mark() && !each->owned.load(std::memory_order_acquire);
      });
      if (free != logs.all.end()) log = *free;
    }
    if (log == nullptr) {
      logs.all.reserve(logs.all.size() + 1);
      log = logs.all.emplace_back(new Log);
    }
    log->mark = fork_mark();
    log->owned.store(true, std::memory_order_relaxed);
    note_thread_name(logs, thread);
    if (!at_thread_exit(ThreadPart::kProfile, give_up_log)) {
      log->owned.store(false, std::memory_order_relaxed);
      return nullptr;
    }
    return t_log = log;
  } catch (...) {
    return nullptr;
  }
}

Event* next_place(Log& log) noexcept {
  Chunk* chunk = log.newest;
  if (chunk == nullptr || chunk->size == kChunkEvents) {
    if (g_free_chunks.fetch_sub(1, std::memory_order_relaxed) <= 0) return nullptr;
    chunk = static_cast<Chunk*>(std::malloc(sizeof(Chunk)));
    if (chunk == nullptr) return nullptr;
    chunk->size = 0;
    chunk->older = std::exchange(log.newest, chunk);
  }
  return &chunk->events[chunk->size++];
}

void write(Event& to, const TraceEvent& from, EventTexts* texts) noexcept {
  to.kind = from.kind;
  to.thread = from.thread;
  to.id = from.id;
  to.device_index = from.device_index;
  to.device_type = from.device_type;
  to.name = from.name;
  // Functions that are no operators have their C names in events.
  if (from.kind == TraceKind::kCall && std::strncmp(from.name, "tsr_", 4) == 0) to.name += 4;
  if (from.kind == TraceKind::kAnnotation)
    to.name = texts == nullptr ? "range" : texts->text(texts->name);
  to.family = from.family;
  to.begin = from.begin;
  to.end = from.end;
  to.correlation = from.correlation;
  to.parent = from.parent;
  to.value = from.value;
  to.object = from.object;
  to.stream = from.stream;
  to.cost = from.plan == nullptr ? Cost{} : cost_of(from.family, from.plan);
  to.texts = texts;
}

void append(const TraceEvent& event, void** kept) noexcept {
  Log* log = t_log;
  if (log == nullptr || log->mark != fork_mark()) log = make_log(event.thread);
  if (log == nullptr) return;
  log->busy.store(true);  // before the next load, in the order of all threads
  if (g_recording.load()) {
    if (Event* place = next_place(*log)) {
      auto* texts =
          kept == nullptr ? nullptr : static_cast<EventTexts*>(std::exchange(*kept, nullptr));
      write(*place, event, texts);
    } else {
      ++log->lost;
    }
  }
  log->busy.store(false, std::memory_order_release);
}

// ---- Texts, at the beginning of a span ----

EventTexts* make_texts(std::string_view name, const std::string& shapes, const std::string& dtypes,
                       const std::string& stack) noexcept {
  const std::string_view all[] = {name, shapes, dtypes, stack};
  size_t size = sizeof(EventTexts);
  for (const auto& text : all) size += text.size() + 1;
  auto* block = static_cast<char*>(std::malloc(size));
  if (block == nullptr) return nullptr;
  uint32_t offsets[4] = {};
  size_t at = sizeof(EventTexts);
  for (size_t i = 0; i < 4; ++i) {
    if (all[i].empty()) continue;
    offsets[i] = static_cast<uint32_t>(at);
    std::memcpy(block + at, all[i].data(), all[i].size());
    block[at + all[i].size()] = '\0';
    at += all[i].size() + 1;
  }
  return new (block) EventTexts{offsets[0], offsets[1], offsets[2], offsets[3]};
}

void* texts_of_call(const TraceEvent& event) noexcept {
  try {
    std::string shapes, dtypes;
    const DescribeArguments describe = g_settings.describe.load(std::memory_order_relaxed);
    if (describe != nullptr) describe(event, shapes, dtypes);
    const bool stacks = g_settings.stacks.load(std::memory_order_relaxed);
    const std::string stack = stacks ? host_stack_or_none() : std::string();
    if (shapes.empty() && stack.empty()) return nullptr;
    return make_texts({}, shapes, dtypes, stack);
  } catch (...) {  // an event without texts is better than none
    return nullptr;
  }
}

bool wants_texts() noexcept {
  return g_settings.describe.load(std::memory_order_relaxed) != nullptr ||
         g_settings.stacks.load(std::memory_order_relaxed);
}

bool is_own_call(const TraceEvent& event) noexcept {
  return event.kind == TraceKind::kCall &&
         event.id >= g_settings.first_own_id.load(std::memory_order_relaxed) &&
         event.id <= g_settings.last_own_id.load(std::memory_order_relaxed);
}

void begin(const TraceEvent& event, void** kept) noexcept {
  if (event.kind == TraceKind::kAnnotation) {
    const std::string none;
    *kept = make_texts(event.name, none, none, none);
  } else if (event.kind == TraceKind::kCall) {
    if (wants_texts()) *kept = texts_of_call(event);
  } else if (event.kind == TraceKind::kLaunch && !event_device_is_cpu(event)) {
    enter_timeline(event);
  }
}

void on_event(const TraceEvent& event, void** kept) noexcept {
  if (event.phase == TracePhase::kBegin) return begin(event, kept);
  if (event.kind == TraceKind::kLaunch && !event_device_is_cpu(event)) leave_timeline(event);
  if (!is_own_call(event)) append(event, kept);
}

int64_t chunks_for(int64_t events) {
  return (events + static_cast<int64_t>(kChunkEvents) - 1) / static_cast<int64_t>(kChunkEvents);
}

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

int64_t g_begin = 0;

// See Note [Logs of threads].
void pause() noexcept {
  g_recording.store(false);
  Logs& logs = immortal<Logs>();
  const std::lock_guard lock(logs.mutex);
  for (const Log* log : logs.all) {
    while (log->mark == fork_mark() && log->busy.load()) sched_yield();
  }
}

void empty(Log& log, Profile& into) {
  for (Chunk* chunk = log.newest; chunk != nullptr;) {
    into.events.insert(into.events.end(), chunk->events, chunk->events + chunk->size);
    Chunk* const older = chunk->older;
    log.newest = older;
    std::free(chunk);
    chunk = older;
  }
  into.lost += std::exchange(log.lost, 0);
}

// By thread and begin. Of two events that begin in one nanosecond the outer one was numbered first.
bool earlier(const Event& a, const Event& b) noexcept {
  if (a.thread != b.thread) return a.thread < b.thread;
  return a.begin != b.begin ? a.begin < b.begin : a.correlation < b.correlation;
}

}  // namespace

void start_recording(const RecordOptions& options) {
  static_cast<void>(take_recording());  // what a thread wrote while the last recording ended
  g_settings.describe.store(options.describe, std::memory_order_relaxed);
  g_settings.stacks.store(options.stacks, std::memory_order_relaxed);
  g_settings.first_own_id.store(options.first_own_id, std::memory_order_relaxed);
  g_settings.last_own_id.store(options.last_own_id, std::memory_order_relaxed);
  g_capacity = options.capacity;
  g_free_chunks.store(chunks_for(options.capacity));
  g_begin = now();
  g_recording.store(true);
  set_trace_hook(TraceListener::kProfiler, on_event, options.kinds);
}

void stop_recording() noexcept {
  set_trace_hook(TraceListener::kProfiler, nullptr, 0);
  pause();
}

Profile take_recording() {
  const bool recording = g_recording.load();
  pause();
  Profile profile;
  {
    Logs& logs = immortal<Logs>();
    const std::lock_guard lock(logs.mutex);
    for (Log* log : logs.all) {
      if (log->mark == fork_mark() || log == t_log) empty(*log, profile);
    }
    profile.threads = logs.names;
  }
  g_free_chunks.store(chunks_for(g_capacity));
  profile.begin = g_begin;
  profile.end = g_begin = now();
  g_recording.store(recording);
  std::sort(profile.events.begin(), profile.events.end(), earlier);
  return profile;
}

}  // namespace tsr::profile
