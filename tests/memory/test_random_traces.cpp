// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random traces against a model, with every invariant checked after every operation.
// TSR_TEST_LONG=1 runs more seeds and a million operations each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "base/error.h"
#include "memory/caching_allocator.h"
#include "memory/cpu_allocator.h"
#include "support/effort.h"
#include "support/simulated_device.h"

namespace tsr::test::test_random_traces {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

bool long_run() {
  return std::getenv("TSR_TEST_LONG") != nullptr;
}
int operations() {
  return long_run() ? 1000000 : 100000;
}
uint64_t seeds() {
  return long_run() ? 5 : 1;
}

// A model of the lent blocks, updated together with the allocator.
struct Model {
  struct Lent {
    uint64_t nbytes;
    StreamHandle stream;
    unsigned char mark;
  };
  std::map<unsigned char*, Lent> lent;
  int64_t requested = 0;

  void add(void* data, uint64_t nbytes, StreamHandle stream) {
    auto* begin = static_cast<unsigned char*>(data);
    const auto after = lent.lower_bound(begin);
    ASSERT_TRUE(after == lent.end() || begin + nbytes <= after->first) << "overlaps the next block";
    if (after != lent.begin()) {
      const auto before = std::prev(after);
      ASSERT_LE(before->first + before->second.nbytes, begin) << "overlaps the block before";
    }
    const auto mark = static_cast<unsigned char>(nbytes % 251);
    begin[0] = begin[nbytes - 1] = mark;
    lent[begin] = {nbytes, stream, mark};
    requested += static_cast<int64_t>(nbytes);
  }
  void remove(std::map<unsigned char*, Lent>::iterator place) {
    ASSERT_EQ(place->first[0], place->second.mark);
    ASSERT_EQ(place->first[place->second.nbytes - 1], place->second.mark);
    requested -= static_cast<int64_t>(place->second.nbytes);
    lent.erase(place);
  }
  auto pick(uint64_t number) {
    return std::next(lent.begin(), static_cast<std::ptrdiff_t>(number % lent.size()));
  }
};

class Trace {
 public:
  Trace(Allocator& allocator, uint64_t seed, bool simulated)
      : allocator_(allocator), random_(seed), simulated_(simulated), base_(allocator.stats()) {
    streams_.push_back(nullptr);
    if (simulated) {
      for (int i = 0; i < 2; ++i) streams_.push_back(sim::make_stream());
    }
  }

  void run(int count) {
    for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i) {
      step();
      ASSERT_NO_THROW(allocator_.verify()) << "after operation " << i;
      check(i);
    }
    while (!model_.lent.empty()) deallocate();
    check(count);
  }
  [[nodiscard]] int refused() const { return refused_; }

 private:
  // Small, medium and large requests; the heap stays small, so that full checks are fast.
  uint64_t random_size() {
    switch (random_() % 8) {
      case 0:
        return 1 + random_() % (12 * kMiB);
      case 1:
        return 1 + random_() % (3 * kMiB);
      case 2:
        return 1 + random_() % (200 * 1024);
      default:
        return 1 + random_() % 5000;
    }
  }

  void step() {
    const uint64_t choice = random_() % 100;
    const bool full = model_.lent.size() >= 32;
    if (choice < 52 && !full) {
      allocate();
    } else if (choice < 90) {
      deallocate();
    } else if (choice < 97) {
      if (simulated_) use_elsewhere();
    } else if (choice < 98) {
      allocator_.trim(random_() % 2 == 0 ? 0 : 16 * kMiB);
    } else if (choice < 99) {
      allocator_.reset_peak();
    } else if (simulated_) {
      allocator_.set_limit(random_() % 2 == 0 ? UINT64_MAX : 48 * kMiB);
    }
    if (simulated_) sim::advance(random_() % 20);
  }

