// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a device offers if the work of a stream can be kept as one object and queued again.
#pragma once

#include <cstdint>

#include "base/device_interface.h"

namespace tsr {

// A plugin may export, beside its entry, a function of type GraphEntry under the name
// kGraphEntryName; on a device without it all kernels are queued one by one. The functions follow
// the rules of DeviceInterface.
struct GraphInterface {
  uint32_t version;  // kGraphVersion
  // What this thread queues on the stream until capture_end is kept and does not run. The stream is
  // one of stream_create. A kernel or a copy that cannot be kept, because it waits for the stream
  // or reads host memory that changes later, fails.
  int32_t (*capture_begin)(int32_t device, StreamHandle stream);
  // Ends the capture also if something failed meanwhile; *out is then null.
  int32_t (*capture_end)(int32_t device, StreamHandle stream, void** out);
  // Queues all that was kept, in order, with the addresses and numbers of the capture.
  int32_t (*launch)(int32_t device, void* graph, StreamHandle stream);
  // Waits until no work of the graph is left.
  int32_t (*destroy)(int32_t device, void* graph);
};

inline constexpr uint32_t kGraphVersion = 1;
using GraphEntry = const GraphInterface* (*)();
inline constexpr const char* kGraphEntryName = "tsr_backend_graphs";

}  // namespace tsr
