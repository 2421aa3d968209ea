// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/simulated_graphs.h"

namespace tsr::sim {
namespace {

struct Stream {
  uint64_t busy_until = 0;
  uint64_t kernel_time = kKernelTime;
};
struct Event {
  uint64_t time = 0;
};
struct Use {
  StreamHandle stream;
  const std::byte* begin;
  const std::byte* end;
  uint64_t until;
};

struct State {
  std::mutex mutex;
  uint64_t capacity = kDefaultCapacity;
  uint64_t used = 0;
  uint64_t clock = 0;
  std::map<std::byte*, uint64_t> segments;
  std::map<std::byte*, uint64_t> ranges;  // reserved addresses
  std::map<std::byte*, uint64_t> mapped;
  std::vector<std::unique_ptr<Stream>> streams;
  Stream default_stream;
  std::set<Event*> events;
  std::vector<Use> uses;
  Calls calls;
  int32_t refuse = 0;
  int32_t broken_allocations = 0;
  int32_t broken_records = 0;
  void (*observer)(void*) = nullptr;
  void* observer_user = nullptr;
};

State& state(int32_t index) {
  static auto* const states = new std::array<State, kDeviceCount>;
  return (*states)[static_cast<size_t>(index)];
}

Stream& stream_of(State& s, StreamHandle handle) {
  return handle == nullptr ? s.default_stream : *static_cast<Stream*>(handle);
}

uint64_t end_of_all_work(const State& s) {
  uint64_t end = std::max(s.clock, s.default_stream.busy_until);
  for (const auto& stream : s.streams) end = std::max(end, stream->busy_until);
  return end;
}

// ---- Delayed effects ----

// Of all devices, by the time at which they take place.
struct Effects {
  std::mutex mutex;
  bool delayed = false;
  std::multimap<uint64_t, std::function<void()>> pending;
};
Effects& effects() {
  static auto* const all = new Effects;
  return *all;
}

void run_effects(uint64_t until) {
  Effects& all = effects();
  const std::lock_guard lock(all.mutex);
  while (!all.pending.empty() && all.pending.begin()->first <= until) {
    const std::function<void()> run = std::move(all.pending.begin()->second);
    all.pending.erase(all.pending.begin());
    run();
  }
}

// `run` takes place at `time`, or now.
void add_effect(uint64_t time, std::function<void()> run) {
  Effects& all = effects();
  {
    const std::lock_guard lock(all.mutex);
    if (all.delayed) {
      all.pending.emplace(time, std::move(run));
      return;
    }
  }
  run();
}

bool effects_are_delayed() {
  const std::lock_guard lock(effects().mutex);
  return effects().delayed;
}

// ---- The timeline ----

struct Timeline {
  std::mutex mutex;
  bool running = false;
  std::map<std::pair<int32_t, StreamHandle>, int64_t> ends;  // of the work so far
  std::vector<std::pair<std::string, DeviceActivity>> done;
};
Timeline& timeline() {
  static auto* const of_all_devices = new Timeline;
  return *of_all_devices;
}
thread_local std::vector<uint64_t> t_correlations;

int64_t real_time() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

void note_work(StreamHandle stream, uint64_t duration, int32_t index, const char* name,
               uint64_t copied) {
  Timeline& line = timeline();
  const std::lock_guard lock(line.mutex);
  if (!line.running) return;
  int64_t& end = line.ends[{index, stream}];
  DeviceActivity work{};
  work.begin = std::max(end, real_time());
  work.end = end = work.begin + static_cast<int64_t>(duration) * kTimelineUnit;
  work.correlation = t_correlations.empty() ? 0 : t_correlations.back();
  work.stream = reinterpret_cast<uintptr_t>(stream);
  work.nbytes = copied;
  work.device = index;
  work.copies = copied != 0 ? 1 : 0;
  line.done.emplace_back(name, work);
}

int32_t run_timeline(bool on) {
  const std::lock_guard lock(timeline().mutex);
  timeline().running = on;
  timeline().ends.clear();
  if (on) timeline().done.clear();
  return kDeviceOk;
}
int32_t start_timeline() {
  return run_timeline(true);
}
int32_t stop_timeline() {
  return run_timeline(false);
}
int32_t enter_launch(uint64_t correlation) {
  t_correlations.push_back(correlation);
  return kDeviceOk;
}
int32_t leave_launch() {
  if (t_correlations.empty()) return kBrokenDevice;
  t_correlations.pop_back();
  return kDeviceOk;
}
int32_t take_work(void (*give)(void* user, const DeviceActivity* activity), void* user) {
  Timeline& line = timeline();
  const std::lock_guard lock(line.mutex);
  for (auto& [name, work] : line.done) {
    work.name = name.c_str();
    give(user, &work);
  }
  line.done.clear();
  return kDeviceOk;
}
constexpr DeviceTimeline kTimeline = {start_timeline, stop_timeline, enter_launch, leave_launch,
                                      take_work};

void wait_until(State& s, uint64_t time) {
  s.clock = std::max(s.clock, time);
  run_effects(s.clock);
  std::erase_if(s.uses, [&](const Use& use) { return use.until <= s.clock; });
}

uint64_t end_of_stream(int32_t index, StreamHandle stream) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return stream_of(s, stream).busy_until;
}

std::byte* map_host(uint64_t nbytes) {
  void* data = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

void observe(State& s) {
  void (*observer)(void*) = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(s.mutex);
    observer = s.observer;
    user = s.observer_user;
  }
  if (observer != nullptr) observer(user);
}

// ---- The interface ----

int32_t device_count() {
  return kDeviceCount;
}

// Whether `nbytes` more fit and no failure was requested. The caller holds the lock.
int32_t admit(State& s, uint64_t nbytes) {
  if (s.broken_allocations > 0) {
    --s.broken_allocations;
    return kBrokenDevice;
  }
  if (s.refuse > 0) {
    --s.refuse;
    return kDeviceOutOfMemory;
  }
  return nbytes > s.capacity - s.used ? kDeviceOutOfMemory : kDeviceOk;
}

int32_t raw_allocate(int32_t device, uint64_t nbytes, void** out) {
  State& s = state(device);
  observe(s);
  const std::lock_guard lock(s.mutex);
  ++s.calls.raw_allocate;
  if (const int32_t code = admit(s, nbytes); code != kDeviceOk) return code;
  std::byte* data = map_host(nbytes);
  if (data == nullptr) return kDeviceOutOfMemory;
  s.segments.emplace(data, nbytes);
  s.used += nbytes;
  *out = data;
  return kDeviceOk;
}

int32_t raw_free(int32_t device, void* data, uint64_t nbytes) {
  State& s = state(device);
  observe(s);
  const std::lock_guard lock(s.mutex);
  ++s.calls.raw_free;
  const auto found = s.segments.find(static_cast<std::byte*>(data));
  if (found == s.segments.end() || found->second != nbytes) return kBrokenDevice;
  wait_until(s, end_of_all_work(s));
  munmap(data, nbytes);
  s.used -= nbytes;
  s.segments.erase(found);
  return kDeviceOk;
}

int32_t memory_info(int32_t device, uint64_t* free_bytes, uint64_t* total_bytes) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  *free_bytes = s.capacity - s.used;
  *total_bytes = s.capacity;
  return kDeviceOk;
}

