// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the transports have in common: requests, the entries of their tables that start operations,
// errors and deadlines. Transports link nothing of the library; all is inline.
#pragma once

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>
#include <vector>

#include "dist/signature.h"

namespace tsr::dist {

// When a wait of so many seconds ends. NaN and times below 0 are no time; long ones end after three
// years, because a clock cannot hold any number.
inline std::chrono::steady_clock::time_point deadline_after(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kLongest = 1e8;
  const std::chrono::duration<double> span(seconds > 0 ? std::min(seconds, kLongest) : 0.0);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
}

// Runs `body`, which returns a Status. What it throws becomes one.
template <class Body>
Status protect(Failure* failure, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failure->set(Code::kOutOfMemory, "no memory for the operation");
  } catch (const std::exception& error) {
    return failure->set(Code::kBackend, error.what());
  } catch (...) {
    return failure->set(Code::kBackend, "an error of an unknown kind");
  }
}

// One operation, as one rank asks for it.
struct Request {
  Signature signature;
  Buffer send;
  Buffer recv;
  std::vector<int64_t> send_counts = {};  // of all_to_all, by rank
  std::vector<int64_t> recv_counts = {};
  int32_t peer = kAnySource;  // of a message, which has its memory in `send` and in `recv`
  int32_t tag = 0;
};

// The entries of a transport's table that start operations: all call `kStart(context, request,
// work, failure)`, which may throw. `kSize(context)` is the number of ranks.
template <auto kStart, auto kSize>
struct Starts {
  // The other entries are null.
  static constexpr Table table(const char* name, int32_t stream_ordered) {
    Table made{};
    made.abi = kTransportAbi;
    made.name = name;
    made.stream_ordered = stream_ordered;
    made.size = kSize;
    made.all_reduce = all_reduce;
    made.reduce = reduce;
    made.broadcast = broadcast;
    made.all_gather = all_gather;
    made.reduce_scatter = reduce_scatter;
    made.all_to_all = all_to_all;
    made.gather = gather;
    made.scatter = scatter;
    made.barrier = barrier;
    made.send = send;
    made.recv = recv;
    return made;
  }

 private:
  static Status start(ContextHandle context, Request request, WorkHandle* work, Failure* failure) {
    return protect(failure, [&] { return kStart(context, std::move(request), work, failure); });
  }
  // `typed` has the dtype that is compared between the ranks, and `count` elements for each.
  static Signature signature_of(Collective kind, const Buffer& typed, int64_t count,
                                int32_t root = -1) {
    return {kind, static_cast<int32_t>(typed.dtype), count, -1, root, 0};
  }
  static Signature signature_of(Collective kind, const Buffer& typed, int64_t count, ReduceOp op,
                                int32_t root = -1) {
    return {kind, static_cast<int32_t>(typed.dtype), count, static_cast<int32_t>(op), root, 0};
  }

  static Status all_reduce(ContextHandle context, Buffer data, ReduceOp op, WorkHandle* work,
                           Failure* failure) {
    return start(context, {signature_of(Collective::kAllReduce, data, data.count, op), data, data},
                 work, failure);
  }
  static Status reduce(ContextHandle context, Buffer data, ReduceOp op, int32_t root,
                       WorkHandle* work, Failure* failure) {
    return start(context,
                 {signature_of(Collective::kReduce, data, data.count, op, root), data, data}, work,
                 failure);
  }
  static Status broadcast(ContextHandle context, Buffer data, int32_t root, WorkHandle* work,
                          Failure* failure) {
    return start(context,
                 {signature_of(Collective::kBroadcast, data, data.count, root), data, data}, work,
                 failure);
  }
  static Status all_gather(ContextHandle context, Buffer send, Buffer recv, WorkHandle* work,
                           Failure* failure) {
    return start(context, {signature_of(Collective::kAllGather, send, send.count), send, recv},
                 work, failure);
  }
  static Status reduce_scatter(ContextHandle context, Buffer send, Buffer recv, ReduceOp op,
                               WorkHandle* work, Failure* failure) {
    return start(context,
                 {signature_of(Collective::kReduceScatter, send, recv.count, op), send, recv}, work,
                 failure);
  }
  static Status all_to_all(ContextHandle context, Buffer send, const int64_t* send_counts,
                           Buffer recv, const int64_t* recv_counts, WorkHandle* work,
                           Failure* failure) {
    return protect(failure, [&] {
      Request request{signature_of(Collective::kAllToAll, send, 0), send, recv};
      const int32_t size = kSize(context);
      request.send_counts.assign(send_counts, send_counts + size);
      request.recv_counts.assign(recv_counts, recv_counts + size);
      return kStart(context, std::move(request), work, failure);
    });
  }
  static Status gather(ContextHandle context, Buffer send, Buffer recv, int32_t root,
                       WorkHandle* work, Failure* failure) {
    return start(context, {signature_of(Collective::kGather, send, send.count, root), send, recv},
                 work, failure);
  }
  static Status scatter(ContextHandle context, Buffer send, Buffer recv, int32_t root,
                        WorkHandle* work, Failure* failure) {
    return start(context, {signature_of(Collective::kScatter, recv, recv.count, root), send, recv},
                 work, failure);
  }
  static Status barrier(ContextHandle context, Buffer data, WorkHandle* work, Failure* failure) {
    return start(context, {signature_of(Collective::kBarrier, data, 0), data, data}, work, failure);
  }
  static Status message(ContextHandle context, Collective kind, const Buffer& data, int32_t peer,
                        int32_t tag, WorkHandle* work, Failure* failure) {
    Request request{signature_of(kind, data, data.count), data, data};
    request.peer = peer;
    request.tag = tag;
    return start(context, std::move(request), work, failure);
  }
  static Status send(ContextHandle context, Buffer data, int32_t peer, int32_t tag,
                     WorkHandle* work, Failure* failure) {
    return message(context, Collective::kSend, data, peer, tag, work, failure);
  }
  static Status recv(ContextHandle context, Buffer data, int32_t peer, int32_t tag,
                     WorkHandle* work, Failure* failure) {
    return message(context, Collective::kRecv, data, peer, tag, work, failure);
  }
};

// What the entry of a plugin returns.
inline const Table* table_for(uint32_t abi, const Table& table, Failure* failure) {
  if (abi == kTransportAbi) return &table;
  failure->set(Code::kBackend, "the plugin was built for another version of the library");
  return nullptr;
}

}  // namespace tsr::dist
