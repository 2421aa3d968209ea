// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Profilers.
#include "base/text.h"
#include "base/trace.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/json_args.h"
#include "capi/structs.h"
#include "io/file.h"
#include "kernel/registry.h"
#include "profile/export.h"
#include "profile/profiler.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

using profile::Profile;
using profile::Profiler;

constexpr int32_t kKinds = TSR_TRACE_EVERYTHING | TSR_TRACE_ANNOTATION;
static_assert(kKinds == kAllTraceKinds);

// ---- Arguments of calls as JSON ----

void append_shape(std::string& shapes, std::string& dtypes, const TensorImpl& tensor) {
  shapes += '[';
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (i != 0) shapes += ',';
    shapes += std::to_string(tensor.sizes.data()[i]);
  }
  shapes += ']';
  append_text(dtypes, concat('"' + std::string(name(tensor.dtype)), "\""));
}

// An argument that is not checked yet: what is no live tensor has the shape of a number.
void append_tensor(std::string& shapes, std::string& dtypes, const void* handle) {
  const auto tensor = static_cast<tsr_tensor>(const_cast<void*>(handle));
  if (tensor != nullptr && is_live(tensor, ObjectTag::kTensor))
    return append_shape(shapes, dtypes, *reinterpret_cast<const TensorImpl*>(tensor));
  shapes += "[]";
  dtypes += "\"\"";
}

constexpr int32_t kMostListed = 64;  // tensors of a list whose shapes are kept

void append_tensors(std::string& shapes, std::string& dtypes, const tsr_value& list) {
  const auto* handles = static_cast<const tsr_tensor*>(list.pointer);
  const bool sane = handles != nullptr && list.n >= 0 && list.n <= kMaxListLength;
  const int32_t count = sane ? std::min(list.n, kMostListed) : 0;
  shapes += '[';
  dtypes += '[';
  for (int32_t i = 0; i < count; ++i) {
    if (i != 0) shapes += ',', dtypes += ',';
    append_tensor(shapes, dtypes, handles[i]);
  }
  shapes += ']';
  dtypes += ']';
}

// One entry for each tensor argument. Nothing for a function without any.
void describe_shapes(const TraceEvent& event, std::string& shapes, std::string& dtypes) {
  const auto* values = static_cast<const tsr_value*>(event.args);
  for (int32_t i = 0; i < event.n_args; ++i) {
    if (values[i].kind != TSR_VALUE_TENSOR && values[i].kind != TSR_VALUE_TENSORS) continue;
    shapes += shapes.empty() ? '[' : ',';
    dtypes += dtypes.empty() ? '[' : ',';
    if (values[i].kind == TSR_VALUE_TENSOR)
      append_tensor(shapes, dtypes, values[i].pointer);
    else
      append_tensors(shapes, dtypes, values[i]);
  }
  if (shapes.empty()) return;
  shapes += ']';
  dtypes += ']';
}

// ---- Options ----

Profiler& profiler_arg(tsr_profiler handle) {
  return *object_arg<Profiler>(handle, profile::kProfilerTag, "profiler", "profiler");
}

IntrusivePtr<Profiler> kept_profiler(tsr_profiler handle) {
  Profiler& profiler = profiler_arg(handle);
  retain(&profiler);
  return IntrusivePtr<Profiler>::adopt(&profiler);
}

profile::ProfilerOptions options_arg(const tsr_profiler_options* from) {
  const auto given = read_struct(from, "options");
  check_flags(given.kinds, kKinds, "options");
  profile::ProfilerOptions options;
  options.record.kinds = given.kinds == 0 ? kAllTraceKinds : static_cast<uint32_t>(given.kinds);
  if (bool_arg(given.shapes, "options")) options.record.describe = describe_shapes;
  options.record.stacks = bool_arg(given.stacks, "options");
  options.record.capacity = given.capacity;
  options.record.first_own_id = kInfo_profiler_new.id;
  options.record.last_own_id = kInfo_profile_roof.id;
  options.schedule = {given.skip_first, given.wait, given.warmup, given.active, given.repeat};
  return options;
}

std::string written(const Profile& recording, tsr_profile_format format) {
  switch (format) {
    case TSR_PROFILE_CHROME:
      return profile::chrome_trace(recording);
    case TSR_PROFILE_EVENTS:
      return profile::events_json(recording);
    case TSR_PROFILE_HTML:
      return profile::html_page(recording, profile::known_roofs());
    default:
      fail_argument(Code::kInvalidArgument, "format", "a known format", format);
  }
}

profile::Summary summary_of(tsr_profiler profiler, tsr_profile_group group, tsr_profile_sort sort) {
  const auto rows = enum_arg<profile::Group>(
      group, {TSR_PROFILE_BY_OPS, TSR_PROFILE_BY_OPS_SHAPES, TSR_PROFILE_BY_KERNELS}, "group");
  const auto order = enum_arg<profile::SortBy>(
      sort,
      {TSR_PROFILE_SORT_SELF, TSR_PROFILE_SORT_TOTAL, TSR_PROFILE_SORT_DEVICE,
       TSR_PROFILE_SORT_COUNT, TSR_PROFILE_SORT_FLOPS, TSR_PROFILE_SORT_BYTES,
       TSR_PROFILE_SORT_NAME},
      "sort");
  return profile::summarize(profiler_arg(profiler).profile(), rows, order, profile::known_roofs());
}

}  // namespace