int32_t reserve(int32_t device, uint64_t nbytes, void** out) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  std::byte* data = map_host(nbytes);
  if (data == nullptr) return kDeviceOutOfMemory;
  s.ranges.emplace(data, nbytes);
  *out = data;
  return kDeviceOk;
}

int32_t map(int32_t device, void* data, uint64_t nbytes) {
  State& s = state(device);
  observe(s);
  const std::lock_guard lock(s.mutex);
  ++s.calls.map;
  if (const int32_t code = admit(s, nbytes); code != kDeviceOk) return code;
  if (!s.mapped.emplace(static_cast<std::byte*>(data), nbytes).second) return kBrokenDevice;
  s.used += nbytes;
  return kDeviceOk;
}

// Unmaps pages that were mapped by one call, or by several calls for adjacent ranges.
int32_t unmap(int32_t device, void* data, uint64_t nbytes) {
  State& s = state(device);
  observe(s);
  const std::lock_guard lock(s.mutex);
  ++s.calls.unmap;
  auto* begin = static_cast<std::byte*>(data);
  std::byte* place = begin;
  while (place < begin + nbytes) {
    const auto found = s.mapped.find(place);
    if (found == s.mapped.end()) return kBrokenDevice;
    place += found->second;
  }
  if (place != begin + nbytes) return kBrokenDevice;
  wait_until(s, end_of_all_work(s));
  s.mapped.erase(s.mapped.find(begin), s.mapped.lower_bound(place));
  madvise(data, nbytes, MADV_DONTNEED);
  s.used -= nbytes;
  return kDeviceOk;
}

int32_t unreserve(int32_t device, void* data, uint64_t nbytes) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  munmap(data, nbytes);
  return s.ranges.erase(static_cast<std::byte*>(data)) == 1 ? kDeviceOk : kBrokenDevice;
}

int32_t stream_create(int32_t device, StreamHandle* out) {
  *out = make_stream(device);
  return kDeviceOk;
}

