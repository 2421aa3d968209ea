// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The transport over MPI: the table of the plugin. MPI's own launcher starts the processes, and
// MPI knows ranks and sizes.
#include <memory>

#include "dist/mpi/engine.h"
#include "dist/mpi/types.h"

namespace tsr::dist::mpi {
namespace {

Context& context_of(ContextHandle handle) {
  return *static_cast<Context*>(handle);
}
Operation& operation_of(WorkHandle work) {
  return *static_cast<Operation*>(work);
}

Status init(const InitOptions* options, ContextHandle* out, Failure* failure) {
  return protect(failure, [&]() -> Status {
    Status status = Engine::instance().start(options->timeout_seconds, failure);
    if (status != kOk) return status;
    Context* context = nullptr;
    status = Engine::instance().open(*options, &context, failure);
    *out = context;
    return status;
  });
}

// ---- Operations under way ----

Status start(ContextHandle handle, Request&& request, WorkHandle* work, Failure* failure) {
  // The standard promises this many on every communicator.
  constexpr int32_t kMostTags = 32767;
  if (request.tag > kMostTags) {
    return failure->set(Code::kValue, "expected a tag up to " + std::to_string(kMostTags) +
                                          ", got " + std::to_string(request.tag));
  }
  auto operation = std::make_unique<Operation>(context_of(handle), std::move(request));
  const Status status = Engine::instance().submit(operation.get(), failure);
  if (status == kOk) *work = operation.release();
  return status;
}

Status wait(ContextHandle, WorkHandle work, double seconds, Failure* failure) {
  return protect(failure,
                 [&] { return Engine::instance().wait(operation_of(work), seconds, failure); });
}

Status test(ContextHandle, WorkHandle work, int32_t* done, Failure* failure) {
  return protect(failure, [&]() -> Status {
    *done = Engine::instance().test(operation_of(work)) ? 1 : 0;
    return kOk;
  });
}

int32_t source(ContextHandle, WorkHandle work) {
  return operation_of(work).source;
}

int32_t release(ContextHandle, WorkHandle work) {
  // MPI still knows the requests of a failed operation, and their memory.
  if (operation_of(work).memory_in_use || operation_of(work).stage != Stage::kDone) return 1;
  delete &operation_of(work);
  return 0;
}

// ---- Life ----

Status split(ContextHandle handle, int32_t color, int32_t key, ContextHandle* out,
             Failure* failure) {
  return protect(failure, [&]() -> Status {
    *out = nullptr;
    Request request;
    request.signature.kind = Collective::kSplit;
    auto operation = std::make_unique<Operation>(context_of(handle), std::move(request));
    operation->color = color;
    operation->key = key;
    Status status = Engine::instance().submit(operation.get(), failure);
    if (status != kOk) return status;
    Operation* const running = operation.release();
    status = wait(handle, running, context_of(handle).timeout, failure);
    *out = running->part;
    release(handle, running);
    return status;
  });
}

int32_t abort(ContextHandle handle, const char* reason, Failure* failure) {
  return Engine::instance().abort(context_of(handle), reason, failure) ? 1 : 0;
}

void destroy(ContextHandle handle) {
  Engine::instance().close(&context_of(handle));
}

int32_t rank_of(ContextHandle handle) {
  return context_of(handle).rank;
}
int32_t size_of(ContextHandle handle) {
  return context_of(handle).size;
}
int32_t serves(ContextHandle, DeviceType type, Collective kind, DType dtype, ReduceOp op) {
  if (type == DeviceType::kCpu) return 1;
  if (type != DeviceType::kCuda) return 0;
  const Engine& engine = Engine::instance();
  const bool message = kind == Collective::kSend || kind == Collective::kRecv;
  const bool reduces = kind == Collective::kAllReduce || kind == Collective::kReduce ||
                       kind == Collective::kReduceScatter;
  if (message) return engine.cuda_messages() ? 1 : 0;
  return engine.cuda_collectives() && !(reduces && has_own_function(op, dtype)) ? 1 : 0;
}

constexpr Table kTable = [] {
  Table table = Starts<start, size_of>::table("mpi", 0);
  table.init = init;
  table.rank = rank_of;
  table.serves = serves;
  table.split = split;
  table.abort = abort;
  table.destroy = destroy;
  table.wait = wait;
  table.test = test;
  table.source = source;
  table.release = release;
  return table;
}();

}  // namespace
}  // namespace tsr::dist::mpi

extern "C" [[gnu::visibility("default")]] const tsr::dist::Table* tsr_transport_entry(
    uint32_t abi, tsr::dist::Failure* failure) {
  return tsr::dist::table_for(abi, tsr::dist::mpi::kTable, failure);
}
