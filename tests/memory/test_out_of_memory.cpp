// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running out of memory: what is freed, in which order, and the text of the error.
#include <string>
#include <vector>

#include "memory/simulated_fixture.h"

namespace tsr::test::test_out_of_memory {
namespace {

using OutOfMemory = SimulatedMemory;

TEST_F(OutOfMemory, R8_gives_up_one_cached_segment_of_enough_size_first) {
  restart(100 * kMiB);
  void* small = take(20 * kMiB);
  void* fitting = take(40 * kMiB);
  StreamHandle side = sim::make_stream();
  give(small, 20 * kMiB);
  give(fitting, 40 * kMiB);
  void* block = take(60 * kMiB - 30 * kMiB, side);
  EXPECT_EQ(stats().num_alloc_retries, 0) << "40 MiB were still free";
  give(block, 30 * kMiB);
  void* other = take(36 * kMiB, side);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_device_free, 1) << "the 40 MiB alone were enough";
  EXPECT_EQ(take(20 * kMiB), small);
  give(other, 36 * kMiB);
}

TEST_F(OutOfMemory, R8_gives_up_everything_cached_when_no_segment_alone_is_enough) {
  restart(100 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(take(20 * kMiB));
  for (void* block : blocks) give(block, 20 * kMiB);
  void* large = take(90 * kMiB);
  EXPECT_EQ(stats().num_device_free, 5);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_ooms, 0);
  EXPECT_EQ(sim::used_bytes(), 90 * kMiB);
  give(large, 90 * kMiB);
}

TEST_F(OutOfMemory, R8_waits_for_deferred_blocks_before_it_fails) {
  restart(64 * kMiB);
  StreamHandle side = sim::make_stream();
  void* block = take(60 * kMiB);
  sim::launch(side, 1000, block, 60 * kMiB);
  allocator_->record_stream(block, side);
  give(block, 60 * kMiB);
  EXPECT_EQ(take(60 * kMiB), block);
  EXPECT_EQ(sim::now(), 1000U);
  EXPECT_EQ(stats().num_sync_all_streams, 1);
  EXPECT_EQ(stats().num_device_free, 0) << "the block itself was free again";
}

TEST_F(OutOfMemory, R8_names_request_held_free_and_limit) {
  restart(96 * kMiB);
  void* block = take(32 * kMiB);
  void* cached = take(16 * kMiB);
  void* neighbour = take(4 * kMiB);
  give(cached, 16 * kMiB);
  allocator_->set_limit(80 * kMiB);
  const Error error = failure_of(64 * kMiB);
  EXPECT_EQ(error.code(), Code::kOutOfMemory);
  EXPECT_EQ(error.message(),
            "out of memory on simulated:0: asked for 64.00 MiB, held 52.00 MiB of which 36.00 MiB "
            "in use and 16.00 MiB cached; free 44.00 MiB of 96.00 MiB; limit 80.00 MiB; most is in "
            "blocks of 32.00 MiB (1), 4.00 MiB (1)");
  EXPECT_EQ(stats().num_ooms, 1);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  give(block, 32 * kMiB);
  give(neighbour, 4 * kMiB);
}

TEST_F(OutOfMemory, says_what_the_owner_of_the_allocator_wants_said) {
  CachingAllocator pages(sim::device(), sim::device_interface(),
                         {"no more pages for ", "use other pages"});
  void* block = pages.allocate(16 * kMiB, nullptr);
  pages.set_limit(20 * kMiB);
  try {
    static_cast<void>(pages.allocate(8 * kMiB, nullptr));
    ADD_FAILURE() << "beyond the limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kOutOfMemory);
    EXPECT_EQ(
        error.message(),
        "no more pages for simulated:0: asked for 8.00 MiB, held 16.00 MiB of which 16.00 MiB "
        "in use and 0 bytes cached; use other pages; limit 20.00 MiB; most is in blocks of 16.00 "
        "MiB (1)");
  }
  pages.deallocate(block, 16 * kMiB);
}

TEST_F(OutOfMemory, works_again_after_a_failure) {
  restart(10 * kMiB);
  EXPECT_EQ(failure_of(20 * kMiB).code(), Code::kOutOfMemory);
  void* block = take(10 * kMiB);
  EXPECT_EQ(failure_of(512).code(), Code::kOutOfMemory);
  give(block, 10 * kMiB);
  give(take(512), 512);
}

TEST_F(OutOfMemory, keeps_to_the_limit) {
  allocator_->set_limit(50 * kMiB);
  EXPECT_EQ(allocator_->limit(), 50 * kMiB);
  void* block = take(40 * kMiB);
  EXPECT_EQ(failure_of(20 * kMiB).code(), Code::kOutOfMemory);
  EXPECT_EQ(sim::calls().raw_allocate, 1) << "the device was not asked";
  allocator_->set_limit(UINT64_MAX);
  give(take(20 * kMiB), 20 * kMiB);
  give(block, 40 * kMiB);
  allocator_->set_limit(45 * kMiB);
  EXPECT_LE(stats().reserved_bytes.all.current, 45 * kMiB) << "a lower limit trims the cache";
}

TEST_F(OutOfMemory, R9_limits_a_fraction_of_the_device) {
  restart(200 * kMiB);
  allocator_->set_limit_fraction(0.25);
  EXPECT_EQ(allocator_->limit(), 50 * kMiB);
  EXPECT_EQ(failure_of(52 * kMiB).code(), Code::kOutOfMemory);
  EXPECT_THROW(allocator_->set_limit_fraction(1.5), Error);
  EXPECT_THROW(allocator_->set_limit_fraction(-0.1), Error);
}

TEST_F(OutOfMemory, reports_a_broken_device_as_such) {
  sim::break_allocations(1);
  const Error error = failure_of(512);
  EXPECT_EQ(error.code(), Code::kBackend);
  EXPECT_EQ(error.native_code(), sim::kBrokenDevice);
  EXPECT_EQ(error.message(),
            "simulated:0 could not allocate memory: the simulated device is broken");
  give(take(512), 512);
}

TEST_F(OutOfMemory, R8_retries_after_a_refusal_that_passes) {
  void* cached = take(2 * kMiB, sim::make_stream());
  give(cached, 2 * kMiB);
  sim::refuse_allocations(1);
  give(take(512), 512);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_ooms, 0);
}

