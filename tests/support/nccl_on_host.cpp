// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A stand-in for NCCL between threads of one process: the transport between threads under NCCL's
// names. Calls wait for the stream and for the other ranks. Memory is the host's, or that of the
// stand-in for CUDA, where that is loaded: it is then copied, because the host must not touch it.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "dist/nccl/api.h"
#include "dist/threads.h"

using namespace tsr;
using namespace tsr::dist;
namespace api = tsr::dist::nccl;

namespace {

constexpr api::Result kFailed = 5;
ContextHandle context_of(api::Comm comm) {
  return reinterpret_cast<ContextHandle>(comm);
}

// The run time of the stand-in for CUDA.
struct Runtime {
  int (*copy)(void* to, const void* from, size_t nbytes, int kind, void* stream) = nullptr;
  int (*synchronize)(void* stream) = nullptr;

  // Looked up each time: a test says when memory is that of the stand-in for CUDA.
  static Runtime get() {
    Runtime runtime;
    if (std::getenv("TESSERA_NCCL_COPIES") == nullptr) return runtime;
    void* const file = dlopen("libcudart_on_host.so", RTLD_NOW | RTLD_NOLOAD);
    if (file == nullptr) return runtime;
    runtime.copy = reinterpret_cast<decltype(runtime.copy)>(dlsym(file, "cudaMemcpyAsync"));
    runtime.synchronize =
        reinterpret_cast<decltype(runtime.synchronize)>(dlsym(file, "cudaStreamSynchronize"));
    return runtime;
  }
};
constexpr int kToDevice = 1, kToHost = 2;  // cudaMemcpyKind

// Memory of a call that the host may touch.
class Staged {
 public:
  Staged(const void* memory, size_t count, int32_t type, void* stream);
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  [[nodiscard]] Buffer buffer() const {
    return {staged() ? const_cast<char*>(host_.data()) : memory_, count_, dtype_, {}, nullptr};
  }
  // Writes a result to the memory, or to that of another argument.
  void give(void* to) const {
    if (staged()) {
      Runtime::get().copy(to, host_.data(), host_.size(), kToDevice, stream_);
      Runtime::get().synchronize(stream_);
    } else if (to != memory_) {
      std::memcpy(to, memory_, nbytes_);
    }
  }
  void give() const { give(memory_); }

 private:
  [[nodiscard]] static bool staged() { return Runtime::get().copy != nullptr; }
  void* memory_;
  int64_t count_;
  DType dtype_;
  size_t nbytes_;
  void* stream_;
  std::vector<char> host_;
};

struct Pending {
  api::Comm comm;
  WorkHandle work;
  std::shared_ptr<Staged> memory;
  bool receives;
};
// Messages between ncclGroupStart and ncclGroupEnd.
thread_local std::vector<Pending> t_group;
thread_local bool t_grouped = false;

DType dtype_of(int32_t type) {
  constexpr DType kTypes[] = {DType::kInt8,    DType::kUInt8,   DType::kInt32,   DType::kUInt32,
                              DType::kInt64,   DType::kUInt64,  DType::kFloat16, DType::kFloat32,
                              DType::kFloat64, DType::kBFloat16};
  return kTypes[type];
}
ReduceOp reduce_of(int32_t op) {
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin,
                               ReduceOp::kAvg};
  return kOps[op];
}
Staged::Staged(const void* memory, size_t count, int32_t type, void* stream)
    : memory_(const_cast<void*>(memory)),
      count_(static_cast<int64_t>(count)),
      dtype_(dtype_of(type)),
      nbytes_(count * static_cast<size_t>(itemsize(dtype_))),
      stream_(stream) {
  if (!staged()) return;
  host_.resize(nbytes_);
  Runtime::get().copy(host_.data(), memory_, nbytes_, kToHost, stream_);
  Runtime::get().synchronize(stream_);
}

api::Result finish(api::Comm comm, WorkHandle work) {
  Failure failure;
  const Status status = threads_transport().wait(context_of(comm), work, 60, &failure);
  threads_transport().release(context_of(comm), work);
  return status == kOk ? api::kSuccess : kFailed;
}

template <class Entry, class... Args>
api::Result run(api::Comm comm, Entry entry, Args... args) {
  WorkHandle work = nullptr;
  Failure failure;
  if (entry(context_of(comm), args..., &work, &failure) != kOk) return kFailed;
  return finish(comm, work);
}

template <class Entry>
api::Result message(api::Comm comm, Entry entry, std::shared_ptr<Staged> memory, int peer,
                    bool receives) {
  WorkHandle work = nullptr;
  Failure failure;
  if (entry(context_of(comm), memory->buffer(), peer, 0, &work, &failure) != kOk) return kFailed;
  if (t_grouped) {
    t_group.push_back({comm, work, std::move(memory), receives});
    return api::kSuccess;
  }
  const api::Result result = finish(comm, work);
  if (receives) memory->give();
  return result;
}

size_t ranks_of(api::Comm comm) {
  return static_cast<size_t>(threads_transport().size(context_of(comm)));
}

}  // namespace

#define TSR_NCCL extern "C" __attribute__((visibility("default")))

