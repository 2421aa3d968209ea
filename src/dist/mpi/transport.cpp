// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The transport over MPI: the table of the plugin. MPI's own launcher starts the processes, and
// MPI knows ranks and sizes.
#include <new>

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

template <class Body>
Status protect(Failure* failure, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failure->set(Code::kOutOfMemory, "no memory for the operation");
  } catch (const std::exception& error) {
    return failure->set(Code::kBackend, error.what());
  }
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

// ---- Starts ----

struct Request {
  Collective kind;
  Buffer send;
  Buffer recv;
  int64_t count = 0;
  int32_t reduce = -1;
  int32_t root = -1;
};

std::unique_ptr<Operation> make(ContextHandle context, const Request& request) {
  auto operation = std::make_unique<Operation>();
  operation->context = &context_of(context);
  operation->send = request.send;
  operation->recv = request.recv;
  const Buffer& typed = request.kind == Collective::kScatter || request.kind == Collective::kRecv
                            ? request.recv
                            : request.send;
  operation->signature = {request.kind,  static_cast<int32_t>(typed.dtype),
                          request.count, request.reduce,
                          request.root,  0};
  return operation;
}

Status submit(std::unique_ptr<Operation> operation, WorkHandle* work, Failure* failure) {
  const Status status = Engine::instance().submit(operation.get(), failure);
  if (status == kOk) *work = operation.release();
  return status;
}

Status start(ContextHandle context, const Request& request, WorkHandle* work, Failure* failure) {
  return protect(failure, [&] { return submit(make(context, request), work, failure); });
}

Status all_reduce(ContextHandle context, Buffer data, ReduceOp op, WorkHandle* work,
                  Failure* failure) {
  return start(context,
               {Collective::kAllReduce, data, data, data.count, static_cast<int32_t>(op), -1}, work,
               failure);
}

Status reduce(ContextHandle context, Buffer data, ReduceOp op, int32_t root, WorkHandle* work,
              Failure* failure) {
  return start(context,
               {Collective::kReduce, data, data, data.count, static_cast<int32_t>(op), root}, work,
               failure);
}

Status broadcast(ContextHandle context, Buffer data, int32_t root, WorkHandle* work,
                 Failure* failure) {
  return start(context, {Collective::kBroadcast, data, data, data.count, -1, root}, work, failure);
}

Status all_gather(ContextHandle context, Buffer send, Buffer recv, WorkHandle* work,
                  Failure* failure) {
  return start(context, {Collective::kAllGather, send, recv, send.count, -1, -1}, work, failure);
}

Status reduce_scatter(ContextHandle context, Buffer send, Buffer recv, ReduceOp op,
                      WorkHandle* work, Failure* failure) {
  return start(context,
               {Collective::kReduceScatter, send, recv, recv.count, static_cast<int32_t>(op), -1},
               work, failure);
}

Status all_to_all(ContextHandle context, Buffer send, const int64_t* send_counts, Buffer recv,
                  const int64_t* recv_counts, WorkHandle* work, Failure* failure) {
  return protect(failure, [&] {
    auto operation = make(context, {Collective::kAllToAll, send, recv, 0, -1, -1});
    const int32_t size = operation->context->size;
    operation->send_counts.assign(send_counts, send_counts + size);
    operation->recv_counts.assign(recv_counts, recv_counts + size);
    return submit(std::move(operation), work, failure);
  });
}

Status gather(ContextHandle context, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
              Failure* failure) {
  return start(context, {Collective::kGather, send, recv, send.count, -1, root}, work, failure);
}

Status scatter(ContextHandle context, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
               Failure* failure) {
  return start(context, {Collective::kScatter, send, recv, recv.count, -1, root}, work, failure);
}

Status barrier(ContextHandle context, Buffer, WorkHandle* work, Failure* failure) {
  return start(context, {Collective::kBarrier, {}, {}, 0, -1, -1}, work, failure);
}

Status message(ContextHandle context, Collective kind, const Buffer& data, int32_t peer,
               int32_t tag, WorkHandle* work, Failure* failure) {
  return protect(failure, [&]() -> Status {
    // The standard promises this many on every communicator.
    constexpr int32_t kMostTags = 32767;
    if (tag > kMostTags) {
      return failure->set(Code::kValue, "expected a tag up to " + std::to_string(kMostTags) +
                                            ", got " + std::to_string(tag));
    }
    auto operation = make(context, {kind, data, data, data.count, -1, -1});
    operation->peer = peer;
    operation->tag = tag;
    return submit(std::move(operation), work, failure);
  });
}

Status send(ContextHandle context, Buffer data, int32_t peer, int32_t tag, WorkHandle* work,
            Failure* failure) {
  return message(context, Collective::kSend, data, peer, tag, work, failure);
}

Status recv(ContextHandle context, Buffer data, int32_t peer, int32_t tag, WorkHandle* work,
            Failure* failure) {
  return message(context, Collective::kRecv, data, peer, tag, work, failure);
}

// ---- Operations under way ----

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
    auto operation = make(handle, {Collective::kSplit, {}, {}, 0, -1, -1});
    operation->color = color;
    operation->key = key;
    Operation& running = *operation;
    WorkHandle work = nullptr;
    Status status = submit(std::move(operation), &work, failure);
    if (status != kOk) return status;
    status = wait(handle, work, context_of(handle).timeout, failure);
    *out = running.part;
    release(handle, work);
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

constexpr Table kTable = {
    .abi = kTransportAbi,
    .name = "mpi",
    .stream_ordered = 0,
    .init = init,
    .rank = rank_of,
    .size = size_of,
    .serves = serves,
    .split = split,
    .abort = abort,
    .destroy = destroy,
    .all_reduce = all_reduce,
    .reduce = reduce,
    .broadcast = broadcast,
    .all_gather = all_gather,
    .reduce_scatter = reduce_scatter,
    .all_to_all = all_to_all,
    .gather = gather,
    .scatter = scatter,
    .barrier = barrier,
    .send = send,
    .recv = recv,
    .wait = wait,
    .test = test,
    .source = source,
    .release = release,
};

}  // namespace
}  // namespace tsr::dist::mpi

extern "C" [[gnu::visibility("default")]] const tsr::dist::Table* tsr_transport_entry(
    uint32_t abi, tsr::dist::Failure* failure) {
  if (abi != tsr::dist::kTransportAbi) {
    failure->set(tsr::Code::kBackend, "the plugin was built for another version of the library");
    return nullptr;
  }
  return &tsr::dist::mpi::kTable;
}
