// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Blocks used by several streams: separate pools, deferred frees, events in virtual time.
#include <vector>

#include "memory/simulated_fixture.h"

namespace tsr::test::test_stream_reuse {
namespace {

using StreamReuse = SimulatedMemory;

TEST_F(StreamReuse, R5_keeps_the_blocks_of_streams_apart) {
  StreamHandle side = sim::make_stream();
  void* block = take(512);
  give(block, 512);
  void* other = take(512, side);
  EXPECT_NE(other, block);
  EXPECT_EQ(take(512), block);
  EXPECT_EQ(stats().segment.all.current, 2);
}

TEST_F(StreamReuse, R6_holds_a_block_back_until_the_other_stream_is_done) {
  StreamHandle side = sim::make_stream();
  void* block = take(3 * kMiB);
  sim::launch(side, 100, block, 3 * kMiB);
  allocator_->record_stream(block, side);
  give(block, 3 * kMiB);
  EXPECT_EQ(stats().allocated.all.current, 0);
  EXPECT_EQ(stats().active.all.current, 1);

  void* meanwhile = take(3 * kMiB);
  EXPECT_NE(meanwhile, block);
  EXPECT_FALSE(sim::in_use_by_others(nullptr, meanwhile, 3 * kMiB));
  give(meanwhile, 3 * kMiB);

  sim::advance(99);
  void* still = take(512);
  EXPECT_EQ(stats().active.all.current, 2);
  give(still, 512);

  sim::advance(1);
  EXPECT_EQ(take(3 * kMiB), block);
  EXPECT_EQ(stats().active.all.current, 1);
  EXPECT_EQ(sim::calls().event_synchronize, 0) << "nobody waited";
}

TEST_F(StreamReuse, R6_waits_for_every_stream_that_used_the_block) {
  std::vector<StreamHandle> streams;
  void* block = take(512);
  for (const uint64_t duration : {50, 10, 30}) {
    streams.push_back(sim::make_stream());
    sim::launch(streams.back(), duration, block, 512);
    allocator_->record_stream(block, streams.back());
    allocator_->record_stream(block, streams.back());
  }
  give(block, 512);
  EXPECT_EQ(sim::calls().event_record, 3) << "one event a stream, however often it was named";
  for (int i = 0; i < 49; ++i) {
    sim::advance(1);
    void* other = take(512);
    EXPECT_NE(other, block);
    give(other, 512);
  }
  sim::advance(1);
  EXPECT_EQ(take(512), block);
}

TEST_F(StreamReuse, needs_no_event_for_the_stream_of_the_block) {
  StreamHandle side = sim::make_stream();
  void* block = take(512, side);
  allocator_->record_stream(block, side);
  give(block, 512);
  EXPECT_EQ(sim::calls().event_create, 0);
  EXPECT_EQ(take(512, side), block);
}

TEST_F(StreamReuse, reuses_events) {
  StreamHandle side = sim::make_stream();
  for (int i = 0; i < 100; ++i) {
    void* block = take(512);
    sim::launch(side, 5, block, 512);
    allocator_->record_stream(block, side);
    give(block, 512);
    sim::advance(5);
  }
  EXPECT_EQ(sim::calls().event_create, 1);
}

TEST_F(StreamReuse, refuses_to_record_memory_it_did_not_lend) {
  int local = 0;
  EXPECT_THROW(allocator_->record_stream(&local, sim::make_stream()), Error);
}

TEST_F(StreamReuse, tries_again_when_an_event_could_not_be_recorded) {
  StreamHandle side = sim::make_stream();
  void* block = take(512);
  sim::launch(side, 10, block, 512);
  allocator_->record_stream(block, side);
  sim::break_event_records(2);
  give(block, 512);
  sim::advance(10);
  void* other = take(512);
  EXPECT_NE(other, block) << "without an event nobody knows whether the block is free";
  EXPECT_EQ(take(512), block) << "the event was recorded at the third attempt";
  give(other, 512);
}

TEST_F(StreamReuse, deallocates_without_waiting_or_calling_for_memory) {
  StreamHandle side = sim::make_stream();
  void* block = take(512);
  allocator_->record_stream(block, side);
  const sim::Calls before = sim::calls();
  give(block, 512);
  const sim::Calls after = sim::calls();
  EXPECT_EQ(after.event_synchronize + after.stream_synchronize, 0);
  EXPECT_EQ(after.event_create, before.event_create);
  EXPECT_EQ(after.raw_free + after.raw_allocate, before.raw_free + before.raw_allocate);
}

TEST_F(StreamReuse, R6_survives_two_streams_with_delayed_kernels) {
  StreamHandle compute = nullptr;
  StreamHandle copies = sim::make_stream();
  uint64_t seed = 1;
  for (int i = 0; i < 5000; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const uint64_t nbytes = 512 * (1 + (seed >> 33) % 64);
    void* block = take(nbytes, compute);
    ASSERT_FALSE(sim::in_use_by_others(compute, block, nbytes)) << "step " << i;
    sim::launch(compute, 3, block, nbytes);
    sim::launch(copies, 7, block, nbytes);
    allocator_->record_stream(block, copies);
    give(block, nbytes);
    sim::advance(5);
  }
  EXPECT_EQ(stats().num_ooms, 0);
}

}  // namespace
}  // namespace tsr::test::test_stream_reuse
