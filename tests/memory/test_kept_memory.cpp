// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The store between kept device work and the allocator of its device.
#include "memory/kept_memory.h"

#include <utility>

#include "memory/simulated_fixture.h"

namespace tsr::test::test_kept_memory {
namespace {

class KeptMemory : public SimulatedMemory {
 protected:
  int64_t lent_by_device() { return stats().allocated.all.current; }
  char streams_[2] = {};
};

TEST_F(KeptMemory, P17_a_returned_block_is_lent_again_and_stays) {
  auto kept = tsr::KeptMemory::make(*allocator_);
  void* const first = kept->allocate(1000, nullptr);
  EXPECT_EQ(kept->lent(), 1U);
  kept->deallocate(first, 1000);
  EXPECT_EQ(kept->lent(), 0U);
  EXPECT_EQ(lent_by_device(), 1);
  EXPECT_EQ(kept->allocate(900, nullptr), first);
  kept->deallocate(first, 900);
  kept.reset();
  EXPECT_EQ(lent_by_device(), 0);
}

TEST_F(KeptMemory, P17_a_block_is_not_lent_for_much_less_nor_to_another_stream) {
  auto kept = tsr::KeptMemory::make(*allocator_);
  void* const large = kept->allocate(10000, nullptr);
  kept->deallocate(large, 10000);
  void* const small = kept->allocate(100, nullptr);
  EXPECT_NE(small, large);
  void* const other = kept->allocate(10000, &streams_[0]);
  EXPECT_NE(other, large);
  void* const zero = kept->allocate(0, nullptr);
  EXPECT_EQ(zero, nullptr);
  kept->deallocate(zero, 0);
  kept->deallocate(small, 100);
  kept->deallocate(other, 10000);
  EXPECT_EQ(lent_by_device(), 3);
  kept.reset();
  EXPECT_EQ(lent_by_device(), 0);
}

TEST_F(KeptMemory, P17_the_best_of_several_blocks_is_lent) {
  auto kept = tsr::KeptMemory::make(*allocator_);
  void* const wide = kept->allocate(1800, nullptr);
  void* const narrow = kept->allocate(1100, nullptr);
  kept->deallocate(wide, 1800);
  kept->deallocate(narrow, 1100);
  EXPECT_EQ(kept->allocate(1000, nullptr), narrow);
  EXPECT_EQ(kept->allocate(1000, nullptr), wide);
  kept->deallocate(narrow, 1000);
  kept->deallocate(wide, 1000);
}

// As an allocator of the host that drops tensors while it frees.
class Dropping final : public tsr::CachingAllocator {
 public:
  using tsr::CachingAllocator::CachingAllocator;
  void deallocate(void* block, uint64_t nbytes) noexcept override {
    if (void* const held = std::exchange(held_, nullptr)) store_->deallocate(held, 1000);
    tsr::CachingAllocator::deallocate(block, nbytes);
  }
  void* held_ = nullptr;
  tsr::KeptMemory* store_ = nullptr;
};

TEST_F(KeptMemory, P17_the_allocator_behind_may_free_blocks_while_the_work_ends) {
  Dropping behind(sim::device(), sim::device_interface());
  auto kept = tsr::KeptMemory::make(behind);
  void* const free = kept->allocate(1000, nullptr);
  behind.held_ = kept->allocate(1000, nullptr);
  behind.store_ = kept.get();
  kept->deallocate(free, 1000);
  kept.reset();
  EXPECT_EQ(behind.held_, nullptr);
  EXPECT_EQ(behind.stats().allocated.all.current, 0);
}

TEST_F(KeptMemory, P17_blocks_that_outlive_the_work_go_back_one_by_one) {
  auto kept = tsr::KeptMemory::make(*allocator_);
  tsr::KeptMemory* const store = kept.get();
  void* const first = kept->allocate(1000, nullptr);
  void* const second = kept->allocate(5000, nullptr);
  kept.reset();
  EXPECT_EQ(lent_by_device(), 2);
  store->deallocate(second, 5000);
  EXPECT_EQ(lent_by_device(), 1);
  store->deallocate(first, 1000);  // the store ends here
  EXPECT_EQ(lent_by_device(), 0);
}

}  // namespace
}  // namespace tsr::test::test_kept_memory