int32_t stream_destroy(int32_t, StreamHandle) {
  return kDeviceOk;
}

int32_t stream_synchronize(int32_t device, StreamHandle stream) {
  if (keep_in_graph(device, stream, nullptr)) return kBrokenDevice;
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.stream_synchronize;
  wait_until(s, stream_of(s, stream).busy_until);
  return kDeviceOk;
}

int32_t stream_wait_event(int32_t device, StreamHandle stream, EventHandle event) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  Stream& waiting = stream_of(s, stream);
  waiting.busy_until = std::max(waiting.busy_until, static_cast<Event*>(event)->time);
  return kDeviceOk;
}

int32_t event_create(int32_t device, EventHandle* out) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.event_create;
  auto event = std::make_unique<Event>();
  s.events.insert(event.get());  // may run out of memory
  *out = event.release();
  return kDeviceOk;
}

int32_t event_destroy(int32_t device, EventHandle event) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  if (s.events.erase(static_cast<Event*>(event)) != 1) return kBrokenDevice;
  delete static_cast<Event*>(event);
  return kDeviceOk;
}

int32_t event_record(int32_t device, EventHandle event, StreamHandle stream) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.event_record;
  if (s.broken_records > 0) {
    --s.broken_records;
    return kBrokenDevice;
  }
  static_cast<Event*>(event)->time = std::max(s.clock, stream_of(s, stream).busy_until);
  return kDeviceOk;
}

int32_t event_query(int32_t device, EventHandle event, int32_t* done) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.event_query;
  *done = static_cast<Event*>(event)->time <= s.clock ? 1 : 0;
  return kDeviceOk;
}

int32_t event_synchronize(int32_t device, EventHandle event) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.event_synchronize;
  wait_until(s, static_cast<Event*>(event)->time);
  return kDeviceOk;
}

// Only a copy to the host waits for earlier work.
int32_t copy(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
             StreamHandle stream) {
  if (keep_in_graph(device, stream, nullptr)) return kBrokenDevice;
  if (kind == CopyKind::kHostToDevice && effects_are_delayed()) {
    const auto* const begin = static_cast<const std::byte*>(src);
    std::vector<std::byte> bytes(begin, begin + nbytes);
    launch_kernel(
        stream, [dst, kept = std::move(bytes)] { std::memcpy(dst, kept.data(), kept.size()); },
        device, "copy to device", nbytes);
    return kDeviceOk;
  }
  note_work(stream, kHostCopyTime, device,
            kind == CopyKind::kDeviceToHost ? "copy to host" : "copy to device", nbytes);
  const int32_t code =
      kind == CopyKind::kDeviceToHost ? stream_synchronize(device, stream) : kDeviceOk;
  std::memcpy(dst, src, nbytes);
  return code;
}

int32_t copy_peer(int32_t, void* dst, int32_t src_device, const void* src, uint64_t nbytes,
                  StreamHandle stream) {
  launch(stream, kPeerCopyTime, src, nbytes, src_device);
  add_effect(end_of_stream(src_device, stream), [=] { std::memcpy(dst, src, nbytes); });
  return kDeviceOk;
}

int32_t host_allocate(int32_t device, uint64_t nbytes, void** out) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.host_allocate;
  if (const int32_t code = admit(s, 0); code != kDeviceOk) return code;
  *out = map_host(nbytes);
  return *out == nullptr ? kDeviceOutOfMemory : kDeviceOk;
}

int32_t host_free(int32_t device, void* data, uint64_t nbytes) {
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  wait_until(s, end_of_all_work(s));
  munmap(data, nbytes);
  return kDeviceOk;
}

// The simulated time says how long the host memory is in use.
int32_t copy_unwaited(int32_t device, void* dst, const void* src, uint64_t nbytes, CopyKind kind,
                      StreamHandle stream) {
  launch(stream, kHostCopyTime, kind == CopyKind::kHostToDevice ? src : dst, nbytes, device);
  add_effect(end_of_stream(device, stream), [=] { std::memcpy(dst, src, nbytes); });
  State& s = state(device);
  const std::lock_guard lock(s.mutex);
  ++s.calls.copy_unwaited;
  return kDeviceOk;
}

int32_t adopt_stream(int32_t, StreamHandle given, StreamHandle* own) {
  if (given == kRefusedStream) return kDeviceStreamRefused;
  *own = given;
  return kDeviceOk;
}

const char* error_text(int32_t code) {
  switch (code) {
    case kDeviceOk:
      return "no error";
    case kDeviceOutOfMemory:
      return "out of memory";
    case kDeviceStreamRefused:
      return "expected a stream that the simulated device can have";
    default:
      return "the simulated device is broken";
  }
}