// ---- Callbacks ----

struct Host {
  CachingAllocator* allocator = nullptr;
  std::vector<std::pair<void*, uint64_t>> garbage;
  std::vector<MemoryPressure> events;
  int observed = 0;
};

// A garbage collector: frees from inside the callback, so no lock may be held.
bool collect(void* user, const MemoryPressure& event) {
  auto& host = *static_cast<Host*>(user);
  host.events.push_back(event);
  const bool any = !host.garbage.empty();
  for (const auto& [block, nbytes] : host.garbage) host.allocator->deallocate(block, nbytes);
  host.garbage.clear();
  host.allocator->verify();
  return any;
}

// Allocates in the callback, more than the device has.
bool allocate_in_callback(void* user, const MemoryPressure& event) {
  auto& host = *static_cast<Host*>(user);
  host.events.push_back(event);
  EXPECT_THROW((void)host.allocator->allocate(event.requested, nullptr), Error);
  return false;
}

TEST_F(OutOfMemory, asks_the_host_before_it_gives_up_the_cache) {
  restart(64 * kMiB);
  Host host;
  host.allocator = &*allocator_;
  allocator_->add_pressure_callback({collect, &host});
  host.garbage.emplace_back(take(40 * kMiB), 40 * kMiB);
  void* block = take(40 * kMiB);
  ASSERT_EQ(host.events.size(), 1U);
  EXPECT_EQ(host.events[0].requested, 40 * kMiB);
  EXPECT_EQ(host.events[0].live, 40 * kMiB);
  EXPECT_EQ(host.events[0].cached_free, 0U);
  EXPECT_EQ(stats().num_device_free, 0) << "what the host freed was reused as it is";
  give(block, 40 * kMiB);
  allocator_->remove_pressure_callback({collect, &host});
  failure_of(65 * kMiB);
  EXPECT_EQ(host.events.size(), 1U);
}

TEST_F(OutOfMemory, does_not_call_the_host_for_an_allocation_of_its_own_callback) {
  restart(16 * kMiB);
  Host host;
  host.allocator = &*allocator_;
  allocator_->add_pressure_callback({allocate_in_callback, &host});
  EXPECT_EQ(failure_of(32 * kMiB).code(), Code::kOutOfMemory);
  EXPECT_EQ(host.events.size(), 1U);
  EXPECT_EQ(stats().num_ooms, 2);
}

TEST_F(OutOfMemory, tells_its_observers) {
  restart(16 * kMiB);
  Host host;
  const OutOfMemoryObserver observer{[](void* user, const MemoryPressure& event, uint64_t limit) {
                                       EXPECT_EQ(event.requested, 32 * kMiB);
                                       EXPECT_EQ(limit, UINT64_MAX);
                                       ++static_cast<Host*>(user)->observed;
                                     },
                                     &host};
  allocator_->add_out_of_memory_observer(observer);
  failure_of(32 * kMiB);
  EXPECT_EQ(host.observed, 1);
  allocator_->remove_out_of_memory_observer(observer);
  failure_of(32 * kMiB);
  EXPECT_EQ(host.observed, 1);
}

TEST_F(OutOfMemory, holds_no_lock_while_it_calls_the_device) {
  Host host;
  host.allocator = &*allocator_;
  host.garbage.emplace_back(take(512), 512);
  sim::set_observer(
      [](void* user) {
        auto& inner = *static_cast<Host*>(user);
        (void)inner.allocator->stats();  // would deadlock if the lock were held
        ++inner.observed;
      },
      &host);
  void* block = take(30 * kMiB);
  give(block, 30 * kMiB);
  allocator_->trim(0);
  EXPECT_EQ(host.observed, 2);
  sim::set_observer(nullptr, nullptr);
}

}  // namespace
}  // namespace tsr::test::test_out_of_memory
