// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What every allocator guarantees, checked for each of them: a new allocator is a new row.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu_device.h"
#include "base/error.h"
#include "memory/allocator.h"
#include "memory/caching_allocator.h"
#include "memory/cpu_allocator.h"
#include "memory/debug_flags.h"
#include "memory/external_allocator.h"
#include "support/simulated_device.h"

namespace tsr::test::test_allocator_contract {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

using Handle = std::shared_ptr<Allocator>;

Handle make_simulated() {
  sim::reset();
  return std::make_shared<CachingAllocator>(sim::device(), sim::device_interface());
}
Handle make_growing() {
  sim::reset();
  auto allocator =
      std::make_shared<CachingAllocator>(sim::device(), sim::expandable_device_interface());
  CachingSettings settings;
  settings.expandable_segments = true;
  allocator->configure(settings);
  return allocator;
}
Handle make_caching_cpu() {
  return std::make_shared<CachingAllocator>(Device{}, cpu_device_interface());
}
Handle the_cpu() {
  return Handle(&CpuAllocator::get(), [](Allocator*) {});
}
Handle make_external() {
  ExternalFunctions malloc_functions;
  malloc_functions.allocate = [](void*, int32_t, int64_t nbytes, int64_t alignment, void*,
                                 void** out) {
    if (nbytes > int64_t{1} << 40) return 9;  // out of memory
    const int64_t rounded = (nbytes + alignment - 1) / alignment * alignment;
    *out = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded));
    return *out == nullptr ? 9 : 0;
  };
  malloc_functions.deallocate = [](void*, int32_t, void* block, int64_t, void*) {
    std::free(block);
  };
  return std::make_shared<ExternalAllocator>(Device{}, malloc_functions);
}

struct Row {
  const char* name;
  Handle (*make)();
};

class AllocatorContract : public testing::TestWithParam<Row> {
 protected:
  AllocatorContract() : handle_(GetParam().make()), allocator_(*handle_) {
    allocator_.trim(0);
    allocator_.reset_peak();
  }
  int64_t lent_bytes() const { return allocator_.stats().allocated_bytes.all.current; }

  Handle handle_;
  Allocator& allocator_;
};

const std::vector<uint64_t> kSizes = {1,     63,     64,        65,       512,      1000,
                                      4096,  65536,  65537,     kMiB - 1, kMiB + 1, 3 * kMiB,
                                      10000, 100000, 11 * kMiB, 8,        2048};

TEST_P(AllocatorContract, lends_aligned_writable_separate_blocks) {
  std::vector<unsigned char*> blocks;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    auto* block = static_cast<unsigned char*>(allocator_.allocate(kSizes[i], nullptr));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0U) << kSizes[i];
    std::memset(block, static_cast<int>(i), kSizes[i]);
    blocks.push_back(block);
    allocator_.verify();
  }
  for (size_t i = 0; i < kSizes.size(); ++i) {
    EXPECT_EQ(blocks[i][0], i);
    EXPECT_EQ(blocks[i][kSizes[i] - 1], i);
    allocator_.deallocate(blocks[i], kSizes[i]);
    allocator_.verify();
  }
}

TEST_P(AllocatorContract, R14_counts_exactly_and_returns_to_the_baseline_at_once) {
  const MemoryStats before = allocator_.stats();
  for (const uint64_t nbytes : kSizes) {
    void* block = allocator_.allocate(nbytes, nullptr);
    const MemoryStats during = allocator_.stats();
    EXPECT_EQ(during.allocated.all.current, before.allocated.all.current + 1);
    EXPECT_EQ(during.requested_bytes.all.current - before.requested_bytes.all.current,
              static_cast<int64_t>(nbytes));
    EXPECT_GE(during.allocated_bytes.all.peak, during.allocated_bytes.all.current);
    EXPECT_GE(during.allocated_bytes.all.current - before.allocated_bytes.all.current,
              static_cast<int64_t>(nbytes));
    allocator_.deallocate(block, nbytes);
    EXPECT_EQ(lent_bytes(), before.allocated_bytes.all.current);
    EXPECT_EQ(allocator_.stats().requested_bytes.all.current, before.requested_bytes.all.current);
  }
  const MemoryStats after = allocator_.stats();
  EXPECT_EQ(after.allocated.all.allocated - before.allocated.all.allocated,
            static_cast<int64_t>(kSizes.size()));
  for (const PoolStat* stat : {&after.allocated, &after.allocated_bytes, &after.active_bytes,
                               &after.requested_bytes, &after.reserved_bytes}) {
    EXPECT_EQ(stat->all.current, stat->all.allocated - stat->all.freed);
    EXPECT_EQ(stat->all.current, stat->pool[0].current + stat->pool[1].current);
  }
}

