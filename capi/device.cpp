// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Devices, plugins, threads, and the thread-local state that can move between threads.
#include "autograd/grad_mode.h"
#include "base/parallel.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/structs.h"
#include "kernel/plugin.h"
#include "kernel/registry.h"
#include "memory/stream.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

constexpr int32_t kMaxThreads = 1024;  // more is a mistake that the system would punish

}  // namespace

extern "C" {

tsr_status tsr_device_count(tsr_device_type device_type, int32_t* count) {
  return guard(kInfo_device_count, [&] {
    const bool known = device_type == TSR_DEVICE_CPU || device_type == TSR_DEVICE_CUDA ||
                       device_type == TSR_DEVICE_SIMULATED;
    TSR_CHECK(known, Code::kDevice, "device_type", "expected a device type, got ", device_type);
    *out_arg(count, "count") = kernel::device_count(static_cast<DeviceType>(device_type));
  });
}

tsr_status tsr_device_synchronize(tsr_device_type device_type, int32_t device_index) {
  return guard(kInfo_device_synchronize, [&] {
    const Device device = device_arg(device_type, device_index, "device");
    synchronize_device(device, *kernel::backend_for(device).device);
  });
}

tsr_status tsr_plugin_load(const char* path, int64_t path_len) {
  return guard(kInfo_plugin_load, [&] {
    TSR_CHECK(path != nullptr, Code::kInvalidArgument, "path", "expected a path, got NULL");
    kernel::load_backend(text_arg(path, path_len, "path"));
  });
}

int32_t tsr_num_threads(void) {
  return num_threads();
}

tsr_status tsr_set_num_threads(int32_t count) {
  return guard(kInfo_set_num_threads, [&] {
    TSR_CHECK(count >= 1 && count <= kMaxThreads, Code::kValue, "count", "expected 1 to ",
              kMaxThreads, " threads, got ", count);
    set_num_threads(count);
  });
}

tsr_status tsr_ambient_save(tsr_ambient* ambient) {
  return guard(kInfo_ambient_save, [&] {
    tsr_ambient state{};
    state.grad_mode = t_grad_mode.record ? 1 : 0;
    state.inference_mode = t_grad_mode.inference ? 1 : 0;
    state.defer_drops = drops_deferred() ? 1 : 0;
    state.scope = t_scope;
    fill_struct(ambient, state, "ambient");
  });
}

tsr_status tsr_ambient_restore(const tsr_ambient* ambient) {
  return guard(kInfo_ambient_restore, [&] {
    const tsr_ambient state = read_struct(ambient, "ambient");
    const bool record = bool_arg(state.grad_mode, "ambient");
    const bool inference = bool_arg(state.inference_mode, "ambient");
    const bool defer = bool_arg(state.defer_drops, "ambient");
    auto* scope = static_cast<ScopeObject*>(state.scope);
    TSR_CHECK(scope == nullptr || is_live(scope, ObjectTag::kScope), Code::kInvalidArgument,
              "ambient", "expected a scope that is open");
    t_grad_mode = {record, inference};
    set_drops_deferred(defer);
    t_scope = scope;
  });
}

}  // extern "C"
