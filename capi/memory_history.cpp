// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The history of a device's memory: recording, holders, the page, observers of failures.
#include "memory/history.h"

#include <limits>

#include "base/immortal.h"
#include "base/json.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/log.h"
#include "capi/memory_callbacks.h"
#include "capi/structs.h"
#include "memory/caching_allocator.h"
#include "profile/memory_page.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

constexpr int64_t kMostEntries = int64_t{1} << 26;
constexpr int64_t kDefaultEntries = 100'000;

HistoryOptions options_arg(const tsr_memory_history_options* given) {
  const tsr_memory_history_options options = read_struct(given, "options");
  TSR_CHECK(options.entries >= 0 && options.entries <= kMostEntries, Code::kValue, "options",
            "expected entries from 0 to ", kMostEntries, ", got ", options.entries);
  TSR_CHECK(options.stacks >= 0, Code::kValue, "options", "expected a number of frames, got ",
            options.stacks);
  const bool known = options.context == TSR_MEMORY_CONTEXT_OPERATIONS ||
                     options.context == TSR_MEMORY_CONTEXT_NONE;
  TSR_CHECK(known, Code::kValue, "options", "expected a known context, got ", options.context);
  HistoryOptions wanted;
  wanted.entries = static_cast<size_t>(options.entries == 0 ? kDefaultEntries : options.entries);
  wanted.operations = options.context == TSR_MEMORY_CONTEXT_OPERATIONS;
  wanted.stack_frames = static_cast<uint32_t>(options.stacks);
  return wanted;
}

// ---- Settings ----

constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

CachingSettings settings_arg(const tsr_memory_settings* given) {
  const tsr_memory_settings from = read_struct(given, "settings");
  TSR_CHECK(from.max_split_size >= 0, Code::kValue, "settings",
            "expected a max_split_size of at least 0, got ", from.max_split_size);
  TSR_CHECK(from.max_non_split_rounding >= 0, Code::kValue, "settings",
            "expected a max_non_split_rounding of at least 0, got ", from.max_non_split_rounding);
  TSR_CHECK(from.roundup_power2_divisions >= 0, Code::kValue, "settings",
            "expected roundup_power2_divisions to be 0 or a power of two, got ",
            from.roundup_power2_divisions);
  CachingSettings to;
  to.max_split_size =
      from.max_split_size == kNoBound ? UINT64_MAX : static_cast<uint64_t>(from.max_split_size);
  to.max_non_split_rounding = static_cast<uint64_t>(from.max_non_split_rounding);
  to.garbage_collection_threshold = from.garbage_collection_threshold;
  to.roundup_power2_divisions = static_cast<uint32_t>(from.roundup_power2_divisions);
  to.expandable_segments = bool_arg(from.expandable_segments, "settings");
  return to;
}

tsr_memory_settings public_settings(const CachingSettings& from) {
  tsr_memory_settings to{};
  to.max_split_size = clamp_size(from.max_split_size);
  to.max_non_split_rounding = clamp_size(from.max_non_split_rounding);
  to.garbage_collection_threshold = from.garbage_collection_threshold;
  to.roundup_power2_divisions = static_cast<int32_t>(from.roundup_power2_divisions);
  to.expandable_segments = from.expandable_segments ? 1 : 0;
  return to;
}

// ---- Observers of out-of-memory errors ----

MemoryCallbacks<tsr_out_of_memory_fn>& observers() {
  return immortal<MemoryCallbacks<tsr_out_of_memory_fn>>();
}

void tell_observer(void* user, const MemoryPressure& pressure, uint64_t) {
  const auto entry = observers().find(user);
  if (!entry) return;
  const tsr_memory_event event = memory_event(pressure);
  try {
    entry->function(entry->data.get(), &event);
  } catch (...) {  // the error is reported without it
    log_message(TSR_LOG_ERROR, "memory",
                "an observer of out-of-memory errors threw an exception, which is lost");
  }
}

}  // namespace