TEST_P(AllocatorContract, gives_nothing_for_no_bytes) {
  EXPECT_EQ(allocator_.allocate(0, nullptr), nullptr);
  allocator_.deallocate(nullptr, 0);
  allocator_.deallocate(nullptr, 100);
}

TEST_P(AllocatorContract, answers_impossible_sizes_with_a_typed_error) {
  const int64_t ooms = allocator_.stats().num_ooms;
  for (const uint64_t nbytes : {UINT64_MAX, UINT64_MAX / 2, uint64_t{1} << 62, uint64_t{1} << 55}) {
    try {
      (void)allocator_.allocate(nbytes, nullptr);
      ADD_FAILURE() << nbytes << " bytes were lent";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kOutOfMemory) << error.message();
    }
  }
  EXPECT_EQ(allocator_.stats().num_ooms, ooms + 4);
  allocator_.verify();
}

TEST_P(AllocatorContract, keeps_to_its_limit) {
  const auto held = static_cast<uint64_t>(allocator_.stats().reserved_bytes.all.current);
  allocator_.set_limit(held + 45 * kMiB);
  EXPECT_EQ(allocator_.limit(), held + 45 * kMiB);
  void* block = allocator_.allocate(24 * kMiB, nullptr);
  EXPECT_THROW((void)allocator_.allocate(24 * kMiB, nullptr), Error);
  allocator_.verify();
  allocator_.set_limit(UINT64_MAX);
  void* second = allocator_.allocate(24 * kMiB, nullptr);
  allocator_.deallocate(second, 24 * kMiB);
  allocator_.deallocate(block, 24 * kMiB);
}

TEST_P(AllocatorContract, R9_remembers_its_peak_until_it_is_reset) {
  for (const uint64_t nbytes : {uint64_t{100}, uint64_t{5000}, 5 * kMiB}) {
    const int64_t low = lent_bytes();
    void* first = allocator_.allocate(nbytes, nullptr);
    void* second = allocator_.allocate(nbytes, nullptr);
    allocator_.deallocate(first, nbytes);
    allocator_.deallocate(second, nbytes);
    const MemoryStats stats = allocator_.stats();
    EXPECT_GE(stats.allocated_bytes.all.peak, low + 2 * static_cast<int64_t>(nbytes));
    EXPECT_LE(stats.allocated_bytes.all.peak, low + 4 * static_cast<int64_t>(nbytes) + 1024);
    EXPECT_EQ(stats.requested_bytes.all.peak,
              stats.requested_bytes.all.current + 2 * static_cast<int64_t>(nbytes));
    EXPECT_EQ(stats.allocated.all.peak, stats.allocated.all.current + 2);
    EXPECT_EQ(stats.active.all.peak, stats.active.all.current + 2);
    allocator_.reset_peak();
    EXPECT_EQ(allocator_.stats().allocated_bytes.all.peak, lent_bytes());
  }
}

TEST_P(AllocatorContract, counts_small_and_large_blocks_in_one_peak) {
  const int64_t low = allocator_.stats().requested_bytes.all.current;
  void* small = allocator_.allocate(5000, nullptr);
  void* large = allocator_.allocate(5 * kMiB, nullptr);
  allocator_.deallocate(small, 5000);
  allocator_.deallocate(large, 5 * kMiB);
  EXPECT_EQ(allocator_.stats().requested_bytes.all.peak,
            low + static_cast<int64_t>(5 * kMiB) + 5000);
}

TEST_P(AllocatorContract, R9_gives_all_cached_memory_back) {
  std::vector<void*> blocks;
  for (const uint64_t nbytes : kSizes) blocks.push_back(allocator_.allocate(nbytes, nullptr));
  for (size_t i = 0; i < kSizes.size(); ++i) allocator_.deallocate(blocks[i], kSizes[i]);
  if (allocator_.caching() != nullptr) {
    EXPECT_GT(allocator_.trim(0), 11 * kMiB);
  }
  allocator_.verify();
  if (GetParam().make != the_cpu) {  // the CPU's lists also hold the objects of this process
    EXPECT_EQ(allocator_.stats().reserved_bytes.all.current, 0);
  }
}

