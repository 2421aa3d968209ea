// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The stand-in for CUDA's run time (see cuda_runtime.h): devices, memory, and streams whose work
// runs late. One mutex protects everything; work runs under it and must not call the run time.
// Device memory is accessible only while work runs: the host crashes if it accesses device memory
// itself, as with a GPU. Large blocks stay accessible, because protecting them takes time for each
// page.
#include "cuda_runtime_api.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kDevices = 2;
constexpr size_t kLargestClosed = size_t{2} << 20;
constexpr size_t kCapacity = size_t{16} << 30;  // of each device
constexpr size_t kLongestQueue = 256;

// The point in a stream that an event marks: everything queued before it.
struct Mark {
  CUstream_st* stream;
  bool done = false;
};
struct Work {
  std::function<void()> run;      // or:
  std::shared_ptr<Mark> reaches;  // a mark that is reached now
  std::shared_ptr<Mark> awaits;   // a mark that must be done first
};
// The contents of a cudaIpcMemHandle_t.
struct ForeignMemory {
  int process;
  int file;
  size_t nbytes;
};
struct Failure {
  int error;
  int64_t calls;
};

}  // namespace

// Work that is kept in order.
struct CUgraph_st {
  std::vector<std::function<void()>> nodes;
  bool is_broken = false;
};
struct CUgraphExec_st : CUgraph_st {
  int device = 0;
};
struct CUstream_st {
  int device = 0;
  std::deque<Work> queue;
  std::unique_ptr<CUgraph_st> captured;  // null: runs its work
};
struct CUevent_st {
  int device = 0;
  std::shared_ptr<Mark> mark;
  CUstream_st* captured = nullptr;  // recorded during this stream's capture
};

namespace {

struct State {
  State() {
    for (int device = 0; device < kDevices; ++device) standard[device].device = device;
  }
  std::recursive_mutex mutex;
  CUstream_st standard[kDevices];
  std::vector<std::unique_ptr<CUstream_st>> streams;
  cudaError_t broken[kDevices] = {};
  bool context[kDevices] = {};                           // the device is in use
  std::map<const char*, std::pair<size_t, int>> memory;  // bytes and device
  std::map<const char*, int> files;                      // behind the memory, for other processes
  std::map<const char*, size_t> pinned;
  std::map<std::string, Failure> failures;
  std::map<std::string, int64_t> calls;
  bool misaligned = false;
  bool stuck = false;
  int open = 0;  // work that is running
};
// Never destroyed: threads may still run while the process ends.
State& state() {
  static auto& one = *new State;
  return one;
}
thread_local int t_device = 0;
thread_local cudaError_t t_last = cudaSuccess;

// Counts a call, and returns the error that a test has requested for it.
cudaError_t failure_of(const std::string& name) {
  State& s = state();
  ++s.calls[name];
  const auto found = s.failures.find(name);
  if (found == s.failures.end()) return cudaSuccess;
  Failure& failure = found->second;
  if (failure.calls < 0) return static_cast<cudaError_t>(failure.error);
  if (failure.calls-- > 0) return cudaSuccess;
  const auto error = static_cast<cudaError_t>(failure.error);
  s.failures.erase(found);
  return error;
}

// Runs a function of the run time under the lock, unless its device has failed.
template <class Body>
cudaError_t call(const char* name, const Body& body) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  cudaError_t error = failure_of(name);
  if (error == cudaSuccess) error = s.broken[t_device];
  s.context[t_device] = true;
  if (error == cudaSuccess) error = body(s);
  if (error == cudaSuccess) error = s.broken[t_device];
  if (error != cudaSuccess && error != cudaErrorNotReady) t_last = error;
  return error;
}

CUstream_st& queue_of(State& s, cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return s.standard[t_device];
  return *stream;
}

// ---- Running queued work ----

constexpr size_t kPage = 4096;
size_t whole_pages(size_t nbytes) {
  return (nbytes + kPage - 1) / kPage * kPage;
}

