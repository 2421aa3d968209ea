// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The backend contract: what a backend exports and what the host gives it. The kernel table, one
// entry per family of kernels, is generated from the schema (families.yaml); a null entry means
// "not implemented on this device".
#pragma once

#include "kernel/generated/families.h"

namespace tsr::kernel {

// Raised whenever a plan, the table or the meaning of an id changes: a plugin built for another
// version is refused. A new id raises nothing: ids are the schema's and never change, and a backend
// answers kNotImplemented to one that it does not know (docs/adr/0007).
inline constexpr uint32_t kContractVersion = 7;

// What the host gives to a backend. Every function may be called from any thread.
struct HostServices {
  uint32_t contract_version;
  // Scratch memory on the device, from the caching allocator; null when there is none to be had.
  void* (*workspace_allocate)(DeviceType type, Place place, uint64_t nbytes);
  void (*workspace_free)(DeviceType type, Place place, void* data, uint64_t nbytes);
  // Gives the memory that the caching allocator keeps back to the device, for a library that has
  // found none. Waits for the device.
  void (*release_cached)(DeviceType type, Place place);
  // Describes the failure that the kernel is about to return; the text is copied, per thread.
  void (*set_error)(const char* text, int64_t native_code);
};

struct Backend {
  uint32_t contract_version;
  DeviceType device_type;
  const char* build_id;
  const DeviceInterface* device;
  const KernelTable* kernels;
};

// The one function a backend exports, under the name kBackendEntryName. The services outlive the
// backend; null is returned when the backend cannot run on this machine. May be called more than
// once, also by several threads at a time.
using BackendEntry = const Backend* (*)(const HostServices* services);
inline constexpr const char* kBackendEntryName = "tsr_backend_entry";

}  // namespace tsr::kernel
