// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/ipc_storage.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "memory/caching_allocator.h"
#include "memory/stream.h"
#include "tensor/shared_storage.h"

namespace tsr {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kSlots = kPageBytes / sizeof(std::atomic<int64_t>);

std::array<std::atomic<const IpcInterface*>, kMaxDeviceTypes> g_interfaces{};

const IpcInterface& ipc_of(Device device) {
  const IpcInterface* found =
      device.is_cpu()
          ? nullptr
          : g_interfaces[static_cast<size_t>(device.type)].load(std::memory_order_acquire);
  TSR_CHECK(found != nullptr, Code::kNotImplemented, "tensor",
            "expected a device that shows its memory to other processes, got ", device);
  return *found;
}

// ---- The text ----

struct Text {
  int32_t process;
  Device device;
  uint64_t nbytes;
  uint64_t offset;  // of the storage in the memory of the handle
  IpcBytes memory;
  IpcBytes event;
  std::string page;  // name of the shared memory with the counter
  uint64_t slot;
};

std::string hex_of(const IpcBytes& bytes) {
  std::string text;
  for (const unsigned char byte : bytes.bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

bool from_hex(const char* text, IpcBytes* out) {
  if (std::strlen(text) != 2 * sizeof(out->bytes)) return false;
  for (size_t i = 0; i < sizeof(out->bytes); ++i) {
    unsigned byte = 0;
    if (std::sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
    out->bytes[i] = static_cast<unsigned char>(byte);
  }
  return true;
}

std::string to_text(const Text& given) {
  return concat("tessera-ipc-1 ", given.process, " ", static_cast<int32_t>(given.device.type), " ",
                given.device.index, " ", given.nbytes, " ", given.offset, " ", hex_of(given.memory),
                " ", hex_of(given.event), " ", given.page, " ", given.slot);
}

Text to_fields(std::string_view handle) {
  Text found{};
  int type = 0;
  int index = 0;
  unsigned long long nbytes = 0;
  unsigned long long offset = 0;
  unsigned long long slot = 0;
  std::array<char, 132> memory{};
  std::array<char, 132> event{};
  std::array<char, 104> page{};
  const std::string text(handle.substr(0, 1024));
  const int fields = std::sscanf(
      text.c_str(), "tessera-ipc-1 %d %d %d %llu %llu %131s %131s %103s %llu", &found.process,
      &type, &index, &nbytes, &offset, memory.data(), event.data(), page.data(), &slot);
  TSR_CHECK(fields == 9 && from_hex(memory.data(), &found.memory) &&
                from_hex(event.data(), &found.event) && slot < kSlots && type > 0 &&
                type < static_cast<int>(kMaxDeviceTypes) && index >= 0 &&
                index < static_cast<int>(kMaxDeviceIndex),
            Code::kValue, "handle", "expected the text of an exported handle, got ",
            text.substr(0, 60));
  found.device = Device{static_cast<DeviceType>(type), static_cast<decltype(Device::index)>(index)};
  found.nbytes = nbytes;
  found.offset = offset;
  found.page = page.data();
  found.slot = slot;
  return found;
}

// ---- Both sides ----

// The values of a counter, besides the id of the process that has opened the handle.
constexpr int64_t kInTransit = -1;
constexpr int64_t kDone = 0;

std::atomic<int64_t>& counter(const StoragePtr& page, uint64_t slot) noexcept {
  return static_cast<std::atomic<int64_t>*>(page->data)[slot];
}

// An event until the end of its scope, unless somebody takes it over.
class OwnedEvent {
 public:
  OwnedEvent(const DeviceInterface& device, int32_t index) : device_(device), index_(index) {}
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  ~OwnedEvent() {
    if (event_ != nullptr) device_.event_destroy(index_, event_);
  }
  EventHandle* place() { return &event_; }
  [[nodiscard]] EventHandle get() const { return event_; }
  [[nodiscard]] EventHandle release() { return std::exchange(event_, nullptr); }

 private:
  const DeviceInterface& device_;
  int32_t index_;
  EventHandle event_ = nullptr;
};

// Takes a handle for this process. Given back at the end of its scope unless it is kept, so that a
// handle that could not be opened can be tried again.
class Claim {
 public:
  explicit Claim(std::atomic<int64_t>& counter) : counter_(counter) {
    int64_t in_transit = kInTransit;
    TSR_CHECK(counter.compare_exchange_strong(in_transit, ::getpid()), Code::kIo, "handle",
              "expected a handle that was not opened before");
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (!kept_) counter_.store(kInTransit, std::memory_order_release);
  }
  void keep() { kept_ = true; }

 private:
  std::atomic<int64_t>& counter_;
  bool kept_ = false;
};

// Whether nobody uses what the handle of this counter shows: it was released, or its process has
// ended.
bool is_over(int64_t value) noexcept {
  return value == kDone ||
         (value > 0 && ::kill(static_cast<pid_t>(value), 0) != 0 && errno == ESRCH);
}

struct Sent {
  StoragePtr storage;
  StoragePtr page;
  uint64_t slot;
  EventHandle event;
};

// Memory of another process that is mapped here, once for all storages in it.
struct Mapped {
  void* base = nullptr;
  int64_t uses = 0;
};

struct Received {
  Device device;
  std::string memory;  // the bytes of the handle: the key of its Mapped
  StoragePtr page;
  uint64_t slot;
  EventHandle done = nullptr;  // after the last release: marks the end of the work
};

struct Tables {
  GuardedMutex mutex{LockLevel::kOuter};
  std::vector<Sent> sent;
  StoragePtr page;  // has free slots from next_slot on
  std::atomic<uint64_t> next_slot{kSlots};
  std::map<std::string, Mapped> mapped;
  std::vector<std::unique_ptr<Received>> leaving;
  std::array<bool, kMaxDeviceTypes> watched{};  // a pressure callback is installed
};

Tables& tables() {
  return immortal<Tables>();
}

// Closes what this process opened and no longer uses, as far as its work is done. The results are
// destroyed by the caller, without the lock.
std::vector<std::unique_ptr<Received>> take_departed(Tables& all) {
  std::vector<std::unique_ptr<Received>> gone;
  for (size_t i = 0; i < all.leaving.size();) {
    Received& received = *all.leaving[i];
    const DeviceInterface& device = interface_of(received.device);
    int32_t done = 0;
    if (device.event_query(received.device.index, received.done, &done) != kDeviceOk || done == 0) {
      ++i;
      continue;
    }
    device.event_destroy(received.device.index, received.done);
    const auto mapped = all.mapped.find(received.memory);
    if (mapped != all.mapped.end() && --mapped->second.uses == 0) {
      ipc_of(received.device).memory_close(received.device.index, mapped->second.base);
      all.mapped.erase(mapped);
    }
    counter(received.page, received.slot).store(kDone, std::memory_order_release);
    gone.push_back(std::move(all.leaving[i]));
    all.leaving.erase(all.leaving.begin() + static_cast<ptrdiff_t>(i));
  }
  return gone;
}

// Runs in a finalizer: waits for nothing. What cannot be marked stays mapped to the process' end.
void release_received(void* context, void*, uint64_t) noexcept {
  std::unique_ptr<Received> received(static_cast<Received*>(context));
  try {
    const Device where = received->device;
    const DeviceInterface& device = interface_of(where);
    if (device.event_create(where.index, &received->done) != kDeviceOk ||
        device.event_record(where.index, received->done, current_stream(where)) != kDeviceOk) {
      static_cast<void>(received.release());
      return;
    }
    std::vector<std::unique_ptr<Received>> gone;  // destroyed after the lock is released
    Tables& all = tables();
    const std::lock_guard lock(all.mutex);
    all.leaving.push_back(std::move(received));
    gone = take_departed(all);
  } catch (...) {
    static_cast<void>(received.release());
  }
}

bool collect_under_pressure(void*, const MemoryPressure&) {
  try {
    return collect_ipc() > 0;
  } catch (...) {
    return false;
  }
}

}  // namespace

void install_ipc(DeviceType type, const IpcInterface& interface) {
  if (interface.version == kIpcVersion)
    g_interfaces[static_cast<size_t>(type)].store(&interface, std::memory_order_release);
}

std::string export_ipc(const StoragePtr& storage) {
  const Device device = storage->device;
  const IpcInterface& ipc = ipc_of(device);
  const DeviceInterface& interface = interface_of(device);
  CachingAllocator* allocator = allocator_for(device).caching();
  void* base = allocator == nullptr ? nullptr : allocator->segment_of(storage->data);
  TSR_CHECK(base != nullptr, Code::kBuffer, "tensor",
            "expected memory of this library's allocator, which another process can open");
  static_cast<void>(collect_ipc());
  Text text{};
  text.process = ::getpid();
  text.device = device;
  text.nbytes = storage->nbytes;
  text.offset = static_cast<uint64_t>(static_cast<char*>(storage->data) - static_cast<char*>(base));
  check_call(ipc.memory_handle(device.index, base, &text.memory), device, interface, "IPC handle");
  OwnedEvent event(interface, device.index);
  check_call(ipc.event_create(device.index, event.place()), device, interface, "IPC event");
  check_call(interface.event_record(device.index, event.get(), current_stream(device)), device,
             interface, "IPC event");
  check_call(ipc.event_handle(device.index, event.get(), &text.event), device, interface,
             "IPC event");
  Tables& all = tables();
  StoragePtr page;  // also what is replaced: destroyed without the lock
  for (;;) {
    if (page == nullptr && all.next_slot.load() == kSlots)
      page = allocate_shared_storage(kPageBytes, ShareStrategy::kFileSystem);
    const std::lock_guard lock(all.mutex);
    if (all.next_slot.load() == kSlots) {
      if (page == nullptr) continue;  // another thread took the last slot meanwhile
      std::swap(all.page, page);
      all.next_slot = 0;
    }
    text.page = shared_memory_of(*all.page)->name();
    text.slot = all.next_slot.load();
    all.sent.push_back({storage, all.page, text.slot, event.get()});
    static_cast<void>(event.release());
    all.next_slot = text.slot + 1;
    counter(all.page, text.slot).store(kInTransit, std::memory_order_release);
    const auto type = static_cast<size_t>(device.type);
    if (!std::exchange(all.watched[type], true))
      allocator->add_pressure_callback({collect_under_pressure, nullptr});
    return to_text(text);
  }
}

Device ipc_device(std::string_view handle) {
  return to_fields(handle).device;
}

StoragePtr open_ipc(std::string_view handle) {
  Text text = to_fields(handle);
  Tables& all = tables();
  if (text.process == ::getpid()) {
    const std::lock_guard lock(all.mutex);
    for (const Sent& sent : all.sent) {
      if (sent.slot != text.slot || shared_memory_of(*sent.page)->name() != text.page) continue;
      int64_t in_transit = kInTransit;
      if (!counter(sent.page, sent.slot).compare_exchange_strong(in_transit, kDone)) break;
      return sent.storage;
    }
    fail(Code::kIo, "handle", __FILE__, __LINE__, "expected a handle that was not opened before");
  }
  const Device device = text.device;
  const IpcInterface& ipc = ipc_of(device);
  const DeviceInterface& interface = interface_of(device);
  auto received = std::make_unique<Received>();
  received->device = device;
  received->memory.assign(reinterpret_cast<const char*>(text.memory.bytes), sizeof(IpcBytes));
  received->page = open_shared_storage(text.page, kPageBytes);
  received->slot = text.slot;
  Claim claim(counter(received->page, text.slot));
  OwnedEvent event(interface, device.index);
  check_call(ipc.event_open(device.index, &text.event, event.place()), device, interface,
             "IPC event");
  check_call(interface.stream_wait_event(device.index, current_stream(device), event.get()), device,
             interface, "IPC event");
  char* base = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    Mapped& mapped = all.mapped[received->memory];
    if (mapped.uses == 0) {
      const int32_t code = ipc.memory_open(device.index, &text.memory, &mapped.base);
      if (code != kDeviceOk) all.mapped.erase(received->memory);
      check_call(code, device, interface, "IPC memory");
    }
    ++mapped.uses;
    base = static_cast<char*>(mapped.base);
  }
  claim.keep();
  return wrap_storage(device, base + text.offset, text.nbytes, release_received,
                      received.release());
}

int64_t collect_ipc() {
  Tables& all = tables();
  std::vector<std::unique_ptr<Received>> gone;
  std::vector<Sent> finished;
  {
    const std::lock_guard lock(all.mutex);
    gone = take_departed(all);
    std::erase_if(all.sent, [&](Sent& sent) {
      if (!is_over(counter(sent.page, sent.slot).load(std::memory_order_acquire))) return false;
      finished.push_back(std::move(sent));
      return true;
    });
  }
  for (const Sent& sent : finished) {
    const Device device = sent.storage->device;
    interface_of(device).event_destroy(device.index, sent.event);
  }
  return static_cast<int64_t>(finished.size());
}

}  // namespace tsr
