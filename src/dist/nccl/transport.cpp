// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The transport over NCCL: one GPU for each rank. Operations are queued on the buffer's stream;
// NCCL compares nothing, so ranks must ask for the same.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dist/nccl/api.h"
#include "dist/nccl/meeting.h"
#include "dist/transport.h"

namespace tsr::dist::nccl {
namespace {

struct Context {
  explicit Context(const Api& functions) : api(functions) {}
  const Api& api;
  Comm comm = nullptr;
  int32_t rank = 0;
  int32_t size = 1;
  int32_t device = 0;
  // Guards what follows, and calls of NCCL for `comm`: an abort must not end it during another
  // call.
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

// ---- Starts ----

// The device of the group is current on this thread, whose own device is restored: the thread is
// the user's.
class DeviceGuard {
 public:
  explicit DeviceGuard(const Context& context) : api_(context.api) {
    error_ = api_.get_device(&former_);
    if (error_ == 0) error_ = api_.set_device(context.device);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (former_ >= 0) static_cast<void>(api_.set_device(former_));
  }
  // kOk, or the failure that the device cannot be used.
  [[nodiscard]] Status check(Failure* failure) const {
    if (error_ == 0) return kOk;
    return failure->set(Code::kBackend, "cudaSetDevice failed for the device of this rank", error_);
  }

