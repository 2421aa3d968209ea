// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/threads.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/immortal.h"
#include "dist/threads_world.h"

namespace tsr::dist {

void World::end_all(std::string_view why) {
  if (aborted) return;
  aborted = true;
  reason.set(Code::kCancelled, why);
  const auto end = [this](const MeetingPtr& meeting) {
    meeting->progress = Progress::kDone;
    meeting->status = meeting->failure.set(Code::kCancelled, reason.text);
  };
  for (const auto& [number, meeting] : open) end(meeting);
  for (const MeetingPtr& message : messages) end(message);
  open.clear();
  messages.clear();
  changed.notify_all();
}

namespace {

using Clock = std::chrono::steady_clock;

// One rank's end of a world.
struct Context {
  WorldPtr world;
  int32_t rank;
};

struct Operation {
  MeetingPtr meeting;
};

// Worlds whose ranks are still meeting, by their names.
struct Registry {
  ForkMutex mutex;
  std::map<std::string, WorldPtr> worlds;
};

Context& context_of(ContextHandle handle) {
  return *static_cast<Context*>(handle);
}

Clock::time_point deadline_after(double seconds) {
  constexpr double kLongest = 1e8;
  const std::chrono::duration<double> span(std::clamp(seconds, 0.0, kLongest));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
}

template <class Body>
Status protect(Failure* failure, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return failure->set(Code::kOutOfMemory, "no memory for the operation");
  }
}

// ---- collectives ----

// Performs what is ready, in its order. With the lock held, which is given up meanwhile.
void run_ready(World& world, std::unique_lock<ForkMutex>& lock) {
  if (world.running) return;
  world.running = true;
  while (!world.ready.empty()) {
    const MeetingPtr meeting = world.ready.front();
    world.ready.pop_front();
    lock.unlock();
    perform(*meeting);
    lock.lock();
    meeting->progress = Progress::kDone;
    world.changed.notify_all();
  }
  world.running = false;
}

Status join(Context& context, Post post, MeetingPtr& meeting, Failure* failure) {
  World& world = *context.world;
  std::unique_lock lock(world.mutex);
  if (world.aborted) return failure->set(Code::kCancelled, world.reason.text);
  const auto rank = static_cast<size_t>(context.rank);
  const int64_t number = world.started[rank];
  MeetingPtr& found = world.open[number];
  if (found == nullptr) {
    found = std::make_shared<Meeting>();
    found->posts.resize(static_cast<size_t>(world.size));
  }
  meeting = found;
  ++world.started[rank];
  post.here = true;
  post.signature.number = number;
  meeting->kind = post.signature.kind;
  meeting->posts[rank] = std::move(post);
  if (++meeting->arrived < world.size) return kOk;
  world.ready.push_back(meeting);
  meeting->progress = Progress::kRunning;
  world.open.erase(number);
  run_ready(world, lock);
  return kOk;
}

Status start(ContextHandle handle, Post post, WorkHandle* work, Failure* failure) {
  return protect(failure, [&] {
    auto operation = std::make_unique<Operation>();
    const Status status = join(context_of(handle), std::move(post), operation->meeting, failure);
    if (status == kOk) *work = operation.release();
    return status;
  });
}

Post post_of(Collective kind, const Buffer& send, const Buffer& recv, int64_t count) {
  Post post;
  post.signature = {kind, static_cast<int32_t>(send.dtype), count, -1, -1, 0};
  post.send = send;
  post.recv = recv;
  return post;
}

Status all_reduce(ContextHandle context, Buffer data, ReduceOp op, WorkHandle* work,
                  Failure* failure) {
  Post post = post_of(Collective::kAllReduce, data, data, data.count);
  post.signature.reduce = static_cast<int32_t>(op);
  return start(context, std::move(post), work, failure);
}

Status reduce(ContextHandle context, Buffer data, ReduceOp op, int32_t root, WorkHandle* work,
              Failure* failure) {
  Post post = post_of(Collective::kReduce, data, data, data.count);
  post.signature.reduce = static_cast<int32_t>(op);
  post.signature.root = root;
  return start(context, std::move(post), work, failure);
}

Status broadcast(ContextHandle context, Buffer data, int32_t root, WorkHandle* work,
                 Failure* failure) {
  Post post = post_of(Collective::kBroadcast, data, data, data.count);
  post.signature.root = root;
  return start(context, std::move(post), work, failure);
}

Status all_gather(ContextHandle context, Buffer send, Buffer recv, WorkHandle* work,
                  Failure* failure) {
  return start(context, post_of(Collective::kAllGather, send, recv, send.count), work, failure);
}

Status reduce_scatter(ContextHandle context, Buffer send, Buffer recv, ReduceOp op,
                      WorkHandle* work, Failure* failure) {
  Post post = post_of(Collective::kReduceScatter, send, recv, recv.count);
  post.signature.reduce = static_cast<int32_t>(op);
  return start(context, std::move(post), work, failure);
}

Status all_to_all(ContextHandle context, Buffer send, const int64_t* send_counts, Buffer recv,
                  const int64_t* recv_counts, WorkHandle* work, Failure* failure) {
  return protect(failure, [&] {
    Post post = post_of(Collective::kAllToAll, send, recv, 0);
    const auto size = static_cast<size_t>(context_of(context).world->size);
    post.send_counts.assign(send_counts, send_counts + size);
    post.recv_counts.assign(recv_counts, recv_counts + size);
    return start(context, std::move(post), work, failure);
  });
}

Status gather(ContextHandle context, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
              Failure* failure) {
  Post post = post_of(Collective::kGather, send, recv, send.count);
  post.signature.root = root;
  return start(context, std::move(post), work, failure);
}

Status scatter(ContextHandle context, Buffer send, Buffer recv, int32_t root, WorkHandle* work,
               Failure* failure) {
  Post post = post_of(Collective::kScatter, send, recv, recv.count);
  post.signature.dtype = static_cast<int32_t>(recv.dtype);
  post.signature.root = root;
  return start(context, std::move(post), work, failure);
}

Status barrier(ContextHandle context, Buffer, WorkHandle* work, Failure* failure) {
  return start(context, post_of(Collective::kBarrier, {}, {}, 0), work, failure);
}

// ---- messages ----

// Finds the other side of a message, or leaves it for the other side to find.
Status exchange(Context& context, Meeting&& mine, MeetingPtr& message, Failure* failure) {
  World& world = *context.world;
  std::unique_lock lock(world.mutex);
  if (world.aborted) return failure->set(Code::kCancelled, world.reason.text);
  const bool sends = mine.kind == Collective::kSend;
  for (auto it = world.messages.begin(); it != world.messages.end(); ++it) {
    Meeting& other = **it;
    const bool fits =
        other.kind != mine.kind && other.target == mine.target && other.tag == mine.tag &&
        (other.source == mine.source || other.source == kAnySource || mine.source == kAnySource);
    if (!fits) continue;
    message = *it;
    world.messages.erase(it);
    if (sends) {
      other.posts[0] = std::move(mine.posts[0]);
      other.source = mine.source;
    } else {
      other.posts[1] = std::move(mine.posts[1]);
    }
    other.progress = Progress::kRunning;
    lock.unlock();
    deliver(other);
    lock.lock();
    other.progress = Progress::kDone;
    world.changed.notify_all();
    return kOk;
  }
  message = std::make_shared<Meeting>(std::move(mine));
  world.messages.push_back(message);
  return kOk;
}

Status start_message(ContextHandle handle, Collective kind, const Buffer& data, int32_t source,
                     int32_t target, int32_t tag, WorkHandle* work, Failure* failure) {
  return protect(failure, [&] {
    auto operation = std::make_unique<Operation>();
    Meeting mine;
    mine.kind = kind;
    mine.posts.resize(2);
    (kind == Collective::kSend ? mine.posts[0].send : mine.posts[1].recv) = data;
    mine.source = source;
    mine.target = target;
    mine.tag = tag;
    const Status status =
        exchange(context_of(handle), std::move(mine), operation->meeting, failure);
    if (status == kOk) *work = operation.release();
    return status;
  });
}

Status send(ContextHandle context, Buffer data, int32_t peer, int32_t tag, WorkHandle* work,
            Failure* failure) {
  return start_message(context, Collective::kSend, data, context_of(context).rank, peer, tag, work,
                       failure);
}

Status recv(ContextHandle context, Buffer data, int32_t peer, int32_t tag, WorkHandle* work,
            Failure* failure) {
  return start_message(context, Collective::kRecv, data, peer, context_of(context).rank, tag, work,
                       failure);
}

// ---- operations under way ----

std::string late(const Meeting& meeting, const World& world, double seconds) {
  std::string text = concat(name(meeting.kind), " was not done after ", seconds, " s");
  if (meeting.kind == Collective::kSend || meeting.kind == Collective::kRecv) {
    return text + concat(": the other side of the message did not come");
  }
  std::string missing;
  for (int32_t rank = 0; rank < world.size; ++rank) {
    if (meeting.posts[static_cast<size_t>(rank)].here) continue;
    missing += concat(missing.empty() ? "" : ", ", rank);
  }
  return text + concat(": of ", world.size, " ranks these did not come: ", missing);
}

Status wait(ContextHandle handle, WorkHandle work, double seconds, Failure* failure) {
  return protect(failure, [&] {
    World& world = *context_of(handle).world;
    Meeting& meeting = *static_cast<Operation*>(work)->meeting;
    std::unique_lock lock(world.mutex);
    const auto moved = [&] { return meeting.progress != Progress::kWaiting; };
    if (!world.changed.wait_until(lock, deadline_after(seconds), moved)) {
      world.end_all(late(meeting, world, seconds));
    }
    // A thread works on it: this takes no longer than the work itself.
    world.changed.wait(lock, [&] { return meeting.progress == Progress::kDone; });
    if (meeting.status != kOk) *failure = meeting.failure;
    return meeting.status;
  });
}

Status test(ContextHandle handle, WorkHandle work, int32_t* done, Failure*) {
  const std::unique_lock lock(context_of(handle).world->mutex);
  *done = static_cast<Operation*>(work)->meeting->progress == Progress::kDone ? 1 : 0;
  return kOk;
}

int32_t source(ContextHandle handle, WorkHandle work) {
  const std::unique_lock lock(context_of(handle).world->mutex);
  const Meeting& meeting = *static_cast<Operation*>(work)->meeting;
  return meeting.tag >= 0 && meeting.posts.size() == 2 ? meeting.source : kAnySource;
}

int32_t release(ContextHandle, WorkHandle work) {
  delete static_cast<Operation*>(work);
  return 0;
}

// ---- life ----

Status check_options(const InitOptions& options, Failure* failure) {
  if (options.size < 1) {
    return failure->set(Code::kValue, concat("expected the number of ranks, got ", options.size));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return failure->set(Code::kValue, concat("expected a rank from 0 to ", options.size - 1,
                                             ", got ", options.rank));
  }
  return kOk;
}

// Adds the rank to the world of its name.
Status enter(const InitOptions& options, WorldPtr& world, Failure* failure) {
  auto& registry = immortal<Registry>();
  const std::unique_lock lock(registry.mutex);
  WorldPtr& found = registry.worlds[options.address];
  if (found == nullptr) found = std::make_shared<World>(options.size);
  if (found->size != options.size) {
    return failure->set(
        Code::kValue,
        concat("expected ", found->size, " ranks as the others of the group, got ", options.size));
  }
  const std::unique_lock inner(found->mutex);
  found->present.resize(static_cast<size_t>(found->size));
  if (found->present[static_cast<size_t>(options.rank)]) {
    return failure->set(Code::kValue,
                        concat("expected a rank that no other thread has, got ", options.rank));
  }
  found->present[static_cast<size_t>(options.rank)] = true;
  world = found;
  if (++found->joined == found->size) {
    found->changed.notify_all();
    registry.worlds.erase(options.address);
  }
  return kOk;
}

// A name whose ranks did not all come is free again.
void forget(const InitOptions& options, const WorldPtr& world) {
  auto& registry = immortal<Registry>();
  const std::unique_lock lock(registry.mutex);
  const auto found = registry.worlds.find(options.address);
  if (found != registry.worlds.end() && found->second == world) registry.worlds.erase(found);
}

Status init(const InitOptions* options, ContextHandle* out, Failure* failure) {
  return protect(failure, [&]() -> Status {
    WorldPtr world;
    if (const Status status = check_options(*options, failure); status != kOk) return status;
    if (const Status status = enter(*options, world, failure); status != kOk) return status;
    std::unique_lock lock(world->mutex);
    const auto ended = [&] { return world->joined == world->size || world->aborted; };
    if (!world->changed.wait_until(lock, deadline_after(options->timeout_seconds), ended)) {
      world->end_all(concat("of ", world->size, " ranks only ", world->joined, " came within ",
                            options->timeout_seconds, " s"));
    }
    // A rank may have met the others and left again before this one woke: its operations tell.
    const bool met = world->joined == world->size;
    lock.unlock();
    if (!met) {
      forget(*options, world);
      return failure->set(Code::kCancelled, world->reason.text);
    }
    *out = new Context{world, options->rank};
    return kOk;
  });
}

Status split(ContextHandle handle, int32_t color, int32_t key, ContextHandle* out,
             Failure* failure) {
  return protect(failure, [&]() -> Status {
    *out = nullptr;
    Post post = post_of(Collective::kSplit, {}, {}, 0);
    post.color = color;
    post.key = key;
    Context& context = context_of(handle);
    Operation operation;
    Status status = join(context, std::move(post), operation.meeting, failure);
    constexpr double kLong = 1800;
    if (status == kOk) status = wait(handle, &operation, kLong, failure);
    if (status != kOk) return status;
    const Post& mine = operation.meeting->posts[static_cast<size_t>(context.rank)];
    if (mine.part != nullptr) *out = new Context{mine.part, mine.part_rank};
    return kOk;
  });
}

int32_t abort(ContextHandle handle, const char* reason, Failure* failure) {
  World& world = *context_of(handle).world;
  const std::unique_lock lock(world.mutex);
  const bool before = world.aborted;
  if (reason != nullptr) world.end_all(reason);
  if (before && failure != nullptr) *failure = world.reason;
  return before ? 1 : 0;
}

void destroy(ContextHandle handle) {
  const std::unique_ptr<Context> context(&context_of(handle));
  const std::unique_lock lock(context->world->mutex);
  context->world->end_all(concat("rank ", context->rank, " has left the group"));
}

int32_t rank_of(ContextHandle context) {
  return context_of(context).rank;
}
int32_t size_of(ContextHandle context) {
  return context_of(context).world->size;
}
int32_t serves(ContextHandle, DeviceType type, Collective, DType, ReduceOp) {
  return type == DeviceType::kCpu ? 1 : 0;
}

constexpr Table kTable = {
    .abi = kTransportAbi,
    .name = "threads",
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

const Table& threads_transport() noexcept {
  return kTable;
}

}  // namespace tsr::dist
