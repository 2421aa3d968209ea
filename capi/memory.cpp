// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Memory: statistics, limits and pressure callbacks of the devices' allocators.
#include <bit>
#include <limits>

#include "base/immortal.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/log.h"
#include "capi/memory_callbacks.h"
#include "capi/structs.h"
#include "memory/caching_allocator.h"
#include "memory/pinned.h"
#include "ops/create/copy.h"

using namespace tsr;
using namespace tsr::capi;

static_assert(sizeof(tsr_memory_pool_stat) == sizeof(PoolStat));
static_assert(static_cast<int>(PoolKind::kLarge) == 0,
              "large_pool comes first in tsr_memory_pool_stat");

namespace {

uint64_t size_arg(int64_t nbytes, const char* arg) {
  TSR_CHECK(nbytes >= 0, Code::kValue, arg, "expected a number of bytes, got ", nbytes);
  return static_cast<uint64_t>(nbytes);
}

// INT64_MAX means no bound.
uint64_t bound_arg(int64_t nbytes, const char* arg) {
  const uint64_t bound = size_arg(nbytes, arg);
  return nbytes == std::numeric_limits<int64_t>::max() ? UINT64_MAX : bound;
}

tsr_memory_stats public_stats(const MemoryStats& from) {
  const auto pools = [](const PoolStat& stat) { return std::bit_cast<tsr_memory_pool_stat>(stat); };
  const auto one = [](const Stat& stat) { return std::bit_cast<tsr_memory_stat>(stat); };
  tsr_memory_stats to{};
  to.allocated = pools(from.allocated);
  to.allocated_bytes = pools(from.allocated_bytes);
  to.segment = pools(from.segment);
  to.reserved_bytes = pools(from.reserved_bytes);
  to.active = pools(from.active);
  to.active_bytes = pools(from.active_bytes);
  to.inactive_split = pools(from.inactive_split);
  to.inactive_split_bytes = pools(from.inactive_split_bytes);
  to.requested_bytes = pools(from.requested_bytes);
  to.oversize_allocations = one(from.oversize_allocations);
  to.oversize_segments = one(from.oversize_segments);
  to.num_alloc_retries = from.num_alloc_retries;
  to.num_ooms = from.num_ooms;
  to.num_sync_all_streams = from.num_sync_all_streams;
  to.num_device_alloc = from.num_device_alloc;
  to.num_device_free = from.num_device_free;
  to.max_split_size = from.max_split_size;
  return to;
}

// ---- Pressure callbacks ----

MemoryCallbacks<tsr_pressure_fn>& pressure_callbacks() {
  return immortal<MemoryCallbacks<tsr_pressure_fn>>();
}

bool call_pressure(void* user, const MemoryPressure& pressure) {
  const auto entry = pressure_callbacks().find(user);
  if (!entry) return false;
  const tsr_memory_event event = memory_event(pressure);
  try {
    return entry->function(entry->data.get(), &event) == TSR_PRESSURE_FREED_MAYBE;
  } catch (...) {  // the allocation continues without the callback
    log_message(TSR_LOG_ERROR, "memory", "a pressure callback threw an exception, which is lost");
    return false;
  }
}

}  // namespace

extern "C" {

tsr_status tsr_memory_stats_get(tsr_device_type device_type, int32_t device_index,
                                tsr_memory_stats* stats) {
  return guard(Call(kInfo_memory_stats_get, DeviceOf{device_type, device_index}, stats), [&] {
    fill_struct(stats, public_stats(allocator_arg(device_type, device_index).stats()), "stats");
  });
}

tsr_status tsr_memory_stats_json(tsr_device_type device_type, int32_t device_index,
                                 tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_memory_stats_json, DeviceOf{device_type, device_index}), [&] {
    out_arg(json, "json");
    give_text(allocator_arg(device_type, device_index).stats().to_json(), json);
  });
}

tsr_status tsr_memory_snapshot(tsr_device_type device_type, int32_t device_index,
                               tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_memory_snapshot, DeviceOf{device_type, device_index}), [&] {
    out_arg(json, "json");
    give_text(allocator_arg(device_type, device_index).snapshot(), json);
  });
}

tsr_status tsr_memory_empty_cache(tsr_device_type device_type, int32_t device_index,
                                  int64_t* freed) {
  return guard(Call(kInfo_memory_empty_cache, DeviceOf{device_type, device_index}), [&] {
    Allocator& allocator = allocator_arg(device_type, device_index);
    CachingAllocator* pinned = existing_pinned_allocator(allocator.device());
    out_arg(freed, "freed");
    *freed = clamp_size(allocator.trim(0) + (pinned != nullptr ? pinned->trim(0) : 0));
  });
}

