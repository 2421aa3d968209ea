// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bookkeeping of the allocator that finds no memory: whichever of its allocations fails, the error
// is OUT_OF_MEMORY, its structures stay consistent and the next request works.
#include <new>
#include <set>
#include <vector>

#include "memory/simulated_fixture.h"
#include "memory/stream.h"
#include "support/failing_allocations.h"
#include "support/failing_new.h"

namespace tsr::test::test_failed_bookkeeping {
namespace {

constexpr int64_t kMaxRuns = 10000;

// Runs `work` with its first allocation failing, then its second and so on, until none fails; calls
// `check` after each run. Returns the number of runs with a failure.
int64_t fail_each(FunctionRef<void()> work, FunctionRef<void()> check) {
  for (int64_t run = 0; run < kMaxRuns; ++run) {
    fail_allocation_after(static_cast<uint64_t>(run));
    try {
      const FailingNew armed;
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kOutOfMemory) << "run " << run << ": " << error.message();
    } catch (const std::bad_alloc&) {
      // The standard library's exception for the same failure.
    }
    const bool all_passed = cancel_injected_failure();
    check();
    if (all_passed || ::testing::Test::HasFailure()) return run;
  }
  ADD_FAILURE() << "still allocating after " << kMaxRuns << " runs";
  return kMaxRuns;
}

class FailedBookkeeping : public SimulatedMemory {
 protected:
  // Holds `count` blocks, each in its own segment, so that every container grows at some count.
  void hold(int count) {
    for (int i = 0; i < count; ++i) held_.push_back(take(kLarge));
  }
  void give_all() {
    for (void* block : held_) give(block, kLarge);
    held_.clear();
  }
  void check_whole() {
    allocator_->verify();
    for (int i = 0; i < 3; ++i) hold(1);  // the next requests use the memory of the failed one
    give_all();
    allocator_->trim(0);
    allocator_->verify();
    EXPECT_EQ(stats().allocated.all.current, 0);
    EXPECT_EQ(sim::live_segments(), 0);
  }

  static constexpr uint64_t kLarge = 20 * kMiB;
  std::vector<void*> held_;
};

TEST_F(FailedBookkeeping, of_a_new_segment_leaves_the_lists_whole) {
  for (int count = 0; count < 10; ++count) {
    int64_t failures = 0;
    for (int64_t run = 0; run < kMaxRuns; ++run) {
      restart(sim::kDefaultCapacity);
      hold(count);
      void* block = nullptr;
      fail_allocation_after(static_cast<uint64_t>(run));
      try {
        const FailingNew armed;
        block = allocator_->allocate(kLarge, nullptr);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kOutOfMemory) << error.message();
      } catch (const std::bad_alloc&) {
        // The same failure.
      }
      const bool all_passed = cancel_injected_failure();
      allocator_->verify();
      if (block != nullptr) held_.push_back(block);
      check_whole();
      if (all_passed || HasFailure()) break;
      ++failures;
    }
    EXPECT_GT(failures, 1) << "with " << count << " segments held";
    ASSERT_FALSE(HasFailure()) << "with " << count << " segments held";
  }
}

TEST_F(FailedBookkeeping, of_many_sizes_and_streams_leaves_the_lists_whole) {
  const int64_t failures = fail_each(
      [&] {
        std::vector<std::pair<void*, uint64_t>> blocks;
        blocks.reserve(64);
        try {
          for (uint64_t i = 1; i <= 24; ++i) {
            const StreamHandle stream = reinterpret_cast<StreamHandle>(i % 3);
            const uint64_t nbytes = i * 700 * kKiB / 3;
            blocks.emplace_back(allocator_->allocate(nbytes, stream), nbytes);
          }
        } catch (...) {
          for (const auto& [block, nbytes] : blocks) allocator_->deallocate(block, nbytes);
          throw;
        }
        for (const auto& [block, nbytes] : blocks) allocator_->deallocate(block, nbytes);
        static_cast<void>(allocator_->trim(0));
      },
      [&] { check_whole(); });
  EXPECT_GT(failures, 10);
}

TEST_F(FailedBookkeeping, of_uses_by_other_streams_gives_every_block_back) {
  const StreamHandle other = sim::make_stream();
  const int64_t failures = fail_each(
      [&] {
        void* block = allocator_->allocate(kLarge, nullptr);
        try {
          allocator_->record_stream(block, other);
        } catch (...) {
          allocator_->deallocate(block, kLarge);
          throw;
        }
        allocator_->deallocate(block, kLarge);
      },
      [&] { check_whole(); });
  EXPECT_GT(failures, 3);
}

TEST_F(FailedBookkeeping, of_segments_that_grow_leaves_the_lists_whole) {
  allocator_.reset();
  sim::reset();
  allocator_.emplace(sim::device(), sim::expandable_device_interface());
  CachingSettings settings;
  settings.expandable_segments = true;
  allocator_->configure(settings);
  const int64_t failures = fail_each(
      [&] {
        void* first = allocator_->allocate(kLarge, nullptr);
        void* second = nullptr;
        try {
          second = allocator_->allocate(3 * kLarge, nullptr);
        } catch (...) {
          allocator_->deallocate(first, kLarge);
          throw;
        }
        allocator_->deallocate(first, kLarge);
        allocator_->deallocate(second, 3 * kLarge);
        static_cast<void>(allocator_->trim(0));
      },
      [&] { check_whole(); });
  EXPECT_GT(failures, 3);
}

TEST_F(FailedBookkeeping, of_a_stream_leaves_no_native_stream_in_use) {
  std::set<StreamHandle> natives;
  const int64_t failures = fail_each(
      [&] {
        const auto first = Stream::create(sim::device(), sim::device_interface());
        const auto second = Stream::create(sim::device(), sim::device_interface());
        first->synchronize();
        second->synchronize();
      },
      [&] {
        const auto first = Stream::create(sim::device(), sim::device_interface());
        const auto second = Stream::create(sim::device(), sim::device_interface());
        natives.insert({first->native(), second->native()});
        synchronize_device(sim::device(), sim::device_interface());
      });
  EXPECT_GT(failures, 1);
  EXPECT_EQ(natives.size(), 2U);
}

// The lists for small blocks, which a thread makes at its first use.
TEST(FailedSmallLists, of_a_new_thread_leave_the_heap_whole) {
  const int64_t before = live_allocations();
  const int64_t failures = fail_each(
      [&] {
        std::vector<std::pair<void*, size_t>> blocks;
        const auto release = [&] {
          for (const auto& [block, nbytes] : blocks) small_free(block, nbytes);
        };
        try {
          blocks.reserve(400);
          for (size_t i = 0; i < 400; ++i) {
            const size_t nbytes = 64 + i * 160;
            blocks.emplace_back(small_allocate(nbytes), nbytes);
          }
        } catch (...) {
          release();
          throw;
        }
        release();
      },
      [&] {
        small::verify();
        small::trim();
        EXPECT_EQ(live_allocations(), before);
      });
  EXPECT_GT(failures, 10);
}

}  // namespace
}  // namespace tsr::test::test_failed_bookkeeping