constexpr DeviceInterface kInterface = {
    .device_count = device_count,
    .raw_allocate = raw_allocate,
    .raw_free = raw_free,
    .memory_info = memory_info,
    .reserve = nullptr,
    .map = nullptr,
    .unmap = nullptr,
    .unreserve = nullptr,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait_event = stream_wait_event,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .copy = copy,
    .copy_peer = copy_peer,
    .host_allocate = host_allocate,
    .host_free = host_free,
    .copy_unwaited = copy_unwaited,
    .device_synchronize = nullptr,
    .adopt_stream = adopt_stream,
    .take_fault = nullptr,
    .timeline = &kTimeline,
    .allocation_granularity = kGranularity,
    .error_text = error_text,
};

constexpr DeviceInterface make_expandable() {
  DeviceInterface expandable = kInterface;
  expandable.reserve = reserve;
  expandable.map = map;
  expandable.unmap = unmap;
  expandable.unreserve = unreserve;
  return expandable;
}
constexpr DeviceInterface kExpandable = make_expandable();

}  // namespace

const DeviceInterface& device_interface() {
  return kInterface;
}
const DeviceInterface& expandable_device_interface() {
  return kExpandable;
}

void reset(int32_t index, uint64_t capacity) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  for (const auto& [data, nbytes] : s.segments) munmap(data, nbytes);
  for (const auto& [data, nbytes] : s.ranges) munmap(data, nbytes);
  for (Event* event : s.events) delete event;
  s.segments.clear();
  s.ranges.clear();
  s.mapped.clear();
  s.events.clear();
  s.streams.clear();
  s.uses.clear();
  s.default_stream = Stream{};
  s.calls = Calls{};
  s.capacity = capacity;
  s.used = s.clock = 0;
  s.refuse = s.broken_allocations = s.broken_records = 0;
  s.observer = nullptr;
}

Calls calls(int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return s.calls;
}

uint64_t used_bytes(int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return s.used;
}

int64_t live_segments(int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return static_cast<int64_t>(s.segments.size());
}

int64_t live_events(int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return static_cast<int64_t>(s.events.size());
}

StreamHandle make_stream(int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return s.streams.emplace_back(std::make_unique<Stream>()).get();
}

void launch(StreamHandle stream, uint64_t duration, const void* data, uint64_t nbytes,
            int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  Stream& queue = stream_of(s, stream);
  queue.busy_until = std::max(queue.busy_until, s.clock) + duration;
  if (data == nullptr) return;
  const auto* begin = static_cast<const std::byte*>(data);
  s.uses.push_back(Use{stream, begin, begin + nbytes, queue.busy_until});
}

void launch_kernel(StreamHandle stream, std::function<void()> run, int32_t index, const char* name,
                   uint64_t copied) {
  if (keep_in_graph(index, stream, run)) return;
  uint64_t end = 0;
  uint64_t duration = 0;
  {
    State& s = state(index);
    const std::lock_guard lock(s.mutex);
    Stream& queue = stream_of(s, stream);
    duration = queue.kernel_time;
    queue.busy_until = end = std::max(queue.busy_until, s.clock) + duration;
  }
  note_work(stream, duration, index, name, copied);
  add_effect(end, std::move(run));
}

void delay_effects(bool on) {
  {
    const std::lock_guard lock(effects().mutex);
    effects().delayed = on;
  }
  if (on) return;
  for (int32_t index = 0; index < kDeviceCount; ++index) {
    State& s = state(index);
    const std::lock_guard lock(s.mutex);
    wait_until(s, end_of_all_work(s));
  }
}

void set_kernel_time(StreamHandle stream, uint64_t duration, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  stream_of(s, stream).kernel_time = duration;
}

uint64_t now(int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  return s.clock;
}

void advance(uint64_t duration, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  wait_until(s, s.clock + duration);
}

bool in_use_by_others(StreamHandle stream, const void* data, uint64_t nbytes, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  const auto* begin = static_cast<const std::byte*>(data);
  return std::any_of(s.uses.begin(), s.uses.end(), [&](const Use& use) {
    return use.stream != stream && use.until > s.clock && use.begin < begin + nbytes &&
           begin < use.end;
  });
}

void refuse_allocations(int32_t count, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  s.refuse = count;
}

void break_allocations(int32_t count, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  s.broken_allocations = count;
}

void break_event_records(int32_t count, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  s.broken_records = count;
}

void set_observer(void (*observer)(void*), void* user, int32_t index) {
  State& s = state(index);
  const std::lock_guard lock(s.mutex);
  s.observer = observer;
  s.observer_user = user;
}

}  // namespace tsr::sim
