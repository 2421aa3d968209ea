// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The transport over NCCL: one GPU for each rank. Operations are queued on the buffer's stream;
// NCCL compares nothing, so ranks must ask for the same.
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "dist/nccl/api.h"
#include "dist/nccl/meeting.h"
#include "dist/signature.h"

namespace tsr::dist::nccl {
namespace {

struct Context {
  explicit Context(const Api& functions) : api(functions) {}
  const Api& api;
  Comm comm = nullptr;
  int32_t rank = 0;
  int32_t size = 1;
  int32_t device = 0;
  std::mutex mutex;
  bool aborted = false;
  Failure reason;
};

Context& context_of(ContextHandle handle) {
  return *static_cast<Context*>(handle);
}

// Operations are done when they are queued: the handle only says that there is one.
char g_queued;

Status refuse(const Context& context, Result result, Failure* failure) {
  return failure->set(Code::kBackend, context.api.get_error_string(result), result);
}

// ---- Dtypes ----

struct Typed {
  DataType type;
  int32_t elements;  // of NCCL for each of ours
};

// As NCCL reduces it; nothing where it cannot.
std::optional<Typed> reducible(DType dtype, ReduceOp op) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return Typed{kUint8, 1};
    case DType::kInt8:
      return Typed{kInt8, 1};
    case DType::kInt32:
      return Typed{kInt32, 1};
    case DType::kUInt32:
      return Typed{kUint32, 1};
    case DType::kInt64:
      return Typed{kInt64, 1};
    case DType::kUInt64:
      return Typed{kUint64, 1};
    case DType::kFloat16:
      return Typed{kFloat16, 1};
    case DType::kBFloat16:
      return Typed{kBfloat16, 1};
    case DType::kFloat32:
      return Typed{kFloat32, 1};
    case DType::kFloat64:
      return Typed{kFloat64, 1};
    case DType::kComplex64:
    case DType::kComplex128:
      if (op != ReduceOp::kSum && op != ReduceOp::kAvg) return {};
      return Typed{dtype == DType::kComplex64 ? kFloat32 : kFloat64, 2};
    default:
      return {};
  }
}

std::optional<RedOp> operation_of(ReduceOp op, DType dtype) {
  const bool flags = dtype == DType::kBool;  // 0 and 1
  switch (op) {
    case ReduceOp::kSum:
      return flags ? kMax : kSum;
    case ReduceOp::kAvg:
      return kAvg;
    case ReduceOp::kMin:
      return kMin;
    case ReduceOp::kMax:
      return kMax;
    case ReduceOp::kProd:
      return flags ? kMin : kProd;
    default:
      break;
  }
  if (flags && op == ReduceOp::kBitAnd) return kMin;
  if (flags && op == ReduceOp::kBitOr) return kMax;
  return {};
}

size_t bytes_of(const Buffer& buffer) {
  return static_cast<size_t>(buffer.count * itemsize(buffer.dtype));
}

// ---- Starts ----

template <class Call>
Status queue(ContextHandle handle, WorkHandle* work, Failure* failure, Call&& call) {
  Context& context = context_of(handle);
  const std::lock_guard lock(context.mutex);
  if (context.aborted) return failure->set(Code::kCancelled, context.reason.text);
  context.api.set_device(context.device);
  const Result result = call(context);
  if (result != kSuccess && result != kInProgress) return refuse(context, result, failure);
  *work = &g_queued;
  return kOk;
}

template <class Call>
Status queue_reduction(ContextHandle handle, const Buffer& data, ReduceOp op, WorkHandle* work,
                       Failure* failure, Call&& call) {
  const auto typed = reducible(data.dtype, op);
  const auto reduction = operation_of(op, data.dtype);
  if (!typed || !reduction) {
    return failure->set(Code::kNotImplemented,
                        std::string("NCCL has no '") + name(op) + "' of " + name(data.dtype));
  }
  return queue(handle, work, failure,
               [&](const Context& context) { return call(context, *typed, *reduction); });
}

size_t count_of(const Buffer& buffer, const Typed& typed) {
  return static_cast<size_t>(buffer.count * typed.elements);
}

Status all_reduce(ContextHandle handle, Buffer data, ReduceOp op, WorkHandle* work,
                  Failure* failure) {
  return queue_reduction(
      handle, data, op, work, failure, [&](const Context& context, Typed typed, RedOp reduction) {
        return context.api.all_reduce(data.data, data.data, count_of(data, typed), typed.type,
                                      reduction, context.comm, data.stream);
      });
}

Status reduce(ContextHandle handle, Buffer data, ReduceOp op, int32_t root, WorkHandle* work,
              Failure* failure) {
  return queue_reduction(
      handle, data, op, work, failure, [&](const Context& context, Typed typed, RedOp reduction) {
        return context.api.reduce(data.data, data.data, count_of(data, typed), typed.type,
                                  reduction, root, context.comm, data.stream);
      });
}

