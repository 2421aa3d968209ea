// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Registry: maps devices to backends. launch(): the only way to call a kernel.
#pragma once

#include <array>
#include <atomic>

#include "base/error.h"
#include "base/trace.h"
#include "kernel/kept_launch.h"
#include "kernel/kernels.h"
#include "kernel/place.h"

namespace tsr::kernel {

// Device types are small numbers (DLPack's); one slot each.
inline constexpr int32_t kMaxDeviceType = 24;
extern std::array<std::atomic<const Backend*>, kMaxDeviceType> g_backends;

// Registers the backend that `entry` returns; it lives as long as the process. Throws kBackend if
// the entry refuses this machine or was built for another contract version, kValue if another
// backend has the device type.
const Backend& register_backend(BackendEntry entry);

// The backend of a device, whose plugin may have to be loaded. Throws kDevice if there is none or
// the index is out of range.
const Backend& find_device_backend(Device device);
// The same. Inline for the CPU, because every launch asks.
inline const Backend& backend_for(Device device) {
  constexpr auto kCpu = static_cast<size_t>(DeviceType::kCpu);
  const Backend* cpu = g_backends[kCpu].load(std::memory_order_acquire);
  if (device == Device{} && cpu != nullptr) [[likely]]
    return *cpu;
  return find_device_backend(device);
}
// Null when no backend serves the type.
const Backend* find_backend(DeviceType type) noexcept;
int32_t device_count(DeviceType type) noexcept;

// Throws the Error of a failed kernel, with the text that it left by HostServices::set_error.
[[noreturn]] void throw_kernel_error(Device device, const char* family, Status status);
[[noreturn]] void throw_not_implemented(Device device, const char* family);
// Drops the text that a kernel left by set_error, for a caller that continues without the kernel.
void forget_kernel_error() noexcept;

// `name` is null where the id or the family tells what runs.
[[gnu::cold]] void begin_launch(TraceSpan& span, Device device, const char* family,
                                const char* name, int32_t kernel, const void* plan) noexcept;

// The id of the kernel that a launch runs; 0 if the family's operations have none.
template <class Op>
concept HasIds = requires {
  OpRange<Op>::kFirst;
};
template <class Plan>
constexpr int32_t kernel_id(const Plan& plan) {
  if constexpr (requires { plan.op; }) {
    if constexpr (HasIds<decltype(plan.op)>) return static_cast<int32_t>(plan.op);
  }
  return 0;
}
template <class Op, class Plan>
constexpr int32_t kernel_id(Op op, const Plan&) {
  return static_cast<int32_t>(op);
}

// What a launch does, where its plan has a name_of; else null.
template <class... Args>
const char* launch_name([[maybe_unused]] const Args&... args) {
  if constexpr (requires { name_of(args...); }) {
    return name_of(args...);
  } else {
    return nullptr;
  }
}

inline const void* plan_of(const auto& plan) {
  return &plan;
}
inline const void* plan_of(const auto&, const auto& plan) {
  return &plan;
}

// Calls a kernel inside a span. A function of its own, so that an untraced launch has no span on
// its stack.
template <class Entry, class... Args>
[[gnu::cold, gnu::noinline]] Status run_traced(Entry entry, const char* family, Device device,
                                               const Args&... args) {
  TraceSpan span;
  offer_launch(entry, args...);
  begin_launch(span, device, family, launch_name(args...), kernel_id(args...), plan_of(args...));
  const Status status = entry(args...);
  end_span(span, status);
  return status;
}

// Calls the family's entry.
template <auto Entry, class... Args>
[[nodiscard]] Status run_entry(Family<Entry> family, Device device, const Args&... args) {
  const auto entry = backend_for(device).kernels->*Entry;
  if (entry == nullptr) [[unlikely]]
    throw_not_implemented(device, family.name);
  if (is_traced(TraceKind::kLaunch)) [[unlikely]]
    return run_traced(entry, family.name, device, args...);
  return entry(args...);
}

// launch(kUnary, device, op, plan): calls the family's entry and turns a status into an Error.
template <auto Entry, class... Args>
void launch(Family<Entry> family, Device device, const Args&... args) {
  const Status status = run_entry(family, device, args...);
  if (status != kOk) [[unlikely]]
    throw_kernel_error(device, family.name, status);
}

// As launch, but returns false if the kernel answers kNotImplemented; its text stays for
// throw_kernel_error or forget_kernel_error.
template <auto Entry, class... Args>
[[nodiscard]] bool try_launch(Family<Entry> family, Device device, const Args&... args) {
  const Status status = run_entry(family, device, args...);
  if (status == static_cast<Status>(Code::kNotImplemented)) [[unlikely]]
    return false;
  if (status != kOk) [[unlikely]]
    throw_kernel_error(device, family.name, status);
  return true;
}

}  // namespace tsr::kernel