extern "C" {

tsr_status tsr_memory_history_start(tsr_device_type device_type, int32_t device_index,
                                    const tsr_memory_history_options* options) {
  const Call call(kInfo_memory_history_start, DeviceOf{device_type, device_index}, options);
  return guard(call, [&] {
    Allocator& allocator = allocator_arg(device_type, device_index);
    const HistoryOptions wanted = options_arg(options);
    allocator.start_history(wanted);
  });
}

tsr_status tsr_memory_history_stop(tsr_device_type device_type, int32_t device_index) {
  return guard(Call(kInfo_memory_history_stop, DeviceOf{device_type, device_index}),
               [&] { allocator_arg(device_type, device_index).stop_history(); });
}

tsr_status tsr_memory_history_running(tsr_device_type device_type, int32_t device_index,
                                      int32_t* running) {
  return guard(Call(kInfo_memory_history_running, DeviceOf{device_type, device_index}), [&] {
    const MemoryHistory* history = allocator_arg(device_type, device_index).history();
    *out_arg(running, "running") = history != nullptr && history->running() ? 1 : 0;
  });
}

tsr_status tsr_memory_holders(tsr_device_type device_type, int32_t device_index, int64_t count,
                              tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_memory_holders, DeviceOf{device_type, device_index}, count), [&] {
    out_arg(json, "json");
    const MemoryHistory* history = allocator_arg(device_type, device_index).history();
    TSR_CHECK(count >= 0, Code::kValue, "count", "expected a number of holders, got ", count);
    TSR_CHECK(history != nullptr && history->running(), Code::kValue, nullptr,
              "expected a device whose memory is recorded, got one without a recording");
    give_text(history->holders_json(static_cast<size_t>(count)), json);
  });
}

tsr_status tsr_memory_viewer_html(tsr_device_type device_type, int32_t device_index,
                                  tsr_buffer* html) {
  clear(html);
  return guard(Call(kInfo_memory_viewer_html, DeviceOf{device_type, device_index}), [&] {
    out_arg(html, "html");
    give_text(profile::memory_page(allocator_arg(device_type, device_index).snapshot()), html);
  });
}

tsr_status tsr_memory_viewer_page(const char* snapshot, int64_t snapshot_len, tsr_buffer* html) {
  clear(html);
  return guard(Call(kInfo_memory_viewer_page, TextOf{snapshot, snapshot_len}), [&] {
    out_arg(html, "html");
    const std::string_view text = text_arg(snapshot, snapshot_len, "snapshot");
    const std::optional<Json> parsed = Json::try_parse(text);
    TSR_CHECK(parsed && parsed->contains("segments") && parsed->contains("history"), Code::kValue,
              "snapshot", "expected the text of a snapshot");
    give_text(profile::memory_page(text), html);
  });
}

tsr_status tsr_memory_out_of_memory_add(tsr_device_type device_type, int32_t device_index,
                                        tsr_out_of_memory_fn callback, void* user, tsr_drop_fn drop,
                                        int64_t* id) {
  UserData data(user, drop);
  const Call call(kInfo_memory_out_of_memory_add, DeviceOf{device_type, device_index}, callback);
  return guard(call, [&] {
    callback_arg(callback);
    out_arg(id, "id");
    CachingAllocator& caching = caching_arg(device_type, device_index);
    observers().add(callback, std::move(data), caching, id, [&](void* number) {
      caching.add_out_of_memory_observer({tell_observer, number});
    });
  });
}

tsr_status tsr_memory_out_of_memory_remove(int64_t id) {
  return guard(Call(kInfo_memory_out_of_memory_remove, id), [&] {
    const auto entry = observers().take(id);
    TSR_CHECK(entry != nullptr, Code::kValue, "id",
              "expected the number of an observer of out-of-memory errors, got ", id);
    entry->allocator->remove_out_of_memory_observer({tell_observer, memory_callback_user(id)});
  });
}

tsr_status tsr_memory_settings_get(tsr_device_type device_type, int32_t device_index,
                                   tsr_memory_settings* settings) {
  return guard(Call(kInfo_memory_settings_get, DeviceOf{device_type, device_index}, settings), [&] {
    const CachingAllocator& caching = caching_arg(device_type, device_index);
    fill_struct(settings, public_settings(caching.settings()), "settings");
  });
}

tsr_status tsr_memory_settings_set(tsr_device_type device_type, int32_t device_index,
                                   const tsr_memory_settings* settings) {
  return guard(Call(kInfo_memory_settings_set, DeviceOf{device_type, device_index}, settings), [&] {
    CachingAllocator& caching = caching_arg(device_type, device_index);
    caching.configure(settings_arg(settings));
  });
}

tsr_status tsr_memory_set_limit_fraction(tsr_device_type device_type, int32_t device_index,
                                         double fraction) {
  const Call call(kInfo_memory_set_limit_fraction, DeviceOf{device_type, device_index}, fraction);
  return guard(call, [&] { caching_arg(device_type, device_index).set_limit_fraction(fraction); });
}

}  // extern "C"
