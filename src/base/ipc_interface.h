// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// IpcInterface: what a device needs to show its memory to other processes of the machine.
#pragma once

#include <cstdint>

#include "base/device_interface.h"

namespace tsr {

// Plain bytes that may be sent to another process, such as a cudaIpcMemHandle_t.
struct IpcBytes {
  unsigned char bytes[64];
};

// A plugin may export, beside its entry, a function of type IpcEntry under the name kIpcEntryName;
// a plugin without it has a device whose memory stays in its process. The functions follow the
// rules of DeviceInterface.
struct IpcInterface {
  uint32_t version;  // kIpcVersion
  // The handle of a whole piece of memory that raw_allocate returned.
  int32_t (*memory_handle)(int32_t device, void* base, IpcBytes* out);
  // Maps the memory of another process. Opened once for each handle, closed when no work uses it.
  int32_t (*memory_open)(int32_t device, const IpcBytes* handle, void** base);
  int32_t (*memory_close)(int32_t device, void* base);
  // An event that other processes can wait for; its handle is taken after it was recorded.
  int32_t (*event_create)(int32_t device, EventHandle* out);
  int32_t (*event_handle)(int32_t device, EventHandle event, IpcBytes* out);
  int32_t (*event_open)(int32_t device, const IpcBytes* handle, EventHandle* out);
};

inline constexpr uint32_t kIpcVersion = 1;
using IpcEntry = const IpcInterface* (*)();
inline constexpr const char* kIpcEntryName = "tsr_backend_ipc";

}  // namespace tsr
