// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The work of a stream kept as a CUDA graph.
#include <cuda_runtime.h>

#include <new>

#include "backend/cuda/device.h"
#include "backend/cuda/host.h"
#include "base/graph_interface.h"

namespace tsr::cuda {
namespace {

struct Graph {
  cudaGraphExec_t work = nullptr;
  cudaEvent_t last = nullptr;  // after the launch that came last
};

// The capture is relaxed: the work of other threads has no effect on it, and a kernel may take
// memory or make a handle meanwhile. What waits for the captured stream fails in every mode.
int32_t capture_begin(int32_t device, StreamHandle stream) {
  if (is_captured(stream)) return static_cast<int32_t>(cudaErrorIllegalState);
  const int32_t code = on_device(device, [&] {
    return cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeRelaxed);
  });
  if (code == kDeviceOk) set_captured(stream);
  return code;
}

cudaError_t instantiate(cudaGraph_t captured, Graph& graph) {
  cudaError_t error = cudaGraphInstantiate(&graph.work, captured, 0);
  if (error != cudaSuccess) return error;
  error = cudaEventCreateWithFlags(&graph.last, cudaEventDisableTiming);
  if (error != cudaSuccess) static_cast<void>(cudaGraphExecDestroy(graph.work));
  return error;
}

int32_t capture_end(int32_t device, StreamHandle stream, void** out) {
  *out = nullptr;
  set_captured(nullptr);
  return on_device(device, [&] {
    cudaGraph_t captured = nullptr;
    cudaError_t error = cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &captured);
    if (error != cudaSuccess) return error;
    auto* const graph = new (std::nothrow) Graph;
    error = graph == nullptr ? cudaErrorMemoryAllocation : instantiate(captured, *graph);
    static_cast<void>(cudaGraphDestroy(captured));
    if (error == cudaSuccess) {
      *out = graph;
    } else {
      delete graph;
    }
    return error;
  });
}

int32_t launch(int32_t device, void* graph, StreamHandle stream) {
  const auto& own = *static_cast<const Graph*>(graph);
  const auto queue = static_cast<cudaStream_t>(stream);
  return on_device(device, [&] {
    cudaError_t error = cudaGraphLaunch(own.work, queue);
    if (error == cudaSuccess) error = cudaEventRecord(own.last, queue);
    if (error == cudaSuccess && waits_for_each()) error = cudaStreamSynchronize(queue);
    return error;
  });
}

// Launches of one graph run one after the other, also on several streams, so the last event comes
// after them all.
int32_t destroy(int32_t device, void* graph) {
  auto* const own = static_cast<Graph*>(graph);
  const int32_t code = on_device(device, [&] {
    const cudaError_t waited = cudaEventSynchronize(own->last);
    const cudaError_t ended = cudaGraphExecDestroy(own->work);
    static_cast<void>(cudaEventDestroy(own->last));
    return waited == cudaSuccess ? ended : waited;
  });
  delete own;
  return code;
}

constexpr GraphInterface kGraphs{kGraphVersion, capture_begin, capture_end, launch, destroy};

}  // namespace
}  // namespace tsr::cuda

extern "C" [[gnu::visibility("default")]] const tsr::GraphInterface* tsr_backend_graphs() {
  return &tsr::cuda::kGraphs;
}
