// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The collectives of a group of threads, once all ranks are there: plain loops over their memory.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "dist/reduction.h"
#include "dist/threads_world.h"

namespace tsr::dist {
namespace {

constexpr int64_t kGrain = 16384;  // elements

char* at(const Buffer& buffer, int64_t element) {
  return static_cast<char*>(buffer.data) + element * itemsize(buffer.dtype);
}

// Lengths of 0 may come with null pointers, and a rank may give one place as source and target.
void move(char* target, const char* source, int64_t count, DType dtype) {
  const auto nbytes = static_cast<size_t>(count * itemsize(dtype));
  if (nbytes != 0 && target != source) std::memmove(target, source, nbytes);
}

std::vector<const void*> parts_of(const Meeting& meeting, int64_t element) {
  std::vector<const void*> parts;
  for (const Post& post : meeting.posts) parts.push_back(at(post.send, element));
  return parts;
}

void all_reduce(const Meeting& meeting) {
  const Post& first = meeting.posts[0];
  const auto op = static_cast<ReduceOp>(first.signature.reduce);
  const auto parts = parts_of(meeting, 0);
  parallel_for(first.send.count, kGrain, [&](int64_t begin, int64_t end) {
    reduce_parts(op, first.send.dtype, first.send.data, parts, begin, end);
    for (const Post& post : meeting.posts) {
      move(at(post.send, begin), at(first.send, begin), end - begin, first.send.dtype);
    }
  });
}

void reduce(const Meeting& meeting) {
  const Buffer& root = meeting.posts[static_cast<size_t>(meeting.posts[0].signature.root)].send;
  const auto op = static_cast<ReduceOp>(meeting.posts[0].signature.reduce);
  const auto parts = parts_of(meeting, 0);
  parallel_for(root.count, kGrain, [&](int64_t begin, int64_t end) {
    reduce_parts(op, root.dtype, root.data, parts, begin, end);
  });
}

void broadcast(const Meeting& meeting) {
  const Buffer& root = meeting.posts[static_cast<size_t>(meeting.posts[0].signature.root)].send;
  for (const Post& post : meeting.posts) {
    move(at(post.send, 0), at(root, 0), root.count, root.dtype);
  }
}

void reduce_scatter(const Meeting& meeting) {
  const auto op = static_cast<ReduceOp>(meeting.posts[0].signature.reduce);
  int64_t first = 0;
  for (const Post& post : meeting.posts) {
    const auto parts = parts_of(meeting, first);
    parallel_for(post.recv.count, kGrain, [&](int64_t begin, int64_t end) {
      reduce_parts(op, post.recv.dtype, post.recv.data, parts, begin, end);
    });
    first += post.recv.count;
  }
}

void gather_to(const Meeting& meeting, const Buffer& target) {
  int64_t first = 0;
  for (const Post& post : meeting.posts) {
    move(at(target, first), at(post.send, 0), post.send.count, target.dtype);
    first += post.send.count;
  }
}

void scatter_from(const Meeting& meeting, const Buffer& source) {
  int64_t first = 0;
  for (const Post& post : meeting.posts) {
    move(at(post.recv, 0), at(source, first), post.recv.count, source.dtype);
    first += post.recv.count;
  }
}

// What rank `from` sends to rank `to` must have the length that `to` expects.
Status compare_counts(Meeting& meeting) {
  const auto size = meeting.posts.size();
  for (size_t from = 0; from < size; ++from) {
    for (size_t to = 0; to < size; ++to) {
      const int64_t sent = meeting.posts[from].send_counts[to];
      const int64_t expected = meeting.posts[to].recv_counts[from];
      if (sent == expected) continue;
      return meeting.failure.set(
          Code::kShape, concat("expected that ranks agree on their parts: rank ", from, " sends ",
                               sent, " elements to rank ", to, ", which expects ", expected));
    }
  }
  return kOk;
}

void all_to_all(const Meeting& meeting) {
  const auto size = meeting.posts.size();
  std::vector<int64_t> sent(size, 0);  // elements of each sender so far
  for (size_t to = 0; to < size; ++to) {
    const Post& target = meeting.posts[to];
    int64_t received = 0;
    for (size_t from = 0; from < size; ++from) {
      const int64_t count = target.recv_counts[from];
      move(at(target.recv, received), at(meeting.posts[from].send, sent[from]), count,
           target.recv.dtype);
      received += count;
      sent[from] += count;
    }
  }
}

void split(Meeting& meeting) {
  std::map<int32_t, std::vector<size_t>> members;  // by color
  for (size_t rank = 0; rank < meeting.posts.size(); ++rank) {
    if (meeting.posts[rank].color >= 0) members[meeting.posts[rank].color].push_back(rank);
  }
  for (auto& [color, ranks] : members) {
    std::stable_sort(ranks.begin(), ranks.end(), [&](size_t a, size_t b) {
      return meeting.posts[a].key < meeting.posts[b].key;
    });
    const auto world = std::make_shared<World>(static_cast<int32_t>(ranks.size()));
    for (size_t i = 0; i < ranks.size(); ++i) {
      meeting.posts[ranks[i]].part = world;
      meeting.posts[ranks[i]].part_rank = static_cast<int32_t>(i);
    }
  }
}

Status run(Meeting& meeting) {
  const auto root = static_cast<size_t>(std::max(meeting.posts[0].signature.root, 0));
  switch (meeting.kind) {
    case Collective::kAllReduce:
      all_reduce(meeting);
      break;
    case Collective::kReduce:
      reduce(meeting);
      break;
    case Collective::kBroadcast:
      broadcast(meeting);
      break;
    case Collective::kAllGather:
      for (const Post& post : meeting.posts) gather_to(meeting, post.recv);
      break;
    case Collective::kReduceScatter:
      reduce_scatter(meeting);
      break;
    case Collective::kAllToAll:
      if (const Status status = compare_counts(meeting); status != kOk) return status;
      all_to_all(meeting);
      break;
    case Collective::kGather:
      gather_to(meeting, meeting.posts[root].recv);
      break;
    case Collective::kScatter:
      scatter_from(meeting, meeting.posts[root].send);
      break;
    case Collective::kSplit:
      split(meeting);
      break;
    case Collective::kBarrier:
    case Collective::kSend:
    case Collective::kRecv:
      break;
  }
  return kOk;
}

}  // namespace

void perform(Meeting& meeting) noexcept {
  meeting.status = protect(&meeting.failure, [&] {
    std::vector<Signature> signatures;
    for (const Post& post : meeting.posts) signatures.push_back(post.signature);
    const Status status = compare(signatures, &meeting.failure);
    return status == kOk ? run(meeting) : status;
  });
}

void deliver(Meeting& message) noexcept {
  message.status = protect(&message.failure, [&]() -> Status {
    const Buffer &source = message.posts[0].send, &target = message.posts[1].recv;
    if (source.dtype != target.dtype || source.count != target.count) {
      const Code code = source.dtype != target.dtype ? Code::kDType : Code::kShape;
      return message.failure.set(
          code, concat("expected the message that was sent, ", source.count, " elements of ",
                       name(source.dtype), ", got a place for ", target.count, " of ",
                       name(target.dtype)));
    }
    move(at(target, 0), at(source, 0), source.count, source.dtype);
    return kOk;
  });
}

}  // namespace tsr::dist