  void allocate() {
    StreamHandle stream = streams_[random_() % streams_.size()];
    const uint64_t nbytes = random_size();
    try {
      void* data = allocator_.allocate(nbytes, stream);
      if (simulated_) {
        ASSERT_FALSE(sim::in_use_by_others(stream, data, nbytes)) << "lent while still in use";
        sim::launch(stream, random_() % 50, data, nbytes);
      }
      model_.add(data, nbytes, stream);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Code::kOutOfMemory) << error.message();
      ++refused_;
    }
  }

  void deallocate() {
    if (model_.lent.empty()) return;
    const auto place = model_.pick(random_());
    unsigned char* data = place->first;
    const uint64_t nbytes = place->second.nbytes;
    model_.remove(place);
    allocator_.deallocate(data, nbytes);
  }

  void use_elsewhere() {
    if (model_.lent.empty()) return;
    const auto place = model_.pick(random_());
    StreamHandle stream = streams_[random_() % streams_.size()];
    sim::launch(stream, random_() % 200, place->first, place->second.nbytes);
    allocator_.record_stream(place->first, stream);
  }

  void check(int i) {
    const MemoryStats stats = allocator_.stats();
    const auto blocks = static_cast<int64_t>(model_.lent.size());
    ASSERT_EQ(stats.allocated.all.current - base_.allocated.all.current, blocks) << i;
    ASSERT_EQ(stats.requested_bytes.all.current - base_.requested_bytes.all.current,
              model_.requested)
        << i;
    ASSERT_GE(stats.allocated_bytes.all.peak, stats.allocated_bytes.all.current) << i;
    ASSERT_LE(stats.active_bytes.all.current, stats.reserved_bytes.all.current) << i;
    if (simulated_) {
      ASSERT_EQ(static_cast<uint64_t>(stats.reserved_bytes.all.current), sim::used_bytes()) << i;
    }
  }

  Allocator& allocator_;
  std::mt19937_64 random_;
  bool simulated_;
  MemoryStats base_;
  std::vector<StreamHandle> streams_;
  Model model_;
  int refused_ = 0;
};

TEST(RandomTraces, keep_every_invariant_on_three_streams_of_a_small_device) {
  for (uint64_t seed = 1; seed <= seeds(); ++seed) {
    sim::reset(0, 64 * kMiB);
    CachingAllocator allocator(sim::device(), sim::device_interface());
    Trace trace(allocator, seed, true);
    trace.run(operations());
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    EXPECT_GT(trace.refused(), 0) << "the device was never full: the trace tests too little";
    EXPECT_GT(allocator.stats().num_sync_all_streams, 0);
    EXPECT_GT(allocator.stats().num_alloc_retries, allocator.stats().num_ooms);
  }
  sim::reset();
}

TEST(RandomTraces, keep_every_invariant_with_all_settings_on) {
  sim::reset(0, 96 * kMiB);
  CachingAllocator allocator(sim::device(), sim::device_interface());
  CachingSettings settings;
  settings.max_split_size = 21 * kMiB;
  settings.garbage_collection_threshold = 0.6;
  settings.roundup_power2_divisions = 8;
  allocator.configure(settings);
  allocator.start_history({.entries = 100});
  Trace trace(allocator, 7, true);
  trace.run(operations() / 4);
  sim::reset();
}

TEST(RandomTraces, keep_every_invariant_with_growing_segments) {
  sim::reset(0, 96 * kMiB);
  CachingAllocator allocator(sim::device(), sim::expandable_device_interface());
  CachingSettings settings;
  settings.expandable_segments = true;
  allocator.configure(settings);
  Trace trace(allocator, 11, true);
  trace.run(operations());
  EXPECT_GT(trace.refused(), 0);
  EXPECT_EQ(sim::calls().raw_allocate, 0);
  EXPECT_GT(sim::calls().unmap, 0);
  sim::reset();
}

TEST(RandomTraces, keep_every_invariant_on_the_cpu) {
  for (uint64_t seed = 1; seed <= seeds(); ++seed) {
    Trace trace(CpuAllocator::get(), seed, false);
    trace.run(effort(operations(), operations() / 4));
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    EXPECT_EQ(trace.refused(), 0);
  }
}

}  // namespace
}  // namespace tsr::test::test_random_traces