// Makes device memory accessible during its lifetime.
class Open {
 public:
  explicit Open(State& s) : s_(s) {
    if (s_.open++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  ~Open() {
    if (--s_.open == 0) protect(PROT_NONE);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  void protect(int how) {
    for (const auto& [data, block] : s_.memory) {
      if (block.first <= kLargestClosed)
        mprotect(const_cast<char*>(data), whole_pages(block.first), how);
    }
  }
  State& s_;
};

void run_until(State& s, CUstream_st& stream, const Mark* mark);

// Removes the work from the queue first: it may wait for another stream, which may wait for this
// one.
void run_first(State& s, CUstream_st& stream) {
  const Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (work.awaits != nullptr && !work.awaits->done)
    run_until(s, *work.awaits->stream, work.awaits.get());
  if (work.reaches != nullptr) work.reaches->done = true;
  if (!work.run || s.broken[stream.device] != cudaSuccess) return;
  const Open open(s);
  cudaError_t error = failure_of("kernel");
  s.misaligned = s.stuck = false;
  if (error == cudaSuccess) work.run();
  if (s.misaligned) error = cudaErrorMisalignedAddress;
  if (s.stuck) error = cudaErrorLaunchFailure;
  if (error != cudaSuccess) s.broken[stream.device] = error;
}
// A null mark means until the queue is empty.
void run_until(State& s, CUstream_st& stream, const Mark* mark) {
  if (stream.queue.empty())
    return;  // the common case: making memory accessible takes most of the time of the tests
  const Open open(s);
  while (!stream.queue.empty() && (mark == nullptr || !mark->done)) run_first(s, stream);
}
void run_all(State& s, int device) {
  run_until(s, s.standard[device], nullptr);
  for (const auto& stream : s.streams) {
    if (stream->device == device) run_until(s, *stream, nullptr);
  }
}
void wait_for(State& s, CUstream_st& stream, const Mark* mark) {
  if (mark == nullptr ? !stream.queue.empty() : !mark->done) ++s.calls["wait"];
  run_until(s, stream, mark);
}

// Waiting for a stream that is captured, or for its device, is an error and spoils the capture.
cudaError_t refuse_captured(CUstream_st& stream) {
  if (stream.captured == nullptr) return cudaSuccess;
  stream.captured->is_broken = true;
  return cudaErrorStreamCaptureUnsupported;
}
cudaError_t refuse_captured(State& s, int device) {
  cudaError_t error = cudaSuccess;
  for (const auto& stream : s.streams) {
    if (stream->device == device && refuse_captured(*stream) != cudaSuccess)
      error = cudaErrorStreamCaptureUnsupported;
  }
  return error;
}

cudaError_t push(State& s, cudaStream_t handle, Work work) {
  CUstream_st& stream = queue_of(s, handle);
  if (stream.device != t_device) return cudaErrorInvalidResourceHandle;
  if (stream.captured != nullptr) {
    if (stream.captured->is_broken) return cudaErrorStreamCaptureInvalidated;
    if (work.run) stream.captured->nodes.push_back(std::move(work.run));
    return cudaSuccess;
  }
  stream.queue.push_back(std::move(work));
  if (stream.queue.size() < kLongestQueue) return cudaSuccess;
  const Open open(s);
  while (stream.queue.size() > kLongestQueue / 2) run_first(s, stream);
  return cudaSuccess;
}

// ---- Memory ----

// The device that owns the memory, or -1 for host memory. The range must not exceed a block.
int owner_of(const State& s, const void* data, size_t nbytes) {
  const auto* at = static_cast<const char*>(data);
  auto found = s.memory.upper_bound(at);
  if (found == s.memory.begin()) return -1;
  --found;
  const auto& [begin, block] = *found;
  return at + nbytes <= begin + block.first ? block.second : -1;
}
// The used bytes of the current device.
size_t used(const State& s) {
  size_t bytes = 0;
  for (const auto& [data, block] : s.memory) bytes += block.second == t_device ? block.first : 0;
  return bytes;
}
bool is_pinned(const State& s, const void* data) {
  const auto* at = static_cast<const char*>(data);
  auto found = s.pinned.upper_bound(at);
  return found != s.pinned.begin() && at < std::prev(found)->first + std::prev(found)->second;
}

}  // namespace

namespace tsr::cuda::on_host {

int failure(const char* name) {
  const std::lock_guard lock(state().mutex);
  return failure_of(name);
}

void report_stuck() {
  state().stuck = true;
}

cudaError_t enqueue(const char* name, cudaStream_t stream, std::function<void()> work) {
  return call(name, [&](State& s) { return push(s, stream, {std::move(work), nullptr, nullptr}); });
}

}  // namespace tsr::cuda::on_host

extern "C" {

// Called by -fsanitize=alignment; the other arguments would be the location.
__attribute__((visibility("default"))) void __ubsan_handle_type_mismatch_v1(void*, void*) {
  state().misaligned = true;
}

// ---- Errors and devices ----

cudaError_t cudaGetLastError() {
  return std::exchange(t_last, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorMisalignedAddress:
      return "misaligned address";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "an error of the host's stand-in";
  }
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 12040;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  const std::lock_guard lock(state().mutex);
  const cudaError_t error = failure_of("cudaGetDeviceCount");
  *count = error == cudaSuccess ? kDevices : 0;
  if (error != cudaSuccess) t_last = error;
  return error;
}
int cuda_on_host_context_state(int device, unsigned* flags, int* active) {
  const std::lock_guard lock(state().mutex);
  *flags = 0;
  *active = state().context[device] ? 1 : 0;
  return 0;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool known = std::strcmp(name, "cuDevicePrimaryCtxGetState") == 0;
  *function = known ? reinterpret_cast<void*>(&cuda_on_host_context_state) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = t_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(state().mutex);
  cudaError_t error = failure_of("cudaSetDevice");
  if (error == cudaSuccess && (device < 0 || device >= kDevices)) error = cudaErrorInvalidDevice;
  if (error == cudaSuccess) t_device = device;
  if (error == cudaSuccess) state().context[device] = true;
  if (error != cudaSuccess) t_last = error;
  return error;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 9;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* facts, int) {
  std::strcpy(facts->name, "the host's stand-in");
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [](State& s) {
    const cudaError_t error = refuse_captured(s, t_device);
    if (error != cudaSuccess) return error;
    run_all(s, t_device);
    return cudaSuccess;
  });
}

// ---- Memory ----

cudaError_t cudaMalloc(void** out, size_t nbytes) {
  return call("cudaMalloc", [&](State& s) {
    if (nbytes > kCapacity - used(s)) return cudaErrorMemoryAllocation;
    const int access = nbytes <= kLargestClosed ? PROT_NONE : PROT_READ | PROT_WRITE;
    const int file = memfd_create("cuda_on_host", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(whole_pages(nbytes))) != 0)
      return cudaErrorMemoryAllocation;
    void* const data =
        mmap(nullptr, whole_pages(nbytes), access, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (data == MAP_FAILED) return cudaErrorMemoryAllocation;
    *out = data;
    s.memory[static_cast<char*>(data)] = {nbytes, t_device};
    s.files[static_cast<char*>(data)] = file;
    return cudaSuccess;
  });
}
cudaError_t cudaFree(void* data) {
  return call("cudaFree", [&](State& s) {
    run_all(s, t_device);
    const auto found = s.memory.find(static_cast<char*>(data));
    if (found == s.memory.end()) return cudaErrorInvalidValue;
    const auto file = s.files.find(static_cast<char*>(data));
    if (file == s.files.end()) return cudaErrorInvalidValue;
    munmap(data, whole_pages(found->second.first));
    close(file->second);
    s.files.erase(file);
    s.memory.erase(found);
    return cudaSuccess;
  });
}
cudaError_t cudaHostAlloc(void** out, size_t nbytes, unsigned) {
  return call("cudaHostAlloc", [&](State& s) {
    *out = std::aligned_alloc(4096, (nbytes + 4095) / 4096 * 4096);
    if (*out == nullptr) return cudaErrorMemoryAllocation;
    s.pinned[static_cast<char*>(*out)] = nbytes;
    return cudaSuccess;
  });
}
// First waits for all work, which may use the memory.
cudaError_t cudaFreeHost(void* data) {
  return call("cudaFreeHost", [&](State& s) {
    if (s.pinned.erase(static_cast<char*>(data)) != 1) return cudaErrorInvalidValue;
    for (CUstream_st& stream : s.standard) wait_for(s, stream, nullptr);
    for (const auto& stream : s.streams) wait_for(s, *stream, nullptr);
    std::free(data);
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", [&](State& s) {
    *total = kCapacity;
    *free = kCapacity - used(s);
    return cudaSuccess;
  });
}

// A copy of memory that is not pinned waits for the work queued before it.
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t nbytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", [&](State& s) {
    const bool to_device = kind != cudaMemcpyDeviceToHost;
    const bool from_device = kind != cudaMemcpyHostToDevice;
    if ((owner_of(s, dst, nbytes) >= 0) != to_device ||
        (owner_of(s, src, nbytes) >= 0) != from_device)
      return cudaErrorInvalidValue;
    const bool captured = queue_of(s, stream).captured != nullptr;
    if (to_device != from_device && !captured && !is_pinned(s, to_device ? src : dst)) {
      wait_for(s, queue_of(s, stream), nullptr);
      const Open open(s);
      std::memcpy(dst, src, nbytes);
      return cudaSuccess;
    }
    return push(s, stream, {[=] { std::memcpy(dst, src, nbytes); }, nullptr, nullptr});
  });
}
cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device,
                                size_t nbytes, cudaStream_t stream) {
  return call("cudaMemcpyPeerAsync", [&](State& s) {
    if (owner_of(s, dst, nbytes) != dst_device || owner_of(s, src, nbytes) != src_device)
      return cudaErrorInvalidValue;
    return push(s, stream, {[=] { std::memcpy(dst, src, nbytes); }, nullptr, nullptr});
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call("cudaDeviceEnablePeerAccess",
              [&](State&) { return peer == t_device ? cudaErrorInvalidDevice : cudaSuccess; });
}
cudaError_t cudaMemsetAsync(void* dst, int value, size_t nbytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", [&](State& s) {
    if (owner_of(s, dst, nbytes) < 0) return cudaErrorInvalidValue;
    return push(s, stream, {[=] { std::memset(dst, value, nbytes); }, nullptr, nullptr});
  });
}

