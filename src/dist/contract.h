// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The transport contract: the table of plain functions through which a group of ranks exchanges
// memory. A transport is the library's own for threads, or a plugin (MPI, NCCL).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/device.h"
#include "base/device_interface.h"
#include "base/dtype.h"
#include "base/error.h"

namespace tsr::dist {

// Raised whenever the table or the meaning of an entry changes: a plugin built for another version
// is refused.
inline constexpr uint32_t kTransportAbi = 2;

// 0, or the value of a tsr::Code.
using Status = int32_t;
inline constexpr Status kOk = 0;

// Values are those of the C ABI.
enum class ReduceOp : int32_t {
  kSum = 0,
  kAvg = 1,
  kMin = 2,
  kMax = 3,
  kProd = 4,
  kBitAnd = 5,
  kBitOr = 6,
  kBitXor = 7,
};
inline constexpr int32_t kReduceOpCount = 8;
inline constexpr const char* kReduceOpNames[] = {"sum",  "avg",     "min",    "max",
                                                 "prod", "bit_and", "bit_or", "bit_xor"};
constexpr const char* name(ReduceOp op) {
  return kReduceOpNames[static_cast<int32_t>(op)];
}

enum class Collective : int32_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kBarrier,
  kSend,
  kRecv,
  kSplit,
};
inline constexpr const char* kCollectiveNames[] = {
    "all_reduce", "reduce",  "broadcast", "all_gather", "reduce_scatter", "all_to_all",
    "gather",     "scatter", "barrier",   "send",       "recv",           "split"};
constexpr const char* name(Collective kind) {
  return kCollectiveNames[static_cast<int32_t>(kind)];
}

// What a failed function leaves. Plain data, so that no text crosses between two heaps.
struct Failure {
  int64_t native_code = 0;
  char text[1000] = {};

  // Cuts a text that is too long. Returns the status, for `return failure->set(...)`.
  Status set(Code code, std::string_view message, int64_t native = 0) noexcept {
    const size_t length = message.size() < sizeof(text) - 1 ? message.size() : sizeof(text) - 1;
    std::memcpy(text, message.data(), length);
    text[length] = '\0';
    native_code = native;
    return static_cast<Status>(code);
  }
};

// Row-major elements. The stream is that of a device; null on the CPU.
struct Buffer {
  void* data = nullptr;
  int64_t count = 0;  // of elements
  DType dtype = DType::kUInt8;
  Device device;
  StreamHandle stream = nullptr;
};

struct InitOptions {
  uint32_t abi = kTransportAbi;
  int32_t rank = -1;  // -1: the transport knows
  int32_t size = -1;  // the same
  int32_t check = 1;  // compare what the ranks ask for before data move, where that is possible
  double timeout_seconds = 0;  // for the ranks to meet, and of waits without one
  const char* address = "";    // where ranks meet; its meaning is the transport's
  Device device;               // of this rank's buffers, for transports that serve one device
};

// A group of ranks, and an operation under way; owned by the transport.
using ContextHandle = void*;
using WorkHandle = void*;

// Peer of a receive from whoever sends first.
inline constexpr int32_t kAnySource = -1;

// Every rank of a context calls the same collectives in the same order. A start returns at once;
// when it succeeds, `*work` is an operation that must be released, and its buffers stay unchanged
// and alive until it is done. When it fails there is no operation. Functions never throw, may be
// called from any thread, and describe a failure in `failure`. A null entry is reported as not
// implemented by this transport.
//
// Failures: kShape, kDType or kValue when the ranks ask for different things; kCancelled when a
// wait lasts too long or the context was aborted; kBackend when a rank has ended or the transport
// itself fails. After kCancelled and kBackend the context is aborted: every other operation ends
// with kCancelled and the first reason.
struct Table {
  uint32_t abi;
  const char* name;
  // 1: an operation on a device is queued on the buffer's stream, and is done in that stream's
  // order; `test` and `wait` answer for the queueing only. 0: the operation runs beside the host,
  // and its buffers must be ready when it starts.
  int32_t stream_ordered;

