// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Storages on a device whose memory another process opens.
#pragma once

#include <string>
#include <string_view>

#include "base/ipc_interface.h"
#include "tensor/storage.h"

namespace tsr {

// Note [Device memory of two processes]
// The process that made the memory keeps it until the other one is done: every handle has a counter
// in a page of shared memory, the reference file. From its opening on the counter has the id of the
// process that opened the handle; it is 0 when that process has released its last tensor and the
// work that it had queued by then is done. collect_ipc gives up the storages whose counter is 0 or
// whose process has ended; it also runs at each export and when the device's memory runs out. The
// producer must outlive the consumer's use, and a handle is opened once. An event orders the
// consumer's stream after the producer's.

void install_ipc(DeviceType type, const IpcInterface& interface);

// A text that open_ipc takes in another process, without spaces at its ends. Throws kNotImplemented
// when the device has no such memory, kBuffer for memory that is not of this library.
std::string export_ipc(const StoragePtr& storage);
// The device whose memory a text names; throws kValue for a text that is none of export_ipc's.
Device ipc_device(std::string_view handle);
// Throws kValue for a text that is none of export_ipc's, kIo when its process is gone, kDevice. In
// the process of the export the storage itself.
StoragePtr open_ipc(std::string_view handle);
// Returns how many storages it has given up.
int64_t collect_ipc();

}  // namespace tsr
