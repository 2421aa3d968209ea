// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/registry.h"

#include <mutex>
#include <string>
#include <utility>

#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/kept_text.h"
#include "base/thread_exit.h"
#include "kernel/plugin.h"
#include "memory/allocator.h"

namespace tsr::kernel {

std::array<std::atomic<const Backend*>, kMaxDeviceType> g_backends{};

namespace {

struct KernelFailure {
  KeptText text;
  int64_t native_code = 0;
};
// See Note [Thread-local state].
constinit thread_local KernelFailure t_failure;

void forget_failure() noexcept {
  t_failure.text.clear();
}

// Returns and clears the text that a kernel has set; `otherwise` if there is none.
std::string take_text(std::string_view otherwise) {
  const std::string_view said = t_failure.text.view();
  std::string text(said.empty() ? otherwise : said);
  t_failure.text.clear();
  return text;
}

void* workspace_allocate(DeviceType type, Place place, uint64_t nbytes) {
  try {
    return allocator_for(Device{type, place.device}).allocate(nbytes, place.stream);
  } catch (...) {
    return nullptr;  // the kernel reports its own failure; no exception crosses the contract
  }
}

void workspace_free(DeviceType type, Place place, void* data, uint64_t nbytes) {
  if (data != nullptr) allocator_for(Device{type, place.device}).deallocate(data, nbytes);
}

void release_cached(DeviceType type, Place place) {
  try {
    allocator_for(Device{type, place.device}).trim(0);
  } catch (...) {  // memory that could not be returned stays cached
  }
}

void set_error(const char* text, int64_t native_code) {
  t_failure.text.assign({text});
  static_cast<void>(at_thread_exit(ThreadPart::kKernelError, forget_failure));
  t_failure.native_code = native_code;
}

const HostServices kServices{kContractVersion, workspace_allocate, workspace_free, release_cached,
                             set_error};
struct RegistrationMutex : GuardedMutex {};

}  // namespace

const Backend& register_backend(BackendEntry entry) {
  t_failure.text.clear();  // a text from now on belongs to this backend
  const Backend* backend = entry(&kServices);
  TSR_CHECK(backend != nullptr, Code::kBackend, "path",
            "expected a backend that runs on this machine, got one that refuses: ",
            take_text("it gives no reason (it may have been built for another version)"));
  TSR_CHECK(backend->contract_version == kContractVersion, Code::kBackend, "path",
            "expected contract version ", kContractVersion, ", got ", backend->contract_version);
  const auto type = static_cast<int32_t>(backend->device_type);
  TSR_CHECK(type > 0 && type < kMaxDeviceType, Code::kBackend, "path",
            "expected a device type below ", kMaxDeviceType, ", got ", type);
  const std::lock_guard lock(immortal<RegistrationMutex>());
  auto& slot = g_backends[static_cast<size_t>(type)];
  const Backend* current = slot.load(std::memory_order_acquire);
  TSR_CHECK(current == nullptr || current == backend, Code::kValue, "path",
            "expected a device type without a backend, got ", Device{backend->device_type, 0});
  if (backend->device_type != DeviceType::kCpu)
    install_memory(backend->device_type, *backend->device);
  slot.store(backend, std::memory_order_release);
  return *backend;
}

const Backend* find_backend(DeviceType type) noexcept {
  const auto index = static_cast<int32_t>(type);
  if (index < 0 || index >= kMaxDeviceType) return nullptr;
  return g_backends[static_cast<size_t>(index)].load(std::memory_order_acquire);
}

int32_t device_count(DeviceType type) noexcept {
  const Backend* backend = find_backend(type);
  if (backend == nullptr) backend = load_default_backend(type);
  return backend == nullptr ? 0 : backend->device->device_count();
}

const Backend& find_device_backend(Device device) {
  const Backend* backend = find_backend(device.type);
  if (backend == nullptr) backend = load_default_backend(device.type);
  TSR_CHECK(backend != nullptr, Code::kDevice, "device",
            "expected a device that can be used here, got ", device, missing_plugin(device.type));
  TSR_CHECK(device.index >= 0 && device.index < backend->device->device_count(), Code::kDevice,
            "device", "expected a device index below ", backend->device->device_count(), ", got ",
            device);
  return *backend;
}

void throw_kernel_error(Device device, const char* family, Status status) {
  Error error(static_cast<Code>(status), nullptr,
              take_text(concat(family, " kernel failed on ", device)));
  error.set_native_code(std::exchange(t_failure.native_code, 0));
  throw error;
}

constinit thread_local LaunchKeeper* t_launch_keeper = nullptr;

void begin_launch(TraceSpan& span, Device device, const char* family, const char* name,
                  int32_t kernel, const void* plan) noexcept {
  TraceEvent event{};
  event.kind = TraceKind::kLaunch;
  event.id = kernel;
  if (name == nullptr) name = kernel == 0 ? family : kernel_name(kernel);
  event.name = name;
  event.family = family;
  event.plan = plan;
  event.stream = current_stream(device);
  event.device_type = device.type;
  event.device_index = device.index;
  begin_span(span, event);
}

void forget_kernel_error() noexcept {
  forget_failure();
  t_failure.native_code = 0;
}

void throw_not_implemented(Device device, const char* family) {
  fail(Code::kNotImplemented, nullptr, __FILE__, __LINE__, "not implemented on ", device, ": the ",
       family, " kernels");
}

}  // namespace tsr::kernel
