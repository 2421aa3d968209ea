// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Devices, plugins and threads.
#include <algorithm>

#include "base/openmp_team.h"
#include "base/parallel.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "kernel/plugin.h"
#include "kernel/precision.h"
#include "kernel/registry.h"
#include "memory/stream.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

constexpr int32_t kMaxThreads = 1024;  // a larger number must be a mistake

}  // namespace

extern "C" {

tsr_status tsr_device_count(tsr_device_type device_type, int32_t* count) {
  return guard(Call(kInfo_device_count, device_type), [&] {
    const DeviceType type = device_type_arg(device_type, "device_type");
    *out_arg(count, "count") = kernel::device_count(type);
  });
}

tsr_status tsr_device_synchronize(tsr_device_type device_type, int32_t device_index) {
  return guard(Call(kInfo_device_synchronize, DeviceOf{device_type, device_index}), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    synchronize_device(device, *kernel::backend_for(device).device);
  });
}

tsr_status tsr_plugin_load(const char* path, int64_t path_len) {
  return guard(Call(kInfo_plugin_load, TextOf{path, path_len}), [&] {
    TSR_CHECK(path != nullptr, Code::kInvalidArgument, "path", "expected a path, got NULL");
    kernel::load_backend(text_arg(path, path_len, "path"));
  });
}

int32_t tsr_num_threads(void) {
  return num_threads();
}

tsr_status tsr_set_num_threads(int32_t count) {
  return guard(Call(kInfo_set_num_threads, count), [&] {
    TSR_CHECK(count >= 1 && count <= kMaxThreads, Code::kValue, "count", "expected 1 to ",
              kMaxThreads, " threads, got ", count);
    set_num_threads(std::min(count, processors()));
  });
}

int32_t tsr_matmul_precision(void) {
  return static_cast<int32_t>(kernel::g_matmul_precision.load(std::memory_order_relaxed));
}

tsr_status tsr_set_matmul_precision(tsr_precision precision) {
  return guard(Call(kInfo_set_matmul_precision, precision), [&] {
    TSR_CHECK(precision >= TSR_PRECISION_HIGHEST && precision <= TSR_PRECISION_MEDIUM, Code::kValue,
              "precision", "expected 0 (highest), 1 (high) or 2 (medium), got ", precision);
    kernel::g_matmul_precision.store(static_cast<kernel::Precision>(precision),
                                     std::memory_order_relaxed);
  });
}

tsr_status tsr_device_default(tsr_device_type* device_type, int32_t* device_index) {
  return guard(kInfo_device_default,
               [&] { give_device(t_default_device, device_type, device_index, "device"); });
}

tsr_status tsr_device_set_default(tsr_device_type device_type, int32_t device_index,
                                  tsr_device_type* previous_type, int32_t* previous_index) {
  return guard(Call(kInfo_device_set_default, DeviceOf{device_type, device_index}), [&] {
    const Device device = device_arg(device_type, device_index, "device");
    give_device(t_default_device, previous_type, previous_index, "previous");
    t_default_device = device;
  });
}

}  // extern "C"