// ---- Streams and events ----

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  return call("cudaStreamCreateWithFlags", [&](State& s) {
    *out = s.streams.emplace_back(std::make_unique<CUstream_st>()).get();
    (*out)->device = t_device;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&](State& s) {
    run_until(s, *stream, nullptr);
    std::erase_if(s.streams, [&](const auto& own) { return own.get() == stream; });
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](State& s) {
    const cudaError_t error = refuse_captured(queue_of(s, stream));
    if (error != cudaSuccess) return error;
    wait_for(s, queue_of(s, stream), nullptr);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&](State& s) {
    CUstream_st& waits = queue_of(s, stream);
    if (event->captured != nullptr || waits.captured != nullptr)
      return event->captured == &waits ? cudaSuccess : cudaErrorStreamCaptureIsolation;
    if (event->mark == nullptr || event->mark->done) return cudaSuccess;
    return push(s, stream, {nullptr, nullptr, event->mark});
  });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  return call("cudaEventCreateWithFlags", [&](State&) {
    *out = new CUevent_st{t_device, nullptr};
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&](State& s) {
    CUstream_st& queue = queue_of(s, stream);
    if (event->device != queue.device) return cudaErrorInvalidResourceHandle;
    event->captured = queue.captured == nullptr ? nullptr : &queue;
    if (event->captured != nullptr) return cudaSuccess;
    event->mark = std::make_shared<Mark>(Mark{&queue});
    return push(s, stream, {nullptr, event->mark, nullptr});
  });
}
// A query runs a little work, so that a loop of queries ends.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&](State& s) {
    if (event->captured != nullptr) return cudaErrorCapturedEvent;
    if (event->mark == nullptr || event->mark->done) return cudaSuccess;
    if (!event->mark->stream->queue.empty()) run_first(s, *event->mark->stream);
    return event->mark->done ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&](State& s) {
    if (event->captured != nullptr) return cudaErrorCapturedEvent;
    if (event->mark != nullptr) wait_for(s, *event->mark->stream, event->mark.get());
    return cudaSuccess;
  });
}