Status reduce_scatter(ContextHandle handle, Buffer send, Buffer recv, ReduceOp op, WorkHandle* work,
                      Failure* failure) {
  return queue_reduction(
      handle, recv, op, work, failure, [&](const Context& context, Typed typed, RedOp reduction) {
        return context.api.reduce_scatter(send.data, recv.data, count_of(recv, typed), typed.type,
                                          reduction, context.comm, send.stream);
      });
}

Status broadcast(ContextHandle handle, Buffer data, int32_t root, WorkHandle* work,
                 Failure* failure) {
  return queue(handle, work, failure, [&](const Context& context) {
    return context.api.broadcast(data.data, data.data, bytes_of(data), kUint8, root, context.comm,
                                 data.stream);
  });
}

Status all_gather(ContextHandle handle, Buffer send, Buffer recv, WorkHandle* work,
                  Failure* failure) {
  return queue(handle, work, failure, [&](const Context& context) {
    return context.api.all_gather(send.data, recv.data, bytes_of(send), kUint8, context.comm,
                                  send.stream);
  });
}

// Messages between all ranks at once. `sent` and `expected` have the elements for each rank.
Result exchange(const Context& context, const Buffer& send, const int64_t* sent, const Buffer& recv,
                const int64_t* expected, StreamHandle stream) {
  const Api& api = context.api;
  Result result = api.group_start();
  const int64_t bytes = itemsize(sent != nullptr ? send.dtype : recv.dtype);
  const char* from = static_cast<const char*>(send.data);
  char* to = static_cast<char*>(recv.data);
  for (int32_t rank = 0; rank < context.size && result == kSuccess; ++rank) {
    const int64_t out = sent != nullptr ? sent[rank] * bytes : 0;
    const int64_t in = expected != nullptr ? expected[rank] * bytes : 0;
    if (out > 0) {
      result = api.send(from, static_cast<size_t>(out), kUint8, rank, context.comm, stream);
    }
    if (in > 0 && result == kSuccess) {
      result = api.recv(to, static_cast<size_t>(in), kUint8, rank, context.comm, stream);
    }
    from += out;
    to += in;
  }
  const Result ended = api.group_end();
  return result == kSuccess ? ended : result;
}

Status all_to_all(ContextHandle handle, Buffer send, const int64_t* send_counts, Buffer recv,
                  const int64_t* recv_counts, WorkHandle* work, Failure* failure) {
  return queue(handle, work, failure, [&](const Context& context) {
    return exchange(context, send, send_counts, recv, recv_counts, send.stream);
  });
}

// One count for a single rank, zero for the others.
std::unique_ptr<int64_t[]> counts_for(const Context& context, int32_t rank, int64_t count) {
  auto counts = std::make_unique<int64_t[]>(static_cast<size_t>(context.size));
  counts[static_cast<size_t>(rank)] = count;
  return counts;
}
std::unique_ptr<int64_t[]> counts_for_all(const Context& context, int64_t count) {
  auto counts = std::make_unique<int64_t[]>(static_cast<size_t>(context.size));
  for (int32_t rank = 0; rank < context.size; ++rank) counts[static_cast<size_t>(rank)] = count;
  return counts;
}

Status gather(ContextHandle handle, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
              Failure* failure) {
  return queue(handle, work, failure, [&](const Context& context) {
    const auto sent = counts_for(context, root, send.count);
    const auto all = counts_for_all(context, send.count);
    return exchange(context, send, sent.get(), recv, context.rank == root ? all.get() : nullptr,
                    send.stream);
  });
}

Status scatter(ContextHandle handle, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
               Failure* failure) {
  return queue(handle, work, failure, [&](const Context& context) {
    const auto expected = counts_for(context, root, recv.count);
    const auto all = counts_for_all(context, recv.count);
    return exchange(context, send, context.rank == root ? all.get() : nullptr, recv, expected.get(),
                    recv.stream);
  });
}

// NCCL has none: a sum of the caller's memory is done when every rank has come.
Status barrier(ContextHandle handle, Buffer data, WorkHandle* work, Failure* failure) {
  return all_reduce(handle, data, ReduceOp::kMax, work, failure);
}

Status send(ContextHandle handle, Buffer data, int32_t peer, int32_t tag, WorkHandle* work,
            Failure* failure) {
  if (tag != 0) return failure->set(Code::kNotImplemented, "NCCL has no tags, expected 0");
  return queue(handle, work, failure, [&](const Context& context) {
    return context.api.send(data.data, bytes_of(data), kUint8, peer, context.comm, data.stream);
  });
}

Status recv(ContextHandle handle, Buffer data, int32_t peer, int32_t tag, WorkHandle* work,
            Failure* failure) {
  if (tag != 0) return failure->set(Code::kNotImplemented, "NCCL has no tags, expected 0");
  if (peer == kAnySource) {
    return failure->set(Code::kNotImplemented, "NCCL receives from a rank that is named");
  }
  return queue(handle, work, failure, [&](const Context& context) {
    return context.api.recv(data.data, bytes_of(data), kUint8, peer, context.comm, data.stream);
  });
}

