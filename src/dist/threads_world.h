// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// World: what the ranks of a group of threads share.
#pragma once

#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fork_mutex.h"
#include "dist/transport.h"

namespace tsr::dist {

struct World;

enum class Progress { kWaiting, kRunning, kDone };

// What one rank brings to a collective.
struct Post : Request {
  bool here = false;
  int32_t color = 0;
  int32_t key = 0;
  std::shared_ptr<World> part = nullptr;  // the result of a split
  int32_t part_rank = 0;
};

// A collective, or a message, whose posts are then the sender's and the receiver's.
struct Meeting {
  Collective kind = Collective::kBarrier;
  Progress progress = Progress::kWaiting;
  Status status = kOk;
  Failure failure;
  int32_t arrived = 0;
  std::vector<Post> posts;
  int32_t tag = 0;
  int32_t source = kAnySource;
  int32_t target = 0;
};
using MeetingPtr = std::shared_ptr<Meeting>;

// The mutex protects everything but `size`. Memory of the ranks is read and written without it,
// while a meeting is kRunning.
struct World {
  explicit World(int32_t ranks) : size(ranks), started(static_cast<size_t>(ranks)) {}

  const int32_t size;
  ForkMutex mutex;
  std::condition_variable_any changed;
  int32_t joined = 0;
  std::vector<bool> present;           // ranks that have joined
  std::vector<int64_t> started;        // collectives of each rank
  std::map<int64_t, MeetingPtr> open;  // by their number, not yet with all ranks
  std::deque<MeetingPtr> ready;        // with all ranks, in their order
  bool running = false;                // a thread works on `ready`
  std::list<MeetingPtr> messages;      // sent or awaited, without their other side
  bool aborted = false;
  Failure reason;

  // With the mutex held. Ends everything that waits; the first reason stays.
  void end_all(std::string_view why);
};
using WorldPtr = std::shared_ptr<World>;

// Moves and reduces the memory of a collective that has all ranks. Without the mutex.
void perform(Meeting& meeting) noexcept;
// Copies a message. Without the mutex.
void deliver(Meeting& message) noexcept;

}  // namespace tsr::dist