 private:
  const Api& api_;
  int former_ = -1;
  int32_t error_ = 0;
};

size_t bytes_of(const Buffer& buffer) {
  return static_cast<size_t>(buffer.count * itemsize(buffer.dtype));
}

// Messages between all ranks at once. `sent` and `expected` have the elements for each rank; empty
// lists: none.
Result exchange(const Context& context, const Buffer& send, const std::vector<int64_t>& sent,
                const Buffer& recv, const std::vector<int64_t>& expected, StreamHandle stream) {
  const Api& api = context.api;
  if (const Result started = api.group_start(); started != kSuccess) return started;
  Result result = kSuccess;
  const char* from = static_cast<const char*>(send.data);
  char* to = static_cast<char*>(recv.data);
  for (int32_t rank = 0; rank < context.size && result == kSuccess; ++rank) {
    const auto at = static_cast<size_t>(rank);
    const int64_t out = sent.empty() ? 0 : sent[at] * itemsize(send.dtype);
    const int64_t in = expected.empty() ? 0 : expected[at] * itemsize(recv.dtype);
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

// `count` for a single rank, 0 for the others.
std::vector<int64_t> counts_for(const Context& context, int32_t rank, int64_t count) {
  std::vector<int64_t> counts(static_cast<size_t>(context.size), 0);
  counts[static_cast<size_t>(rank)] = count;
  return counts;
}
// At the root: `count` for each rank. Elsewhere empty.
std::vector<int64_t> counts_at_root(const Context& context, int32_t root, int64_t count) {
  if (context.rank != root) return {};
  return std::vector<int64_t>(static_cast<size_t>(context.size), count);
}

Result reduce(const Context& context, const Request& request, Typed typed, RedOp op) {
  const Api& api = context.api;
  const Buffer &send = request.send, &recv = request.recv;
  const bool scatters = request.signature.kind == Collective::kReduceScatter;
  const auto count = static_cast<size_t>((scatters ? recv.count : send.count) * typed.elements);
  if (scatters) {
    return api.reduce_scatter(send.data, recv.data, count, typed.type, op, context.comm,
                              send.stream);
  }
  if (request.signature.kind == Collective::kReduce) {
    return api.reduce(send.data, send.data, count, typed.type, op, request.signature.root,
                      context.comm, send.stream);
  }
  return api.all_reduce(send.data, send.data, count, typed.type, op, context.comm, send.stream);
}

Result move(const Context& context, const Request& request) {
  const Api& api = context.api;
  const Buffer &send = request.send, &recv = request.recv;
  const int32_t root = request.signature.root;
  switch (request.signature.kind) {
    case Collective::kBroadcast:
      return api.broadcast(send.data, send.data, bytes_of(send), kUint8, root, context.comm,
                           send.stream);
    case Collective::kAllGather:
      return api.all_gather(send.data, recv.data, bytes_of(send), kUint8, context.comm,
                            send.stream);
    case Collective::kAllToAll:
      return exchange(context, send, request.send_counts, recv, request.recv_counts, send.stream);
    case Collective::kGather:
      return exchange(context, send, counts_for(context, root, send.count), recv,
                      counts_at_root(context, root, send.count), send.stream);
    case Collective::kScatter:
      return exchange(context, send, counts_at_root(context, root, recv.count), recv,
                      counts_for(context, root, recv.count), recv.stream);
    case Collective::kSend:
      return api.send(send.data, bytes_of(send), kUint8, request.peer, context.comm, send.stream);
    default:
      return api.recv(recv.data, bytes_of(recv), kUint8, request.peer, context.comm, recv.stream);
  }
}

// Queues what `call` does on a stream of the device.
template <class Call>
Status queue(Context& context, WorkHandle* work, Failure* failure, Call&& call) {
  const std::lock_guard lock(context.mutex);
  if (context.aborted) return failure->set(Code::kCancelled, context.reason.text);
  const DeviceGuard guard(context);
  if (const Status status = guard.check(failure); status != kOk) return status;
  const Result result = call();
  if (result != kSuccess && result != kInProgress) return refuse(context, result, failure);
  *work = &g_queued;
  return kOk;
}

// NCCL has no barrier: a reduction of the caller's memory is done when every rank has come.
Status start(ContextHandle handle, Request&& request, WorkHandle* work, Failure* failure) {
  Context& context = context_of(handle);
  const Collective kind = request.signature.kind;
  const bool reduces = request.signature.reduce >= 0;
  if (!reduces && kind != Collective::kBarrier) {
    if (request.tag != 0)
      return failure->set(Code::kNotImplemented, "NCCL has no tags, expected 0");
    if (kind == Collective::kRecv && request.peer == kAnySource) {
      return failure->set(Code::kNotImplemented, "NCCL receives from a rank that is named");
    }
    return queue(context, work, failure, [&] { return move(context, request); });
  }
  const auto op = reduces ? static_cast<ReduceOp>(request.signature.reduce) : ReduceOp::kMax;
  const DType dtype = request.send.dtype;
  const auto typed = reducible(dtype, op);
  const auto reduction = operation_of(op, dtype);
  if (!typed || !reduction) {
    return failure->set(Code::kNotImplemented,
                        std::string("NCCL has no '") + name(op) + "' of " + name(dtype));
  }
  return queue(context, work, failure,
               [&] { return reduce(context, request, *typed, *reduction); });
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

// The call that brings the ranks of a group together has no timeout: a thread of its own makes it,
// and is left behind when some rank does not come.
struct Joining {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool left = false;  // nobody waits any more
  Result result = kSuccess;
  Comm comm = nullptr;
};

// Ends the thread that has waited for the ranks; a communicator that nobody wants ends with it.
void end_joining(const Api& api, Joining& joining, Result result, Comm comm) {
  {
    const std::lock_guard lock(joining.mutex);
    joining.result = result;
    joining.comm = comm;
    joining.done = true;
    if (!joining.left) comm = nullptr;
  }
  joining.changed.notify_all();
  if (comm != nullptr && result == kSuccess) api.comm_abort(comm);
}

Status join(Context& context, const UniqueId& id, std::chrono::steady_clock::time_point deadline,
            Failure* failure) {
  const auto joining = std::make_shared<Joining>();
  std::thread([&api = context.api, joining, id, rank = context.rank, size = context.size,
               device = context.device] {
    Comm comm = nullptr;
    Result result = kUnhandledCudaError;
    if (api.set_device(device) == 0) result = api.comm_init_rank(&comm, size, id, rank);
    end_joining(api, *joining, result, comm);
  }).detach();
  std::unique_lock lock(joining->mutex);
  if (!joining->changed.wait_until(lock, deadline, [&] { return joining->done; })) {
    joining->left = true;
    return failure->set(Code::kCancelled, "expected all " + std::to_string(context.size) +
                                              " ranks of the group in time, got fewer on rank " +
                                              std::to_string(context.rank));
  }
  if (joining->result != kSuccess) return refuse(context, joining->result, failure);
  context.comm = joining->comm;
  return kOk;
}

Status init(const InitOptions* options, ContextHandle* out, Failure* failure) {
  return protect(failure, [&]() -> Status {
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
    const auto deadline = deadline_after(options->timeout_seconds);
    // Before the other ranks wait for this one.
    const DeviceGuard guard(*context);
    Status status = guard.check(failure);
    UniqueId id{};
    if (status == kOk) status = exchange_id(*api, *options, deadline, &id, failure);
    if (status == kOk) status = join(*context, id, deadline, failure);
    if (status != kOk) return status;
    forget_id(*options);
    *out = context.release();
    return kOk;
  });
}

Status split(ContextHandle handle, int32_t color, int32_t key, ContextHandle* out,
             Failure* failure) {
  return protect(failure, [&]() -> Status {
    *out = nullptr;
    Context& parent = context_of(handle);
    const std::lock_guard lock(parent.mutex);
    if (parent.aborted) return failure->set(Code::kCancelled, parent.reason.text);
    constexpr int kNoColor = -1;  // NCCL_SPLIT_NOCOLOR
    auto part = std::make_unique<Context>(parent.api);
    part->device = parent.device;
    const DeviceGuard guard(parent);
    if (const Status status = guard.check(failure); status != kOk) return status;
    const Result result =
        parent.api.comm_split(parent.comm, color < 0 ? kNoColor : color, key, &part->comm, nullptr);
    if (result != kSuccess) return refuse(parent, result, failure);
    if (part->comm == nullptr) return kOk;
    part->api.comm_count(part->comm, &part->size);
    part->api.comm_user_rank(part->comm, &part->rank);
    *out = part.release();
    return kOk;
  });
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

constexpr Table kTable = [] {
  Table table = Starts<start, size_of>::table("nccl", 1);
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
}  // namespace tsr::dist::nccl

extern "C" [[gnu::visibility("default")]] const tsr::dist::Table* tsr_transport_entry(
    uint32_t abi, tsr::dist::Failure* failure) {
  return tsr::dist::table_for(abi, tsr::dist::nccl::kTable, failure);
}
