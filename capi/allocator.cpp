// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Allocators of the host: a table of functions behind an ExternalAllocator.
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/structs.h"
#include "memory/allocator.h"
#include "memory/external_allocator.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

struct HostAllocator {
  tsr_allocator_vtable table;
  UserData data;
};

HostAllocator& host_of(void* user) noexcept {
  return *static_cast<HostAllocator*>(user);
}

// If the host only returns a failure, it is passed on, and the error then says what was requested
// and how much is in use. An error that the host has described is thrown with its payload.
int32_t host_allocate(void* user, int32_t device, int64_t nbytes, int64_t alignment, void* stream,
                      void** block) {
  HostAllocator& host = host_of(user);
  const uint64_t before = failures_recorded();
  const tsr_status status =
      host.table.allocate(host.data.get(), device, nbytes, alignment, stream, block);
  const bool plain = status == TSR_OUT_OF_MEMORY && failures_recorded() == before;
  if (status != TSR_OK && !plain) throw_host_failure(status, before, "allocate");
  return status;
}

void host_deallocate(void* user, int32_t device, void* block, int64_t nbytes, void* stream) {
  HostAllocator& host = host_of(user);
  host.table.deallocate(host.data.get(), device, block, nbytes, stream);
}

int32_t host_record_stream(void* user, int32_t device, void* block, void* stream) {
  HostAllocator& host = host_of(user);
  call_host("record_stream", host.table.record_stream, host.data.get(), device, block, stream);
  return TSR_OK;
}

int64_t host_trim(void* user, int32_t device, int64_t keep) {
  HostAllocator& host = host_of(user);
  return host.table.trim(host.data.get(), device, keep);
}

void host_drop(void* user) {
  delete static_cast<HostAllocator*>(user);
}

// The device's own allocator, and the host's allocator that replaces it now.
struct Served {
  Allocator* own;
  ExternalAllocator* host;
};

// The host's allocators are never destroyed: another thread may be about to use one that has just
// been replaced.
struct Table {
  GuardedMutex mutex{LockLevel::kOuter};
  std::map<std::pair<DeviceType, int32_t>, Served> devices;
  std::vector<std::unique_ptr<ExternalAllocator>> hosts;
};
Table& table() {
  return immortal<Table>();
}

// Installs the host's allocator; null restores the device's own.
void serve(Device device, std::unique_ptr<ExternalAllocator> host) {
  ExternalAllocator* replaced = nullptr;
  {
    const std::lock_guard lock(table().mutex);
    Allocator& now = allocator_for(device);
    table().hosts.reserve(table().hosts.size() + 1);
    Served& served = table()
                         .devices.try_emplace({device.type, device.index}, Served{&now, nullptr})
                         .first->second;
    replaced = std::exchange(served.host, host.get());
    Allocator& next = host != nullptr ? *host : *served.own;
    set_allocator(device, next);
    if (host != nullptr) table().hosts.push_back(std::move(host));
  }
  if (replaced != nullptr) replaced->retire();  // may drop the host's data, so no lock may be held
}

}  // namespace

extern "C" {

tsr_status tsr_memory_allocator_set(tsr_device_type device_type, int32_t device_index,
                                    const tsr_allocator_vtable* vtable, void* user) {
  UserData data(user, drop_of(vtable));
  const Call call(kInfo_memory_allocator_set, DeviceOf{device_type, device_index}, vtable, user);
  return guard(call, [&] {
    const Device device = device_arg(device_type, device_index, "device");
    const tsr_allocator_vtable given = read_struct(vtable, "vtable");
    TSR_CHECK(given.flags == 0, Code::kInvalidArgument, "vtable", "expected no flags, got ",
              given.flags);
    TSR_CHECK(given.allocate != nullptr && given.deallocate != nullptr, Code::kInvalidArgument,
              "vtable", "expected functions that allocate and deallocate");
    auto host = std::unique_ptr<HostAllocator>(new HostAllocator{given, std::move(data)});
    ExternalFunctions functions;
    functions.user = host.get();
    functions.allocate = host_allocate;
    functions.deallocate = host_deallocate;
    functions.record_stream = given.record_stream != nullptr ? host_record_stream : nullptr;
    functions.trim = given.trim != nullptr ? host_trim : nullptr;
    functions.drop = host_drop;
    auto allocator = std::make_unique<ExternalAllocator>(device, functions);
    static_cast<void>(host.release());
    serve(device, std::move(allocator));
  });
}

tsr_status tsr_memory_allocator_reset(tsr_device_type device_type, int32_t device_index) {
  return guard(Call(kInfo_memory_allocator_reset, DeviceOf{device_type, device_index}),
               [&] { serve(device_arg(device_type, device_index, "device"), nullptr); });
}

}  // extern "C"
