// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Our operations as MPI's.
#include <algorithm>
#include <cstring>
#include <limits>

#include "dist/mpi/engine.h"
#include "dist/mpi/types.h"
#include "dist/reduction.h"

namespace tsr::dist::mpi {
namespace {

// MPI counts in int. A multiple of what every cache line holds.
constexpr int64_t kMostElements = int64_t{1} << 30;

char* at(const Buffer& buffer, int64_t element) {
  return static_cast<char*>(buffer.data) + element * itemsize(buffer.dtype);
}

// Operations on long buffers are several of MPI's.
template <class Start>
int in_pieces(Operation& operation, int64_t count, Start&& start) {
  int64_t first = 0;
  do {
    const int64_t length = std::min(count - first, kMostElements);
    operation.requests.push_back(MPI_REQUEST_NULL);
    const int code = start(first, static_cast<int>(length), &operation.requests.back());
    if (code != MPI_SUCCESS) return code;
    first += length;
  } while (first < count);
  return MPI_SUCCESS;
}

std::vector<int> as_ints(const std::vector<int64_t>& counts) {
  return {counts.begin(), counts.end()};
}

std::vector<int> places_of(const std::vector<int64_t>& counts) {
  std::vector<int> places;
  int64_t next = 0;
  for (const int64_t count : counts) {
    places.push_back(static_cast<int>(next));
    next += count;
  }
  return places;
}

int post_all_to_all(Operation& operation, MPI_Comm comm, MPI_Datatype type, MPI_Request* request) {
  operation.counts[0] = as_ints(operation.send_counts);
  operation.counts[1] = places_of(operation.send_counts);
  operation.counts[2] = as_ints(operation.recv_counts);
  operation.counts[3] = places_of(operation.recv_counts);
  return MPI_Ialltoallv(operation.send.data, operation.counts[0].data(), operation.counts[1].data(),
                        type, operation.recv.data, operation.counts[2].data(),
                        operation.counts[3].data(), type, comm, request);
}

int post_message(Operation& operation, MPI_Comm comm, MPI_Datatype type) {
  const bool sends = operation.signature.kind == Collective::kSend;
  const Buffer& data = sends ? operation.send : operation.recv;
  return in_pieces(operation, data.count, [&](int64_t first, int count, MPI_Request* request) {
    if (sends) {
      return MPI_Isend(at(data, first), count, type, operation.peer, operation.tag, comm, request);
    }
    const int source = operation.peer == kAnySource ? MPI_ANY_SOURCE : operation.peer;
    return MPI_Irecv(at(data, first), count, type, source, operation.tag, comm, request);
  });
}

int post_reduction(Operation& operation, MPI_Comm comm, MPI_Datatype type) {
  const auto op =
      operation_of(static_cast<ReduceOp>(operation.signature.reduce), operation.send.dtype);
  const Buffer& data = operation.send;
  const int root = operation.signature.root;
  const bool everywhere = operation.signature.kind == Collective::kAllReduce;
  return in_pieces(operation, data.count, [&](int64_t first, int count, MPI_Request* request) {
    void* here = at(data, first);
    if (everywhere) return MPI_Iallreduce(MPI_IN_PLACE, here, count, type, op, comm, request);
    const bool at_root = operation.context->rank == root;
    return MPI_Ireduce(at_root ? MPI_IN_PLACE : here, at_root ? here : nullptr, count, type, op,
                       root, comm, request);
  });
}

// A long all_reduce or reduce_scatter; see Note [Long reductions]. All ranks come to the same
// answer, also where only some of them have memory of a device.
bool is_exchange(const Operation& operation) {
  const Collective kind = operation.signature.kind;
  const bool everywhere = kind == Collective::kAllReduce;
  if (!everywhere && kind != Collective::kReduceScatter) return false;
  return !Engine::instance().cuda_collectives() &&
         Exchange::suits(operation.send.count * itemsize(operation.send.dtype),
                         operation.context->size);
}

int post_exchange(Operation& operation, MPI_Datatype type) {
  const Context& context = *operation.context;
  const Buffer &send = operation.send, &recv = operation.recv;
  Exchange::Plan plan;
  plan.comm = context.checks;
  plan.rank = context.rank;
  plan.size = context.size;
  plan.number = operation.signature.number;
  plan.type = type;
  plan.op = operation_of(static_cast<ReduceOp>(operation.signature.reduce), send.dtype);
  plan.itemsize = itemsize(send.dtype);
  plan.source = static_cast<char*>(send.data);
  plan.count = send.count;
  plan.all = operation.signature.kind == Collective::kAllReduce;
  plan.segment = plan.all ? Exchange::segment_of(send.count, context.size) : recv.count;
  plan.result = plan.all ? at(send, context.rank * plan.segment) : at(recv, 0);
  operation.exchange = std::make_unique<Exchange>(plan);
  return operation.exchange->start();
}

// Operations whose parts lie behind each other cannot be several of MPI's.
bool in_one_piece(Collective kind) {
  return kind == Collective::kAllGather || kind == Collective::kReduceScatter ||
         kind == Collective::kGather || kind == Collective::kScatter;
}

}  // namespace

std::optional<std::string> too_long(const Operation& operation) {
  constexpr int64_t kLimit = std::numeric_limits<int>::max();
  int64_t longest = 0;
  if (operation.signature.kind == Collective::kAllToAll)
    longest = std::max(operation.send.count, operation.recv.count);
  else if (in_one_piece(operation.signature.kind))
    longest = operation.signature.count * operation.context->size;
  if (longest <= kLimit) return {};
  return "expected at most " + std::to_string(kLimit) + " elements of all ranks, got " +
         std::to_string(longest);
}

int post(Operation& operation) {
  const MPI_Comm comm = operation.context->main;
  const Buffer &send = operation.send, &recv = operation.recv;
  const MPI_Datatype type = datatype_of(static_cast<DType>(operation.signature.dtype));
  const int root = operation.signature.root;
  if (operation.is_message()) return post_message(operation, comm, type);
  if (is_exchange(operation)) return post_exchange(operation, type);
  if (operation.signature.kind == Collective::kAllReduce ||
      operation.signature.kind == Collective::kReduce) {
    return post_reduction(operation, comm, type);
  }
  if (operation.signature.kind == Collective::kBroadcast) {
    return in_pieces(operation, send.count, [&](int64_t first, int count, MPI_Request* request) {
      return MPI_Ibcast(at(send, first), count, type, root, comm, request);
    });
  }
  operation.requests.push_back(MPI_REQUEST_NULL);
  MPI_Request* request = &operation.requests.back();
  const int sent = static_cast<int>(send.count), got = static_cast<int>(recv.count);
  switch (operation.signature.kind) {
    case Collective::kAllGather:
      return MPI_Iallgather(send.data, sent, type, recv.data, sent, type, comm, request);
    case Collective::kReduceScatter:
      return MPI_Ireduce_scatter_block(
          send.data, recv.data, got, type,
          operation_of(static_cast<ReduceOp>(operation.signature.reduce), send.dtype), comm,
          request);
    case Collective::kAllToAll:
      return post_all_to_all(operation, comm, type, request);
    case Collective::kGather:
      return MPI_Igather(send.data, sent, type, recv.data, sent, type, root, comm, request);
    case Collective::kScatter:
      return MPI_Iscatter(send.data, got, type, recv.data, got, type, root, comm, request);
    default:
      return MPI_Ibarrier(comm, request);
  }
}

void complete(Operation& operation, const std::vector<MPI_Status>& statuses) {
  const auto kind = operation.signature.kind;
  if (kind == Collective::kRecv) {
    operation.source = statuses[0].MPI_SOURCE;
    int count = 0;
    MPI_Get_count(&statuses.back(), datatype_of(operation.recv.dtype), &count);
    const int64_t expected = (operation.recv.count - 1) % kMostElements + 1;
    if (operation.recv.count > 0 && count != expected) {
      operation.status = operation.failure.set(
          Code::kShape, "expected the message that was sent, " + std::to_string(count) +
                            " elements, got a place for " + std::to_string(expected));
    }
    return;
  }
  if (operation.signature.reduce != static_cast<int32_t>(ReduceOp::kAvg)) return;
  const Context& context = *operation.context;
  if (kind == Collective::kReduce && context.rank != operation.signature.root) return;
  const Buffer& result = kind == Collective::kReduceScatter ? operation.recv : operation.send;
  if (!result.device.is_cpu()) return;  // the library divides
  divide(result.dtype, result.data, result.count, context.size);
}

}  // namespace tsr::dist::mpi
