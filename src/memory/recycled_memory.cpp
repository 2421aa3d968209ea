// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/recycled_memory.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr {
namespace {

using MemoryPtr = std::unique_ptr<SharedMemory>;

constexpr uint64_t kPage = 4096;
// Blocks that the maker keeps, lent or not. A worker has a few batches under way.
constexpr size_t kMostMade = 64;
// Mappings that a receiver keeps. Their makers may have ended, which nothing tells.
constexpr size_t kMostReceived = 256;
// A block that was not needed while so many others were taken is given up.
constexpr uint64_t kTurns = 64;

// Forks by this process. A child has the mappings of all storages, but is not counted as a user.
std::atomic<uint32_t> g_forks{0};
void count_fork() {
  g_forks.fetch_add(1, std::memory_order_relaxed);
}
[[maybe_unused]] const int kForkHandler = pthread_atfork(count_fork, nullptr, nullptr);

// Memory that a storage of this process has.
struct Held {
  uint32_t forks;       // g_forks when the storage began
  uint32_t generation;  // the same of Recycled
  uint64_t turn;
  bool made;  // by this process
};

struct Made {
  MemoryPtr memory;
  uint64_t turn;  // when it was last taken
};

struct Recycled {
  GuardedMutex mutex;
  uint8_t process = 0;  // fork_mark of the process that the rest is about
  uint32_t generation = 0;
  uint64_t turn = 0;
  std::map<const SharedMemory*, Held> held;
  std::vector<Made> made;
  std::map<SharedKey, MemoryPtr> received;
};

bool is_retired(const SharedMemory& memory) noexcept {
  return memory.recycled()->retired.load(std::memory_order_acquire) != 0;
}
bool is_free(const SharedMemory& memory) noexcept {
  return memory.recycled()->users.load(std::memory_order_acquire) == 0;
}

// A child has its parent's mappings, but the blocks are the parent's. Under the lock; what is
// dropped goes to `gone`, which has room for all, to be unmapped without the lock.
void enter(Recycled& all, std::vector<MemoryPtr>& gone) {
  const bool inherited = all.process != fork_mark();
  gone.reserve(all.received.size() + all.made.size());  // so that nothing fails half-way
  for (auto& [key, memory] : all.received) {
    if (inherited || is_retired(*memory)) gone.push_back(std::move(memory));
  }
  std::erase_if(all.received, [](const auto& entry) { return entry.second == nullptr; });
  for (Made& one : all.made) {
    if (inherited || is_retired(*one.memory)) gone.push_back(std::move(one.memory));
  }
  std::erase_if(all.made, [](const Made& one) { return one.memory == nullptr; });
  if (inherited) all.held.clear();
  all.process = fork_mark();
}

void hold(Recycled& all, const SharedMemory& memory, bool made) {
  all.held[&memory] = {g_forks.load(std::memory_order_relaxed), all.generation, all.turn, made};
}

void let_go(Made& one, std::vector<MemoryPtr>& gone) {
  one.memory->retire();
  gone.push_back(std::move(one.memory));
}

// The smallest free block that is large enough and not much too large, or null. Of equal ones the
// last that was taken, so that those beyond what is needed grow old. Blocks that nobody has needed
// for long, and the oldest when there are too many, go to `gone`.
MemoryPtr choose(Recycled& all, uint64_t nbytes, std::vector<MemoryPtr>& gone) {
  ++all.turn;
  Made* best = nullptr;
  for (Made& one : all.made) {
    if (!is_free(*one.memory)) continue;
    const uint64_t there = one.memory->nbytes();
    const bool fits = there >= nbytes && there / 2 <= std::max(nbytes, kPage);
    const bool better = best == nullptr || there < best->memory->nbytes() ||
                        (there == best->memory->nbytes() && one.turn > best->turn);
    if (fits && better) best = &one;
  }
  for (Made& one : all.made) {
    const bool old = all.turn - one.turn > kTurns;
    if (old && &one != best && is_free(*one.memory)) let_go(one, gone);
  }
  MemoryPtr chosen = best == nullptr ? nullptr : std::move(best->memory);
  std::erase_if(all.made, [](const Made& one) { return one.memory == nullptr; });
  if (chosen == nullptr && all.made.size() >= kMostMade) {
    const auto oldest =
        std::min_element(all.made.begin(), all.made.end(),
                         [](const Made& a, const Made& b) { return a.turn < b.turn; });
    let_go(*oldest, gone);
    all.made.erase(oldest);
  }
  return chosen;
}

}  // namespace

std::unique_ptr<SharedMemory> take_recycled(uint64_t nbytes) {
  std::vector<MemoryPtr> gone;
  auto& all = immortal<Recycled>();
  {
    const std::lock_guard lock(all.mutex);
    enter(all, gone);
    if (MemoryPtr chosen = choose(all, nbytes, gone)) {
      hold(all, *chosen, true);
      return chosen;
    }
  }
  MemoryPtr memory = SharedMemory::create_recycled(nbytes);
  if (memory->recycled() == nullptr) return memory;
  const std::lock_guard lock(all.mutex);
  hold(all, *memory, true);
  return memory;
}

std::unique_ptr<SharedMemory> receive_recycled(int descriptor, uint64_t nbytes) {
  const SharedKey key = SharedMemory::key_of(descriptor);
  std::vector<MemoryPtr> gone;
  auto& all = immortal<Recycled>();
  MemoryPtr memory;
  const std::lock_guard lock(all.mutex);
  enter(all, gone);
  if (const auto found = all.received.find(key); found != all.received.end()) {
    memory = std::move(found->second);
    all.received.erase(found);
  }
  if (memory == nullptr || memory->nbytes() < nbytes)
    memory = SharedMemory::open_recycled(descriptor, nbytes);
  hold(all, *memory, false);
  return memory;
}

void give_back_recycled(std::unique_ptr<SharedMemory> memory) noexcept {
  std::vector<MemoryPtr> gone;
  std::map<SharedKey, MemoryPtr> forgotten;
  auto& all = immortal<Recycled>();
  const std::lock_guard lock(all.mutex);
  if (memory->process() != fork_mark()) return;  // of the parent
  try {
    enter(all, gone);
    const auto found = all.held.find(memory.get());
    if (found == all.held.end()) return;
    const Held was = found->second;
    all.held.erase(found);
    const bool known = was.forks == g_forks.load(std::memory_order_relaxed) &&
                       was.generation == all.generation && !is_retired(*memory);
    if (!known) return memory->retire();
    if (was.made) {
      all.made.push_back({nullptr, was.turn});
      all.made.back().memory = std::move(memory);
      return;
    }
    if (all.received.size() >= kMostReceived) {
      all.received.swap(forgotten);
      for (const auto& entry : forgotten) entry.second->retire();
    }
    RecycledMark* mark = memory->recycled();
    all.received.insert_or_assign(memory->key(), std::move(memory));
    // Last, as the maker may send the block again at once.
    mark->users.fetch_sub(1, std::memory_order_release);
  } catch (...) {  // no memory for the lists
    if (memory != nullptr) memory->retire();
  }
}

void drop_recycled() noexcept {
  std::vector<Made> made;
  std::map<SharedKey, MemoryPtr> received;
  auto& all = immortal<Recycled>();
  const std::lock_guard lock(all.mutex);
  ++all.generation;
  made.swap(all.made);
  received.swap(all.received);
  if (all.process != fork_mark()) return;
  for (const Made& one : made) one.memory->retire();
}

}  // namespace tsr
