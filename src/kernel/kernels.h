// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The backend contract: what a backend exports, and the services that the host gives to it. The
// kernel table, with one entry for each family of kernels, is generated from the schema
// (families.yaml). A null entry means "not implemented on this device".
#pragma once

#include "kernel/generated/families.h"

namespace tsr::kernel {

// Raised whenever a plan, the table or the meaning of an id changes: a plugin built for another
// version is refused. A new id raises nothing: ids are the schema's and never change, and a backend
// answers kNotImplemented to one that it does not know (docs/adr/0007).
inline constexpr uint32_t kContractVersion = 17;

// The services of the host. Every function may be called from any thread.
struct HostServices {
  uint32_t contract_version;
  // Scratch memory on the device, from the caching allocator; null if there is none.
  void* (*workspace_allocate)(DeviceType type, Place place, uint64_t nbytes);
  void (*workspace_free)(DeviceType type, Place place, void* data, uint64_t nbytes);
  // Returns cached free memory of the caching allocator to the device, for a library that has run
  // out of memory. Waits for the device.
  void (*release_cached)(DeviceType type, Place place);
  // Describes the failure that the kernel is about to return. The text is copied, for each thread.
  void (*set_error)(const char* text, int64_t native_code);
};

struct Backend {
  uint32_t contract_version;
  DeviceType device_type;
  const char* build_id;
  const DeviceInterface* device;
  const KernelTable* kernels;
};

// The only function that a backend exports, under the name kBackendEntryName. The services outlive
// the backend. Returns null if the backend cannot run on this machine. Called again only after it
// has refused, and never by two threads at the same time.
using BackendEntry = const Backend* (*)(const HostServices* services);
inline constexpr const char* kBackendEntryName = "tsr_backend_entry";

}  // namespace tsr::kernel