tsr_status tsr_tensor_pin_memory(tsr_tensor tensor, tsr_device_type device_type,
                                 int32_t device_index, tsr_tensor* result) {
  clear(result);
  return guard(Call(kInfo_tensor_pin_memory, tensor, DeviceOf{device_type, device_index}), [&] {
    const TensorArg arg(tensor, "tensor");
    out_arg(result, "result");
    give(ops::pin_memory(arg.get(), optional_device_arg(device_type, device_index, "device")),
         result);
  });
}

tsr_status tsr_tensor_is_pinned(tsr_tensor tensor, int32_t* pinned) {
  return guard(Call(kInfo_tensor_is_pinned, tensor), [&] {
    const TensorArg arg(tensor, "tensor");
    *out_arg(pinned, "pinned") = ops::is_pinned(arg.get()) ? 1 : 0;
  });
}

tsr_status tsr_memory_trim(tsr_device_type device_type, int32_t device_index, int64_t keep,
                           int64_t* freed) {
  return guard(Call(kInfo_memory_trim, DeviceOf{device_type, device_index}, keep), [&] {
    Allocator& allocator = allocator_arg(device_type, device_index);
    out_arg(freed, "freed");
    *freed = clamp_size(allocator.trim(size_arg(keep, "keep")));
  });
}

tsr_status tsr_memory_limit(tsr_device_type device_type, int32_t device_index, int64_t* nbytes) {
  return guard(Call(kInfo_memory_limit, DeviceOf{device_type, device_index}), [&] {
    const Allocator& allocator = allocator_arg(device_type, device_index);
    *out_arg(nbytes, "nbytes") = clamp_size(allocator.limit());
  });
}

tsr_status tsr_memory_set_limit(tsr_device_type device_type, int32_t device_index, int64_t nbytes) {
  return guard(Call(kInfo_memory_set_limit, DeviceOf{device_type, device_index}, nbytes), [&] {
    Allocator& allocator = allocator_arg(device_type, device_index);
    allocator.set_limit(bound_arg(nbytes, "nbytes"));
  });
}

tsr_status tsr_memory_reset_peak(tsr_device_type device_type, int32_t device_index) {
  return guard(Call(kInfo_memory_reset_peak, DeviceOf{device_type, device_index}),
               [&] { allocator_arg(device_type, device_index).reset_peak(); });
}

tsr_status tsr_memory_pressure_add(tsr_device_type device_type, int32_t device_index,
                                   tsr_pressure_fn callback, void* user, tsr_drop_fn drop,
                                   int64_t* id) {
  UserData data(user, drop);
  return guard(Call(kInfo_memory_pressure_add, DeviceOf{device_type, device_index}, callback), [&] {
    callback_arg(callback);
    out_arg(id, "id");
    CachingAllocator& caching = caching_arg(device_type, device_index);
    pressure_callbacks().add(callback, std::move(data), caching, id, [&](void* number) {
      caching.add_pressure_callback({call_pressure, number});
    });
  });
}

tsr_status tsr_memory_pressure_remove(int64_t id) {
  return guard(Call(kInfo_memory_pressure_remove, id), [&] {
    const auto entry = pressure_callbacks().take(id);
    TSR_CHECK(entry != nullptr, Code::kValue, "id",
              "expected the number of a pressure callback, got ", id);
    entry->allocator->remove_pressure_callback({call_pressure, memory_callback_user(id)});
  });
}

tsr_status tsr_memory_pressure_threshold(tsr_device_type device_type, int32_t device_index,
                                         int64_t* nbytes) {
  return guard(Call(kInfo_memory_pressure_threshold, DeviceOf{device_type, device_index}), [&] {
    const CachingAllocator& caching = caching_arg(device_type, device_index);
    *out_arg(nbytes, "nbytes") = clamp_size(caching.pressure_threshold());
  });
}

tsr_status tsr_memory_pressure_threshold_set(tsr_device_type device_type, int32_t device_index,
                                             int64_t nbytes) {
  const Call call(kInfo_memory_pressure_threshold_set, DeviceOf{device_type, device_index}, nbytes);
  return guard(call, [&] {
    CachingAllocator& caching = caching_arg(device_type, device_index);
    caching.set_pressure_threshold(bound_arg(nbytes, "nbytes"));
  });
}

int64_t tsr_live_handles(void) {
  return live_handles();
}

}  // extern "C"