TSR_NCCL api::Result ncclGetVersion(int* version) {
  *version = 22800;
  return api::kSuccess;
}
TSR_NCCL api::Result ncclGetUniqueId(api::UniqueId* id) {
  static int made = 0;
  std::snprintf(id->internal, sizeof(id->internal), "nccl_on_host %d", made++);
  return api::kSuccess;
}
TSR_NCCL api::Result ncclCommInitRank(api::Comm* comm, int size, api::UniqueId id, int rank) {
  InitOptions options;
  options.rank = rank;
  options.size = size;
  options.timeout_seconds = 60;
  options.address = id.internal;
  ContextHandle context = nullptr;
  Failure failure;
  const Status status = threads_transport().init(&options, &context, &failure);
  *comm = static_cast<api::Comm>(context);
  return status == kOk ? api::kSuccess : kFailed;
}
TSR_NCCL api::Result ncclCommSplit(api::Comm comm, int color, int key, api::Comm* part, void*) {
  ContextHandle context = nullptr;
  Failure failure;
  const Status status = threads_transport().split(context_of(comm), color, key, &context, &failure);
  *part = static_cast<api::Comm>(context);
  return status == kOk ? api::kSuccess : kFailed;
}
TSR_NCCL api::Result ncclCommDestroy(api::Comm comm) {
  threads_transport().destroy(context_of(comm));
  return api::kSuccess;
}
TSR_NCCL api::Result ncclCommAbort(api::Comm comm) {
  return ncclCommDestroy(comm);
}
TSR_NCCL api::Result ncclCommCount(api::Comm comm, int* size) {
  *size = threads_transport().size(context_of(comm));
  return api::kSuccess;
}
TSR_NCCL api::Result ncclCommUserRank(api::Comm comm, int* rank) {
  *rank = threads_transport().rank(context_of(comm));
  return api::kSuccess;
}
TSR_NCCL api::Result ncclCommGetAsyncError(api::Comm, api::Result* error) {
  *error = api::kSuccess;
  return api::kSuccess;
}
TSR_NCCL const char* ncclGetErrorString(api::Result) {
  return "a failure of the stand-in";
}
TSR_NCCL api::Result ncclAllReduce(const void* send, void* recv, size_t count, int32_t type,
                                   int32_t op, api::Comm comm, void* stream) {
  const Staged data(send, count, type, stream);
  const auto result = run(comm, threads_transport().all_reduce, data.buffer(), reduce_of(op));
  data.give(recv);
  return result;
}
TSR_NCCL api::Result ncclReduce(const void* send, void* recv, size_t count, int32_t type,
                                int32_t op, int root, api::Comm comm, void* stream) {
  const Staged data(send, count, type, stream);
  const auto result = run(comm, threads_transport().reduce, data.buffer(), reduce_of(op), root);
  if (threads_transport().rank(context_of(comm)) == root) data.give(recv);
  return result;
}
TSR_NCCL api::Result ncclBroadcast(const void* send, void* recv, size_t count, int32_t type,
                                   int root, api::Comm comm, void* stream) {
  const Staged data(send, count, type, stream);
  const auto result = run(comm, threads_transport().broadcast, data.buffer(), root);
  data.give(recv);
  return result;
}
TSR_NCCL api::Result ncclAllGather(const void* send, void* recv, size_t count, int32_t type,
                                   api::Comm comm, void* stream) {
  const Staged data(send, count, type, stream), all(recv, count * ranks_of(comm), type, stream);
  const auto result = run(comm, threads_transport().all_gather, data.buffer(), all.buffer());
  all.give();
  return result;
}
TSR_NCCL api::Result ncclReduceScatter(const void* send, void* recv, size_t count, int32_t type,
                                       int32_t op, api::Comm comm, void* stream) {
  const Staged all(send, count * ranks_of(comm), type, stream), part(recv, count, type, stream);
  const auto result =
      run(comm, threads_transport().reduce_scatter, all.buffer(), part.buffer(), reduce_of(op));
  part.give();
  return result;
}
TSR_NCCL api::Result ncclSend(const void* data, size_t count, int32_t type, int peer,
                              api::Comm comm, void* stream) {
  return message(comm, threads_transport().send,
                 std::make_shared<Staged>(data, count, type, stream), peer, false);
}
TSR_NCCL api::Result ncclRecv(void* data, size_t count, int32_t type, int peer, api::Comm comm,
                              void* stream) {
  return message(comm, threads_transport().recv,
                 std::make_shared<Staged>(data, count, type, stream), peer, true);
}
TSR_NCCL api::Result ncclGroupStart() {
  t_grouped = true;
  return api::kSuccess;
}
TSR_NCCL api::Result ncclGroupEnd() {
  t_grouped = false;
  api::Result result = api::kSuccess;
  for (const Pending& one : t_group) {
    if (finish(one.comm, one.work) != api::kSuccess) result = kFailed;
    if (one.receives) one.memory->give();
  }
  t_group.clear();
  return result;
}

// The run time's current device of a thread. There are four.
namespace {
thread_local int t_device = 0;
}
TSR_NCCL int cudaGetDevice(int* device) {
  *device = t_device;
  return 0;
}
TSR_NCCL int cudaSetDevice(int device) {
  constexpr int kInvalidDevice = 101;
  if (device < 0 || device >= 4) return kInvalidDevice;
  t_device = device;
  return 0;
}