extern "C" {

tsr_status tsr_profiler_new(const tsr_profiler_options* options, tsr_profile_ready_fn callback,
                            void* user, tsr_drop_fn drop, tsr_profiler* profiler) {
  UserData data(user, drop);
  clear(profiler);
  return guard(Call(kInfo_profiler_new, options, callback), [&] {
    out_arg(profiler, "profiler");
    Profiler::OnReady on_ready;
    // The callback gets the profiler that owns it, whose handle is only known below.
    auto self = std::make_shared<tsr_profiler>(nullptr);
    if (callback != nullptr) {
      on_ready = [callback, self, owner = share(std::move(data))] {
        call_host("profile_ready", callback, owner->get(), *self);
      };
    }
    give_object(new Profiler(options_arg(options), std::move(on_ready)), profiler);
    *self = *profiler;
  });
}

void tsr_profiler_retain(tsr_profiler profiler) {
  retain_handle(profiler, profile::kProfilerTag);
}
void tsr_profiler_release(tsr_profiler profiler) {
  release_handle<Profiler>(profiler, profile::kProfilerTag);
}

tsr_status tsr_profiler_start(tsr_profiler profiler) {
  return guard(Call(kInfo_profiler_start, profiler), [&] { profiler_arg(profiler).start(); });
}
// The callback of these two may release the profiler.
tsr_status tsr_profiler_step(tsr_profiler profiler) {
  return guard(Call(kInfo_profiler_step, profiler), [&] { kept_profiler(profiler)->step(); });
}
tsr_status tsr_profiler_stop(tsr_profiler profiler) {
  return guard(Call(kInfo_profiler_stop, profiler), [&] { kept_profiler(profiler)->stop(); });
}

tsr_status tsr_profiler_action(tsr_profiler profiler, int32_t* action) {
  return guard(Call(kInfo_profiler_action, profiler), [&] {
    *out_arg(action, "action") = static_cast<int32_t>(profiler_arg(profiler).action());
  });
}

tsr_status tsr_profiler_text(tsr_profiler profiler, tsr_profile_format format, tsr_buffer* text) {
  clear(text);
  return guard(Call(kInfo_profiler_text, profiler, format), [&] {
    out_arg(text, "text");
    give_text(written(profiler_arg(profiler).profile(), format), text);
  });
}

tsr_status tsr_profiler_export(tsr_profiler profiler, tsr_profile_format format, const char* path,
                               int64_t path_len) {
  return guard(Call(kInfo_profiler_export, profiler, format, TextOf{path, path_len}), [&] {
    const std::string text = written(profiler_arg(profiler).profile(), format);
    io::NewFile file(path_arg(path, path_len));
    file.write(text.data(), text.size());
    file.commit(false);
  });
}

tsr_status tsr_profiler_table(tsr_profiler profiler, tsr_profile_group group, tsr_profile_sort sort,
                              int64_t rows, tsr_buffer* text) {
  clear(text);
  return guard(Call(kInfo_profiler_table, profiler, group, sort, rows), [&] {
    out_arg(text, "text");
    give_text(profile::table_text(summary_of(profiler, group, sort), rows), text);
  });
}

tsr_status tsr_profiler_rows(tsr_profiler profiler, tsr_profile_group group, tsr_profile_sort sort,
                             tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_profiler_rows, profiler, group, sort), [&] {
    out_arg(json, "json");
    give_text(profile::rows_json(summary_of(profiler, group, sort)), json);
  });
}

int64_t tsr_profile_range_begin(const char* name, int64_t name_len) {
  if (!is_traced(TraceKind::kAnnotation) || name == nullptr) return 0;
  return begin_range(name_len < 0 ? std::string_view(name)
                                  : std::string_view(name, static_cast<size_t>(name_len)));
}

void tsr_profile_range_end(int64_t range) {
  if (range != 0) end_range(range);
}

tsr_status tsr_profile_roof(tsr_device_type device_type, int32_t device_index,
                            double* bytes_per_second, double* flops_per_second) {
  return guard(Call(kInfo_profile_roof, DeviceOf{device_type, device_index}), [&] {
    out_arg(bytes_per_second, "bytes_per_second");
    out_arg(flops_per_second, "flops_per_second");
    const Device device = device_arg(device_type, device_index, "device");
    static_cast<void>(kernel::backend_for(device));
    const profile::Roof roof = profile::measured_roof(device);
    *bytes_per_second = roof.bytes_per_second;
    *flops_per_second = roof.flops_per_second;
  });
}

}  // extern "C"
