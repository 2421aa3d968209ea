// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The CPU allocator against glibc's malloc: small pairs, blocks that cross threads, fresh large
// results, the allocations of a training step.
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "memory/allocator.h"
#include "memory/small_alloc.h"

namespace tsr::bench {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

// Both sides with the same interface, so that each case is written once.
struct Tessera {
  static void* take(size_t nbytes) { return allocator_for(Device{}).allocate(nbytes, nullptr); }
  static void give(void* block, size_t nbytes) {
    allocator_for(Device{}).deallocate(block, nbytes);
  }
};
struct TesseraObjects {
  static void* take(size_t nbytes) { return small_allocate(nbytes); }
  static void give(void* block, size_t nbytes) { small_free(block, nbytes); }
};
struct Glibc {
  static void* take(size_t nbytes) { return std::malloc(nbytes); }
  static void give(void* block, size_t) { std::free(block); }
};

template <class Side>
void pairs(size_t nbytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    void* block = Side::take(nbytes);
    keep(block);
    Side::give(block, nbytes);
  }
}

// Many live blocks, freed in the order of allocation.
template <class Side>
void batch(size_t nbytes, std::vector<void*>& blocks) {
  for (void*& block : blocks) block = Side::take(nbytes);
  for (void* block : blocks) Side::give(block, nbytes);
}

template <class Side>
void free_elsewhere(size_t nbytes, int64_t count, std::vector<void*>& blocks) {
  for (int64_t round = 0; round < count; ++round) {
    for (void*& block : blocks) block = Side::take(nbytes);
    std::thread([&] {
      for (void* block : blocks) Side::give(block, nbytes);
    }).join();
  }
}

template <class Side>
void fresh_result(size_t nbytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    void* block = Side::take(nbytes);
    std::memset(block, static_cast<int>(i), nbytes);
    keep(block);
    Side::give(block, nbytes);
  }
}

// The blocks of one training step of a convolutional network: activations live until the backward
// reaches them, temporaries live shortly, gradients live to the end.
struct Event {
  size_t slot;
  size_t nbytes;  // 0: free
};
std::vector<Event> training_step() {
  std::vector<Event> events;
  const std::vector<size_t> activations = {12 * kMiB, 12 * kMiB, 6 * kMiB, 6 * kMiB,   3 * kMiB,
                                           3 * kMiB,  kMiB,      kMiB,     512 * kKiB, 40 * kKiB,
                                           4 * kKiB,  256,       64,       64};
  const size_t layers = activations.size();
  size_t next = 2 * layers;  // the first slots are activations and gradients of parameters
  for (size_t i = 0; i < layers; ++i) {
    events.push_back({i, activations[i]});
    for (const size_t nbytes : {activations[i], size_t{1024}, size_t{64}}) {
      events.push_back({next, nbytes});
      events.push_back({next, 0});
    }
    ++next;
  }
  for (size_t i = layers; i-- > 0;) {
    for (const size_t nbytes : {activations[i], activations[i] / 2 + 64, size_t{512}}) {
      events.push_back({next, nbytes});
      events.push_back({next, 0});
    }
    events.push_back({layers + i, 9 * (i + 1) * 4096});
    events.push_back({i, 0});
  }
  for (size_t i = 0; i < layers; ++i) events.push_back({layers + i, 0});
  return events;
}

// With `touch`, writes each page once, as a kernel would.
template <class Side>
void replay(const std::vector<Event>& events, bool touch, int64_t count) {
  struct Slot {
    char* data = nullptr;
    size_t nbytes = 0;
  };
  std::vector<Slot> slots(events.size());
  for (int64_t round = 0; round < count; ++round) {
    for (const Event& event : events) {
      Slot& slot = slots[event.slot];
      if (event.nbytes == 0) {
        Side::give(slot.data, slot.nbytes);
        continue;
      }
      slot = {static_cast<char*>(Side::take(event.nbytes)), event.nbytes};
      for (size_t at = 0; touch && at < slot.nbytes; at += 4096) slot.data[at] = 1;
      keep(slot.data);
    }
  }
}

std::string in_text(size_t nbytes) {
  if (nbytes >= kMiB) return std::to_string(nbytes / kMiB) + "MiB";
  return std::to_string(nbytes) + "B";
}

template <class Ours>
void run_small(const char* name, size_t nbytes) {
  constexpr int64_t kPairs = 1000000;
  run({.name = std::string(name) + "_pair",
       .shape = in_text(nbytes),
       .unit_of_work = "pair",
       .count = kPairs,
       .ours = [=] { pairs<Ours>(nbytes, kPairs); },
       .peer = [=] { pairs<Glibc>(nbytes, kPairs); },
       .peer_name = "glibc"});
}

void run_all() {
  for (const size_t nbytes : {size_t{16}, size_t{200}, size_t{4096}}) {
    run_small<TesseraObjects>("object", nbytes);
  }
  for (const size_t nbytes : {size_t{16}, size_t{4096}, 64 * kKiB, 200 * kKiB, 4 * kMiB}) {
    run_small<Tessera>("tensor", nbytes);
  }
  for (const size_t nbytes : {size_t{64}, size_t{1000}, size_t{20000}}) {
    std::vector<void*> blocks(10000);
    run({.name = "batch_of_10000",
         .shape = in_text(nbytes),
         .unit_of_work = "block",
         .count = 10000,
         .ours = [&] { batch<Tessera>(nbytes, blocks); },
         .peer = [&] { batch<Glibc>(nbytes, blocks); },
         .peer_name = "glibc"});
  }
  {
    constexpr int64_t kRounds = 20;
    std::vector<void*> blocks(10000);
    run({.name = "freed_by_another_thread",
         .shape = "256B",
         .unit_of_work = "block",
         .count = kRounds * 10000,
         .threads = 2,
         .ours = [&] { free_elsewhere<Tessera>(256, kRounds, blocks); },
         .peer = [&] { free_elsewhere<Glibc>(256, kRounds, blocks); },
         .peer_name = "glibc"});
  }
  for (const size_t nbytes : {4 * kMiB, 64 * kMiB}) {
    constexpr int64_t kRounds = 4;
    run({.name = "fresh_result",
         .shape = in_text(nbytes),
         .unit_of_work = "result",
         .count = kRounds,
         .bytes = static_cast<double>(nbytes * kRounds),
         .ours = [=] { fresh_result<Tessera>(nbytes, kRounds); },
         .peer = [=] { fresh_result<Glibc>(nbytes, kRounds); },
         .peer_name = "glibc"});
  }
  const std::vector<Event> step = training_step();
  for (const bool touch : {false, true}) {
    constexpr int64_t kRounds = 50;
    run({.name = touch ? "training_step_touched" : "training_step",
         .shape = std::to_string(step.size()) + " events",
         .unit_of_work = "event",
         .count = kRounds * static_cast<int64_t>(step.size()),
         .rounds = 9,
         .ours = [&, touch] { replay<Tessera>(step, touch, kRounds); },
         .peer = [&, touch] { replay<Glibc>(step, touch, kRounds); },
         .peer_name = "glibc"});
  }
}

}  // namespace
}  // namespace tsr::bench

int main() {
  tsr::bench::run_all();
}