TEST_P(AllocatorContract, R9_has_the_public_keys) {
  std::vector<std::string> expected;
  for (const char* stat :
       {"allocated", "allocated_bytes", "segment", "reserved_bytes", "active", "active_bytes",
        "inactive_split", "inactive_split_bytes", "requested_bytes"}) {
    for (const char* pool : {"all", "large_pool", "small_pool"}) {
      for (const char* figure : {"current", "peak", "allocated", "freed"}) {
        expected.push_back(std::string(stat) + "." + pool + "." + figure);
      }
    }
  }
  for (const char* stat : {"oversize_allocations", "oversize_segments"}) {
    for (const char* figure : {"current", "peak", "allocated", "freed"}) {
      expected.push_back(std::string(stat) + "." + figure);
    }
  }
  for (const char* count : {"num_alloc_retries", "num_ooms", "num_sync_all_streams",
                            "num_device_alloc", "num_device_free", "max_split_size"}) {
    expected.emplace_back(count);
  }
  std::vector<std::string> keys;
  allocator_.stats().visit([&](std::string_view key, int64_t) { keys.emplace_back(key); });
  EXPECT_EQ(keys, expected);
  const auto json = nlohmann::json::parse(allocator_.stats().to_json());
  EXPECT_EQ(json.size(), expected.size());
}

TEST_P(AllocatorContract, R9_describes_itself_as_json_whose_sums_agree) {
  void* small = allocator_.allocate(1000, nullptr);
  void* large = allocator_.allocate(3 * kMiB, nullptr);
  const auto json = nlohmann::json::parse(allocator_.snapshot());
  EXPECT_EQ(json["stats"]["allocated.all.current"], allocator_.stats().allocated.all.current);
  if (allocator_.caching() != nullptr) {
    int64_t held = 0;
    for (const auto& segment : json["segments"]) held += segment["total_size"].get<int64_t>();
    EXPECT_EQ(held, json["stats"]["reserved_bytes.all.current"].get<int64_t>());
  }
  EXPECT_TRUE(json["history"].is_array());
  allocator_.deallocate(large, 3 * kMiB);
  allocator_.deallocate(small, 1000);
}

TEST_P(AllocatorContract, takes_blocks_back_from_another_thread) {
  const int64_t before = lent_bytes();
  std::vector<void*> blocks;
  for (const uint64_t nbytes : kSizes) blocks.push_back(allocator_.allocate(nbytes, nullptr));
  std::thread([&] {
    for (size_t i = 0; i < kSizes.size(); ++i) allocator_.deallocate(blocks[i], kSizes[i]);
  }).join();
  EXPECT_EQ(lent_bytes(), before);
  allocator_.verify();
}

void churn(Allocator& allocator, unsigned thread_number) {
  struct Lent {
    unsigned char* data;
    uint64_t nbytes;
  };
  std::vector<Lent> lent;
  uint64_t seed = thread_number;
  for (int i = 0; i < 3000; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const auto pick = static_cast<size_t>(seed >> 33);
    if (lent.size() < 20 || pick % 2 == 0) {
      const uint64_t nbytes = 1 + pick % (pick % 16 == 0 ? 3 * kMiB : 8192);
      auto* data = static_cast<unsigned char*>(allocator.allocate(nbytes, nullptr));
      data[0] = data[nbytes - 1] = static_cast<unsigned char>(thread_number);
      lent.push_back({data, nbytes});
      continue;
    }
    Lent& chosen = lent[pick % lent.size()];
    ASSERT_EQ(chosen.data[0], thread_number);
    ASSERT_EQ(chosen.data[chosen.nbytes - 1], thread_number);
    allocator.deallocate(chosen.data, chosen.nbytes);
    chosen = lent.back();
    lent.pop_back();
  }
  for (const Lent& rest : lent) allocator.deallocate(rest.data, rest.nbytes);
}

TEST_P(AllocatorContract, serves_many_threads) {
  const MemoryStats before = allocator_.stats();
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= 4; ++i) threads.emplace_back([&, i] { churn(allocator_, i); });
  for (std::thread& thread : threads) thread.join();
  allocator_.verify();
  const MemoryStats after = allocator_.stats();
  EXPECT_EQ(after.allocated.all.current, before.allocated.all.current);
  EXPECT_EQ(after.requested_bytes.all.current, before.requested_bytes.all.current);
}

TEST_P(AllocatorContract, fails_where_a_test_says_so_and_then_works_again) {
  const int64_t before = lent_bytes();
  for (const uint64_t nbytes : {uint64_t{100}, 3 * kMiB}) {
    fail_allocation_after(1);
    void* first = allocator_.allocate(nbytes, nullptr);
    try {
      (void)allocator_.allocate(nbytes, nullptr);
      ADD_FAILURE() << "the second allocation was to fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kOutOfMemory);
    }
    EXPECT_FALSE(cancel_injected_failure()) << "it fails once only";
    allocator_.deallocate(first, nbytes);
  }
  EXPECT_EQ(lent_bytes(), before);
}

INSTANTIATE_TEST_SUITE_P(All, AllocatorContract,
                         testing::Values(Row{"caching_on_simulated_device", make_simulated},
                                         Row{"caching_in_growing_segments", make_growing},
                                         Row{"caching_on_cpu", make_caching_cpu},
                                         Row{"cpu", the_cpu}, Row{"external", make_external}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tsr::test::test_allocator_contract