// ---- Graphs ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return call("cudaStreamBeginCapture", [&](State& s) {
    CUstream_st& begins = queue_of(s, stream);
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    if (begins.captured != nullptr) return cudaErrorIllegalState;
    begins.captured = std::make_unique<CUgraph_st>();
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::lock_guard lock(state().mutex);
  std::unique_ptr<CUgraph_st> found = std::move(queue_of(state(), stream).captured);
  return call("cudaStreamEndCapture", [&](State&) {
    if (found == nullptr) return cudaErrorIllegalState;
    if (found->is_broken) return cudaErrorStreamCaptureInvalidated;
    *graph = found.release();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", [&](State&) {
    *exec = new CUgraphExec_st{*graph, t_device};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", [&](State& s) {
    for (const auto& node : exec->nodes) {
      const cudaError_t error = push(s, stream, {node, nullptr, nullptr});
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const std::lock_guard lock(state().mutex);
  ++state().calls["cudaGraphExecDestroy"];
  delete exec;
  return cudaSuccess;
}

// ---- Other processes ----

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  return call("cudaIpcGetMemHandle", [&](State& s) {
    const auto file = s.files.find(static_cast<char*>(data));
    if (file == s.files.end()) return cudaErrorInvalidValue;
    const ForeignMemory value{getpid(), file->second, s.memory[file->first].first};
    std::memcpy(handle->reserved, &value, sizeof(value));
    return cudaSuccess;
  });
}
cudaError_t cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned) {
  return call("cudaIpcOpenMemHandle", [&](State& s) {
    ForeignMemory value{};
    std::memcpy(&value, handle.reserved, sizeof(value));
    if (value.process == getpid()) return cudaErrorInvalidResourceHandle;  // as CUDA does
    const std::string path =
        "/proc/" + std::to_string(value.process) + "/fd/" + std::to_string(value.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return cudaErrorInvalidResourceHandle;
    const int access = value.nbytes <= kLargestClosed ? PROT_NONE : PROT_READ | PROT_WRITE;
    void* const data = mmap(nullptr, whole_pages(value.nbytes), access, MAP_SHARED, file, 0);
    close(file);
    if (data == MAP_FAILED) return cudaErrorMemoryAllocation;
    *out = data;
    s.memory[static_cast<char*>(data)] = {value.nbytes, t_device};
    return cudaSuccess;
  });
}
cudaError_t cudaIpcCloseMemHandle(void* data) {
  return call("cudaIpcCloseMemHandle", [&](State& s) {
    run_all(s, t_device);
    const auto found = s.memory.find(static_cast<char*>(data));
    if (found == s.memory.end() || s.files.count(found->first) != 0) return cudaErrorInvalidValue;
    munmap(data, whole_pages(found->second.first));
    s.memory.erase(found);
    return cudaSuccess;
  });
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call("cudaIpcGetEventHandle", [&](State& s) {
    if (event->mark == nullptr) return cudaErrorInvalidValue;
    run_until(s, *event->mark->stream, event->mark.get());
    *handle = {};
    return cudaSuccess;
  });
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t) {
  return call("cudaIpcOpenEventHandle", [&](State&) {
    *out = new CUevent_st{t_device, nullptr};
    return cudaSuccess;
  });
}

// ---- For tests ----

void cuda_on_host_fail(const char* name, int error, int64_t calls) {
  const std::lock_guard lock(state().mutex);
  state().failures[name] = {error, calls};
}
int64_t cuda_on_host_calls(const char* name) {
  const std::lock_guard lock(state().mutex);
  return state().calls[name];
}
void cuda_on_host_reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (int device = 0; device < kDevices; ++device) {
    run_all(s, device);
    s.broken[device] = cudaSuccess;
  }
  s.failures.clear();
  s.calls.clear();
  t_last = cudaSuccess;
}

}  // extern "C"
