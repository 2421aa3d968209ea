// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A stand-in for NCCL between threads of one process, on memory of the host: the transport between
// threads under NCCL's names. Calls wait, so that everything is done when a stream would begin.
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
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

struct Pending {
  api::Comm comm;
  WorkHandle work;
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
Buffer buffer(const void* data, size_t count, int32_t type) {
  return {const_cast<void*>(data), static_cast<int64_t>(count), dtype_of(type), {}, nullptr};
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
  if (!t_grouped) return finish(comm, work);
  t_group.push_back({comm, work});
  return api::kSuccess;
}

void copy(void* to, const void* from, size_t count, int32_t type) {
  if (to != from) std::memcpy(to, from, count * static_cast<size_t>(itemsize(dtype_of(type))));
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
                                   int32_t op, api::Comm comm, void*) {
  copy(recv, send, count, type);
  return run(comm, threads_transport().all_reduce, buffer(recv, count, type), reduce_of(op));
}
TSR_NCCL api::Result ncclReduce(const void* send, void* recv, size_t count, int32_t type,
                                int32_t op, int root, api::Comm comm, void*) {
  copy(recv, send, count, type);
  return run(comm, threads_transport().reduce, buffer(recv, count, type), reduce_of(op), root);
}
TSR_NCCL api::Result ncclBroadcast(const void* send, void* recv, size_t count, int32_t type,
                                   int root, api::Comm comm, void*) {
  copy(recv, send, count, type);
  return run(comm, threads_transport().broadcast, buffer(recv, count, type), root);
}
TSR_NCCL api::Result ncclAllGather(const void* send, void* recv, size_t count, int32_t type,
                                   api::Comm comm, void*) {
  const auto size = static_cast<size_t>(threads_transport().size(context_of(comm)));
  return run(comm, threads_transport().all_gather, buffer(send, count, type),
             buffer(recv, count * size, type));
}
TSR_NCCL api::Result ncclReduceScatter(const void* send, void* recv, size_t count, int32_t type,
                                       int32_t op, api::Comm comm, void*) {
  const auto size = static_cast<size_t>(threads_transport().size(context_of(comm)));
  return run(comm, threads_transport().reduce_scatter, buffer(send, count * size, type),
             buffer(recv, count, type), reduce_of(op));
}
TSR_NCCL api::Result ncclSend(const void* data, size_t count, int32_t type, int peer,
                              api::Comm comm, void*) {
  return run(comm, threads_transport().send, buffer(data, count, type), peer, 0);
}
TSR_NCCL api::Result ncclRecv(void* data, size_t count, int32_t type, int peer, api::Comm comm,
                              void*) {
  return run(comm, threads_transport().recv, buffer(data, count, type), peer, 0);
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
  }
  t_group.clear();
  return result;
}
TSR_NCCL int cudaSetDevice(int) {
  return 0;
}
