// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/threads.h"

#include <cstdio>
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

// One rank's end of a world.
struct Context {
  WorldPtr world;
  int32_t rank;
  double timeout;  // seconds, of a split
};

struct Operation {
  MeetingPtr meeting;
  bool receives = false;
};

// Worlds whose ranks are still meeting, by their names.
struct Registry {
  ForkMutex mutex;
  std::map<std::string, WorldPtr> worlds;
};

Context& context_of(ContextHandle handle) {
  return *static_cast<Context*>(handle);
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
  auto found = world.open.find(number);
  if (found == world.open.end()) {
    auto fresh = std::make_shared<Meeting>();
    fresh->posts.resize(static_cast<size_t>(world.size));
    found = world.open.emplace(number, std::move(fresh)).first;
  }
  meeting = found->second;
  const bool is_last = meeting->arrived + 1 == world.size;
  // From here on nothing fails: a rank that has come must not be missing.
  if (is_last) world.ready.push_back(meeting);
  ++meeting->arrived;
  ++world.started[rank];
  post.here = true;
  post.signature.number = number;
  meeting->kind = post.signature.kind;
  meeting->posts[rank] = std::move(post);
  if (!is_last) return kOk;
  meeting->progress = Progress::kRunning;
  world.open.erase(found);
  run_ready(world, lock);
  return kOk;
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

Meeting message_of(const Context& context, Request&& request) {
  Meeting mine;
  mine.kind = request.signature.kind;
  const bool sends = mine.kind == Collective::kSend;
  mine.source = sends ? context.rank : request.peer;
  mine.target = sends ? request.peer : context.rank;
  mine.tag = request.tag;
  mine.posts.resize(2);
  static_cast<Request&>(mine.posts[sends ? 0 : 1]) = std::move(request);
  return mine;
}

// ---- operations ----

Status start(ContextHandle handle, Request&& request, WorkHandle* work, Failure* failure) {
  Context& context = context_of(handle);
  auto operation = std::make_unique<Operation>();
  MeetingPtr& meeting = operation->meeting;
  const Collective kind = request.signature.kind;
  const bool is_message = kind == Collective::kSend || kind == Collective::kRecv;
  operation->receives = kind == Collective::kRecv;
  const Status status =
      is_message ? exchange(context, message_of(context, std::move(request)), meeting, failure)
                 : join(context, Post{std::move(request)}, meeting, failure);
  if (status == kOk) *work = operation.release();
  return status;
}

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

// With the mutex held. Without memory for the text the operation must end all the same.
void end_late(World& world, const Meeting& meeting, double seconds) noexcept {
  try {
    world.end_all(late(meeting, world, seconds));
  } catch (...) {
    world.end_all("an operation was not done in time");
  }
}

Status wait(ContextHandle handle, WorkHandle work, double seconds, Failure* failure) {
  World& world = *context_of(handle).world;
  Meeting& meeting = *static_cast<Operation*>(work)->meeting;
  std::unique_lock lock(world.mutex);
  const auto moved = [&] { return meeting.progress != Progress::kWaiting; };
  if (!world.changed.wait_until(lock, deadline_after(seconds), moved)) {
    end_late(world, meeting, seconds);
  }
  // A thread works on it: this takes no longer than the work itself.
  world.changed.wait(lock, [&] { return meeting.progress == Progress::kDone; });
  if (meeting.status != kOk) *failure = meeting.failure;
  return meeting.status;
}

Status test(ContextHandle handle, WorkHandle work, int32_t* done, Failure*) {
  const std::unique_lock lock(context_of(handle).world->mutex);
  *done = static_cast<Operation*>(work)->meeting->progress == Progress::kDone ? 1 : 0;
  return kOk;
}

int32_t source(ContextHandle handle, WorkHandle work) {
  const std::unique_lock lock(context_of(handle).world->mutex);
  const Operation& operation = *static_cast<Operation*>(work);
  return operation.receives ? operation.meeting->source : kAnySource;
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
  const auto place = registry.worlds.try_emplace(options.address).first;
  WorldPtr& found = place->second;
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
    registry.worlds.erase(place);
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
    *out = new Context{world, options->rank, options->timeout_seconds};
    return kOk;
  });
}

Status split(ContextHandle handle, int32_t color, int32_t key, ContextHandle* out,
             Failure* failure) {
  return protect(failure, [&]() -> Status {
    *out = nullptr;
    Post post;
    post.signature.kind = Collective::kSplit;
    post.color = color;
    post.key = key;
    Context& context = context_of(handle);
    Operation operation;
    Status status = join(context, std::move(post), operation.meeting, failure);
    if (status == kOk) status = wait(handle, &operation, context.timeout, failure);
    if (status != kOk) return status;
    const Post& mine = operation.meeting->posts[static_cast<size_t>(context.rank)];
    if (mine.part != nullptr) *out = new Context{mine.part, mine.part_rank, context.timeout};
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
  char why[64];
  std::snprintf(why, sizeof why, "rank %d has left the group", context->rank);
  context->world->end_all(why);
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

constexpr Table kTable = [] {
  Table table = Starts<start, size_of>::table("threads", 0);
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

const Table& threads_transport() noexcept {
  return kTable;
}

}  // namespace tsr::dist
