// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Blocks and segments on one stream: rounding, reuse, best fit, splitting, merging, freeing.
#include "memory/caching_allocator.h"

#include <vector>

#include "base/round_up.h"
#include "memory/simulated_fixture.h"

namespace tsr::test::test_caching_allocator {
namespace {

using CachingAllocator = SimulatedMemory;

TEST_F(CachingAllocator, R4_rounds_one_byte_to_512_and_holds_2_mib) {
  void* block = take(1);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(stats().allocated_bytes.all.current, 512);
  EXPECT_EQ(stats().requested_bytes.all.current, 1);
  EXPECT_EQ(stats().reserved_bytes.all.current, 2 * kMiB);
  EXPECT_EQ(stats().reserved_bytes.pool[1].current, 2 * kMiB);
  EXPECT_EQ(stats().inactive_split_bytes.all.current, 2 * kMiB - 512);
  give(block, 1);
  EXPECT_EQ(stats().allocated_bytes.all.current, 0);
  EXPECT_EQ(stats().inactive_split.all.current, 0);
}

TEST_F(CachingAllocator, gives_nothing_for_no_bytes) {
  EXPECT_EQ(take(0), nullptr);
  give(nullptr, 0);
  EXPECT_EQ(stats().allocated.all.allocated, 0);
}

TEST_F(CachingAllocator, R5_reuses_block_freed_on_same_stream) {
  void* first = take(5 * kMiB);
  give(first, 5 * kMiB);
  const sim::Calls before = sim::calls();
  void* second = take(5 * kMiB);
  EXPECT_EQ(second, first);
  give(second, 5 * kMiB);
  const sim::Calls after = sim::calls();
  EXPECT_EQ(after.raw_allocate, before.raw_allocate);
  EXPECT_EQ(after.raw_free, before.raw_free);
  EXPECT_EQ(after.event_record, 0);
}

TEST_F(CachingAllocator, R4_chooses_segments_by_the_size_of_the_request) {
  const struct {
    uint64_t nbytes;
    uint64_t segment;
    PoolKind kind;
  } rows[] = {
      {1, 2 * kMiB, PoolKind::kSmall},
      {kMiB, 2 * kMiB, PoolKind::kSmall},
      {kMiB + 1, 20 * kMiB, PoolKind::kLarge},
      {10 * kMiB - 512, 20 * kMiB, PoolKind::kLarge},
      {10 * kMiB, 10 * kMiB, PoolKind::kLarge},
      {10 * kMiB + 1, 12 * kMiB, PoolKind::kLarge},
      {101 * kMiB, 102 * kMiB, PoolKind::kLarge},
  };
  for (const auto& row : rows) {
    restart(sim::kDefaultCapacity);
    void* block = take(row.nbytes);
    EXPECT_EQ(stats().reserved_bytes.all.current, row.segment) << row.nbytes;
    EXPECT_EQ(stats().reserved_bytes.pool[static_cast<size_t>(row.kind)].current, row.segment);
    give(block, row.nbytes);
  }
}

TEST_F(CachingAllocator, R4_takes_the_smallest_block_that_fits) {
  void* large = take(40 * kMiB);
  void* middle = take(24 * kMiB);
  void* small = take(14 * kMiB);
  give(large, 40 * kMiB);
  give(middle, 24 * kMiB);
  give(small, 14 * kMiB);
  void* best = take(20 * kMiB);
  EXPECT_EQ(best, middle);
  give(best, 20 * kMiB);
}

TEST_F(CachingAllocator, R4_splits_a_block_and_merges_neighbours_whatever_the_order) {
  const std::vector<std::vector<size_t>> orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(take(3 * kMiB));
    EXPECT_EQ(stats().segment.all.current, 1);
    for (const size_t i : order) give(blocks[i], 3 * kMiB);
    EXPECT_EQ(stats().inactive_split.all.current, 0) << "the segment is one free block again";
  }
  EXPECT_EQ(sim::calls().raw_allocate, 1);
}

TEST_F(CachingAllocator, leaves_a_small_rest_with_a_large_block) {
  void* block = take(20 * kMiB);
  give(block, 20 * kMiB);
  void* again = take(19 * kMiB);
  EXPECT_EQ(stats().allocated_bytes.all.current, 20 * kMiB) << "a rest of 1 MiB is not split off";
  give(again, 19 * kMiB);
  again = take(19 * kMiB - 512);
  EXPECT_EQ(stats().allocated_bytes.all.current, 19 * kMiB - 512);
  give(again, 19 * kMiB - 512);
}

TEST_F(CachingAllocator, gives_every_byte_back_when_emptied) {
  void* small = take(100);
  void* large = take(30 * kMiB);
  give(small, 100);
  EXPECT_EQ(allocator_->trim(0), 2 * kMiB);
  give(large, 30 * kMiB);
  EXPECT_EQ(allocator_->trim(0), 30 * kMiB);
  allocator_->verify();
  EXPECT_EQ(sim::used_bytes(), 0U);
  EXPECT_EQ(stats().num_device_alloc, 2);
  EXPECT_EQ(stats().num_device_free, 2);
}

TEST_F(CachingAllocator, trims_what_was_unused_for_longest_first) {
  void* old = take(12 * kMiB);
  void* recent = take(14 * kMiB);
  give(old, 12 * kMiB);
  give(recent, 14 * kMiB);
  void* other = take(30 * kMiB);
  give(other, 30 * kMiB);
  EXPECT_EQ(allocator_->trim(50 * kMiB), 12 * kMiB);
  allocator_->verify();
  EXPECT_EQ(take(14 * kMiB), recent);
  give(recent, 14 * kMiB);
}

TEST_F(CachingAllocator, keeps_a_segment_while_one_of_its_blocks_is_lent) {
  void* kept = take(512);
  void* freed = take(512);
  give(freed, 512);
  EXPECT_EQ(allocator_->trim(0), 0U);
  give(kept, 512);
  EXPECT_EQ(allocator_->trim(0), 2 * kMiB);
}

TEST_F(CachingAllocator, ignores_a_block_that_is_not_lent) {
  void* block = take(512);
  int local = 0;
  give(&local, sizeof local);
  give(block, 512);
  give(block, 512);
  EXPECT_EQ(stats().allocated.all.freed, 1);
}

TEST_F(CachingAllocator, returns_segments_and_events_when_destroyed) {
  void* lent = take(3 * kMiB);
  allocator_->record_stream(lent, sim::make_stream());
  EXPECT_EQ(sim::live_events(), 1);
  allocator_.reset();
  EXPECT_EQ(sim::live_segments(), 0);
  EXPECT_EQ(sim::live_events(), 0);
}

TEST_F(CachingAllocator, refuses_sizes_that_no_device_has) {
  void* block = take(512);
  for (const uint64_t nbytes : {UINT64_MAX, UINT64_MAX - 511, uint64_t{1} << 63, uint64_t{1} << 62,
                                (uint64_t{1} << 62) + 1, uint64_t{1} << 50}) {
    EXPECT_EQ(failure_of(nbytes).code(), Code::kOutOfMemory) << nbytes;
  }
  EXPECT_EQ(stats().num_ooms, 6);
  give(block, 512);
}

// ---- Settings ----

TEST_F(CachingAllocator, rounds_up_to_divisions_of_powers_of_two) {
  CachingSettings settings;
  settings.roundup_power2_divisions = 4;
  allocator_->configure(settings);
  void* block = take(1200);
  EXPECT_EQ(stats().allocated_bytes.all.current, 1536) << "1280 by division, 1536 by granularity";
  give(block, 1200);
  block = take(5 * kMiB + 1);
  EXPECT_EQ(stats().allocated_bytes.all.current, 6 * kMiB);
  give(block, 5 * kMiB + 1);
}

TEST_F(CachingAllocator, never_splits_blocks_above_the_largest_split_size) {
  CachingSettings settings;
  settings.max_split_size = 64 * kMiB;
  settings.max_non_split_rounding = 20 * kMiB;
  allocator_->configure(settings);
  EXPECT_EQ(stats().max_split_size, 64 * kMiB);
  void* large = take(100 * kMiB);
  EXPECT_EQ(stats().oversize_allocations.current, 1);
  EXPECT_EQ(stats().oversize_segments.current, 1);
  give(large, 100 * kMiB);
  void* small = take(30 * kMiB);
  EXPECT_NE(small, large) << "a smaller request must not tie up the oversize block";
  void* near = take(90 * kMiB);
  EXPECT_EQ(near, large);
  give(near, 90 * kMiB);
  void* far = take(70 * kMiB);
  EXPECT_NE(far, large) << "more than max_non_split_rounding would be wasted";
  give(far, 70 * kMiB);
  give(small, 30 * kMiB);
}

TEST_F(CachingAllocator, counts_segments_as_oversize_by_the_settings_that_made_them) {
  give(take(100 * kMiB), 100 * kMiB);
  CachingSettings settings;
  settings.max_split_size = 50 * kMiB;
  allocator_->configure(settings);
  EXPECT_EQ(stats().oversize_segments.current, 0);
  allocator_->trim(0);
  EXPECT_EQ(stats().oversize_segments.current, 0);
  give(take(100 * kMiB), 100 * kMiB);
  EXPECT_EQ(stats().oversize_segments.current, 1);
  allocator_->configure({});
  allocator_->verify();
  allocator_->trim(0);
  EXPECT_EQ(stats().oversize_segments.current, 0);
}

TEST_F(CachingAllocator, collects_old_segments_above_the_threshold) {
  CachingSettings settings;
  settings.garbage_collection_threshold = 0.5;
  allocator_->configure(settings);
  allocator_->set_limit(200 * kMiB);
  void* old = take(50 * kMiB);
  give(old, 50 * kMiB);
  void* recent = take(60 * kMiB);
  EXPECT_EQ(stats().segment.all.current, 1) << "110 MiB would have passed half the limit";
  EXPECT_EQ(stats().num_alloc_retries, 0);
  give(recent, 60 * kMiB);
}

TEST_F(CachingAllocator, refuses_settings_that_contradict_each_other) {
  CachingSettings settings;
  settings.max_split_size = 20 * kMiB;
  EXPECT_THROW(allocator_->configure(settings), Error);
  settings = CachingSettings{};
  settings.garbage_collection_threshold = 1.0;
  EXPECT_THROW(allocator_->configure(settings), Error);
  settings = CachingSettings{};
  settings.roundup_power2_divisions = 3;
  EXPECT_THROW(allocator_->configure(settings), Error);
}

TEST_F(CachingAllocator, R7_holds_what_is_demanded_and_no_more) {
  restart(uint64_t{1} << 30);
  std::vector<void*> blocks;
  uint64_t demanded = 0;
  EXPECT_EQ(sim::used_bytes(), 0U);
  for (uint64_t i = 0; i < 12; ++i) {
    blocks.push_back(take((12 + 3 * i) * kMiB));
    demanded += round_up((12 + 3 * i) * kMiB, 2 * kMiB);
    EXPECT_EQ(sim::used_bytes(), demanded) << "in pieces of 2 MiB";
  }
}

// The blocks of one training step of a network like ResNet-50: activations are kept for the
// backward, which frees them in reverse order while gradients of the same sizes come and go.
void train_step(Allocator& allocator, const std::vector<uint64_t>& layers) {
  std::vector<void*> kept;
  for (const uint64_t nbytes : layers) {
    void* workspace = allocator.allocate(nbytes / 2 + 1, nullptr);
    kept.push_back(allocator.allocate(nbytes, nullptr));
    allocator.deallocate(workspace, nbytes / 2 + 1);
  }
  void* grad = nullptr;
  uint64_t grad_bytes = 0;
  for (size_t i = layers.size(); i-- > 0;) {
    void* next = allocator.allocate(layers[i], nullptr);
    allocator.deallocate(grad, grad_bytes);
    allocator.deallocate(kept[i], layers[i]);
    grad = next;
    grad_bytes = layers[i];
  }
  allocator.deallocate(grad, grad_bytes);
}

TEST_F(CachingAllocator, R10_steady_state_asks_the_device_for_nothing) {
  restart(uint64_t{4} << 30);
  std::vector<uint64_t> layers;  // bytes of activations, batch 8: four stages of blocks of three
  for (uint64_t stage = 0; stage < 4; ++stage) {
    const uint64_t blocks[] = {3, 4, 6, 3};
    for (uint64_t i = 0; i < 3 * blocks[stage]; ++i) {
      layers.push_back((uint64_t{25'690'112} >> stage) + 1000 * (i % 3));
    }
  }
  train_step(*allocator_, layers);
  const sim::Calls first = sim::calls();
  EXPECT_GT(first.raw_allocate, 10) << "the first step asks the device";
  for (int step = 0; step < 20; ++step) train_step(*allocator_, layers);
  EXPECT_EQ(sim::calls().raw_allocate, first.raw_allocate);
  EXPECT_EQ(sim::calls().raw_free, first.raw_free);
  EXPECT_EQ(stats().allocated.all.current, 0);
  allocator_->verify();
}

// ---- Segments that grow ----

class ExpandableSegments : public SimulatedMemory {
 protected:
  ExpandableSegments() { use_expandable(sim::kDefaultCapacity); }
  void use_expandable(uint64_t capacity) {
    allocator_.reset();
    sim::reset(0, capacity);
    allocator_.emplace(sim::device(), sim::expandable_device_interface());
    CachingSettings settings;
    settings.expandable_segments = true;
    allocator_->configure(settings);
  }
};

TEST_F(ExpandableSegments, grow_in_place_for_larger_requests) {
  void* first = take(15 * kMiB);
  give(first, 15 * kMiB);
  void* larger = take(50 * kMiB);
  EXPECT_EQ(larger, first) << "the free end was extended, not replaced";
  EXPECT_EQ(stats().segment.all.current, 1);
  EXPECT_EQ(stats().reserved_bytes.all.current, 60 * kMiB);
  EXPECT_EQ(sim::calls().map, 3);
  give(larger, 50 * kMiB);
}

TEST_F(ExpandableSegments, fit_sizes_that_fixed_segments_cannot) {
  use_expandable(100 * kMiB);
  void* first = take(44 * kMiB);
  void* second = take(44 * kMiB);
  give(first, 44 * kMiB);
  give(second, 44 * kMiB);
  void* whole = take(96 * kMiB);
  EXPECT_EQ(stats().num_alloc_retries, 0) << "nothing had to go back to the device";
  give(whole, 96 * kMiB);
}

TEST_F(ExpandableSegments, give_back_the_free_end) {
  void* kept = take(5 * kMiB);
  void* freed = take(70 * kMiB);
  give(freed, 70 * kMiB);
  EXPECT_EQ(allocator_->trim(0), 60 * kMiB);
  allocator_->verify();
  EXPECT_EQ(sim::used_bytes(), 20 * kMiB);
  give(kept, 5 * kMiB);
  EXPECT_EQ(allocator_->trim(0), 20 * kMiB);
  allocator_->verify();
  EXPECT_EQ(sim::used_bytes(), 0U);
  EXPECT_EQ(stats().segment.all.current, 0);
}

TEST_F(ExpandableSegments, keep_what_was_mapped_when_the_device_is_full) {
  use_expandable(50 * kMiB);
  EXPECT_EQ(failure_of(60 * kMiB).code(), Code::kOutOfMemory);
  void* block = take(40 * kMiB);
  EXPECT_EQ(failure_of(20 * kMiB).code(), Code::kOutOfMemory);
  give(block, 40 * kMiB);
}

TEST_F(ExpandableSegments, return_everything_when_destroyed) {
  (void)take(5 * kMiB);
  (void)take(100);
  allocator_.reset();
  EXPECT_EQ(sim::used_bytes(), 0U);
}

TEST_F(ExpandableSegments, need_a_device_that_maps_and_exclude_a_split_size) {
  CachingSettings settings;
  settings.expandable_segments = true;
  settings.max_split_size = 64 * kMiB;
  EXPECT_THROW(allocator_->configure(settings), Error);
  restart(sim::kDefaultCapacity);
  settings.max_split_size = UINT64_MAX;
  EXPECT_THROW(allocator_->configure(settings), Error);
}

}  // namespace
}  // namespace tsr::test::test_caching_allocator