  // ---- life ----
  Status (*init)(const InitOptions* options, ContextHandle* out, Failure* failure);
  int32_t (*rank)(ContextHandle context);
  int32_t (*size)(ContextHandle context);
  // Whether an operation takes buffers of a device; `op` is that of a reduction. Others are copied
  // to the host by the library.
  int32_t (*serves)(ContextHandle context, DeviceType type, Collective kind, DType dtype,
                    ReduceOp op);
  // A collective: ranks of one color form a context, in the order of (key, rank). A negative color
  // gets null. Waits for all ranks.
  Status (*split)(ContextHandle context, int32_t color, int32_t key, ContextHandle* out,
                  Failure* failure);
  // Ends all operations of this rank with kCancelled and the reason, as far as the transport can
  // tell also those of the others. Null reason: the caller only asks whether the context is
  // aborted. Returns 1 if it was aborted before; then `failure` (may be null) has the first reason.
  int32_t (*abort)(ContextHandle context, const char* reason, Failure* failure);
  // All operations must have been released.
  void (*destroy)(ContextHandle context);

  // ---- collectives ----
  // A transport that is not stream-ordered leaves an average of device memory as the sum, which the
  // library divides there.
  Status (*all_reduce)(ContextHandle, Buffer data, ReduceOp, WorkHandle* work, Failure*);
  // In place at the root; elsewhere the buffer stays as it is.
  Status (*reduce)(ContextHandle, Buffer data, ReduceOp, int32_t root, WorkHandle* work, Failure*);
  Status (*broadcast)(ContextHandle, Buffer data, int32_t root, WorkHandle* work, Failure*);
  // `recv` has size times the elements of `send`, in the order of ranks.
  Status (*all_gather)(ContextHandle, Buffer send, Buffer recv, WorkHandle* work, Failure*);
  // `send` has size times the elements of `recv`.
  Status (*reduce_scatter)(ContextHandle, Buffer send, Buffer recv, ReduceOp, WorkHandle* work,
                           Failure*);
  // One count for each rank; parts lie behind each other in the order of ranks. The counts are
  // copied.
  Status (*all_to_all)(ContextHandle, Buffer send, const int64_t* send_counts, Buffer recv,
                       const int64_t* recv_counts, WorkHandle* work, Failure*);
  // `recv` (gather) and `send` (scatter) are used at the root only.
  Status (*gather)(ContextHandle, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
                   Failure*);
  Status (*scatter)(ContextHandle, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
                    Failure*);
  // `data` tells the device and the stream.
  Status (*barrier)(ContextHandle, Buffer data, WorkHandle* work, Failure*);

  // ---- point to point: messages between two ranks with one tag arrive in their order ----
  Status (*send)(ContextHandle, Buffer data, int32_t peer, int32_t tag, WorkHandle* work, Failure*);
  Status (*recv)(ContextHandle, Buffer data, int32_t peer, int32_t tag, WorkHandle* work, Failure*);

  // ---- operations under way ----
  // Until the operation is done or failed. An operation that waits longer aborts the context.
  Status (*wait)(ContextHandle, WorkHandle work, double seconds, Failure*);
  // *done is 1 when wait would return at once.
  Status (*test)(ContextHandle, WorkHandle work, int32_t* done, Failure*);
  // The rank that a finished receive came from.
  int32_t (*source)(ContextHandle, WorkHandle work);
  // Of an operation that is done or failed. Returns 1 if the transport may still use the memory of
  // a failed one, which must then never be freed.
  int32_t (*release)(ContextHandle, WorkHandle work);
};

// The only function that a plugin exports, under the name kTransportEntryName. Returns null when
// the transport cannot run on this machine, with the reason in `failure`.
using TransportEntry = const Table* (*)(uint32_t abi, Failure* failure);
inline constexpr const char* kTransportEntryName = "tsr_transport_entry";

}  // namespace tsr::dist