// ---- Operations under way ----

// The first failure of a communicator that is not the caller's fault ends it.
Status wait(ContextHandle handle, WorkHandle, double, Failure* failure) {
  Context& context = context_of(handle);
  const std::lock_guard lock(context.mutex);
  if (context.aborted) return failure->set(Code::kCancelled, context.reason.text);
  Result error = kSuccess;
  context.api.comm_get_async_error(context.comm, &error);
  if (error == kSuccess || error == kInProgress) return kOk;
  context.aborted = true;
  context.reason.set(Code::kBackend, context.api.get_error_string(error), error);
  context.api.comm_abort(context.comm);
  return failure->set(Code::kBackend, context.reason.text, error);
}

Status test(ContextHandle, WorkHandle, int32_t* done, Failure*) {
  *done = 1;
  return kOk;
}
int32_t source(ContextHandle, WorkHandle) {
  return kAnySource;
}
int32_t release(ContextHandle, WorkHandle) {
  return 0;
}

// ---- Life ----

Status init(const InitOptions* options, ContextHandle* out, Failure* failure) {
  try {
    char why[256] = "";
    const Api* api = find_api(why, sizeof why);
    if (api == nullptr) return failure->set(Code::kBackend, why);
    if (options->size < 1 || options->rank < 0 || options->rank >= options->size) {
      return failure->set(Code::kValue, "expected a rank below the number of ranks, got " +
                                            std::to_string(options->rank) + " of " +
                                            std::to_string(options->size));
    }
    if (options->device.type != DeviceType::kCuda) {
      return failure->set(Code::kValue, "expected the CUDA device of this rank");
    }
    auto context = std::make_unique<Context>(*api);
    context->rank = options->rank;
    context->size = options->size;
    context->device = options->device.index;
    UniqueId id{};
    if (const Status status = exchange_id(*api, *options, &id, failure); status != kOk) {
      return status;
    }
    api->set_device(context->device);
    const Result result = api->comm_init_rank(&context->comm, context->size, id, context->rank);
    if (result != kSuccess) return refuse(*context, result, failure);
    *out = context.release();
    return kOk;
  } catch (...) {
    return failure->set(Code::kOutOfMemory, "no memory for the group");
  }
}

Status split(ContextHandle handle, int32_t color, int32_t key, ContextHandle* out,
             Failure* failure) {
  *out = nullptr;
  Context& parent = context_of(handle);
  const std::lock_guard lock(parent.mutex);
  if (parent.aborted) return failure->set(Code::kCancelled, parent.reason.text);
  constexpr int kNoColor = -1;  // NCCL_SPLIT_NOCOLOR
  Comm comm = nullptr;
  parent.api.set_device(parent.device);
  const Result result =
      parent.api.comm_split(parent.comm, color < 0 ? kNoColor : color, key, &comm, nullptr);
  if (result != kSuccess) return refuse(parent, result, failure);
  if (comm == nullptr) return kOk;
  auto* part = new (std::nothrow) Context(parent.api);
  if (part == nullptr) return failure->set(Code::kOutOfMemory, "no memory for the group");
  part->comm = comm;
  part->device = parent.device;
  part->api.comm_count(comm, &part->size);
  part->api.comm_user_rank(comm, &part->rank);
  *out = part;
  return kOk;
}

int32_t abort(ContextHandle handle, const char* reason, Failure* failure) {
  Context& context = context_of(handle);
  const std::lock_guard lock(context.mutex);
  const bool before = context.aborted;
  if (before && failure != nullptr) *failure = context.reason;
  if (reason != nullptr && !before) {
    context.aborted = true;
    context.reason.set(Code::kCancelled, reason);
    context.api.comm_abort(context.comm);
  }
  return before ? 1 : 0;
}

void destroy(ContextHandle handle) {
  const std::unique_ptr<Context> context(&context_of(handle));
  if (!context->aborted) context->api.comm_destroy(context->comm);
}

int32_t rank_of(ContextHandle handle) {
  return context_of(handle).rank;
}
int32_t size_of(ContextHandle handle) {
  return context_of(handle).size;
}
int32_t serves(ContextHandle, DeviceType type, Collective, DType, ReduceOp) {
  return type == DeviceType::kCuda ? 1 : 0;
}

constexpr Table kTable = {
    .abi = kTransportAbi,
    .name = "nccl",
    .stream_ordered = 1,
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
}  // namespace tsr::dist::nccl

extern "C" [[gnu::visibility("default")]] const tsr::dist::Table* tsr_transport_entry(
    uint32_t abi, tsr::dist::Failure* failure) {
  if (abi != tsr::dist::kTransportAbi) {
    failure->set(tsr::Code::kBackend, "the plugin was built for another version of the library");
    return nullptr;
  }
  return &tsr::dist::nccl::kTable;
}
