// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The small lists: size classes, reuse, blocks that cross threads, threads that end, forks.
#include "memory/small_alloc.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "memory/cpu_allocator.h"
#include "memory/sizes.h"
#include "memory/small_heap.h"
#include "support/failing_allocations.h"

namespace tsr::test::test_small_alloc {
namespace {

void* take(size_t nbytes) {
  return small::allocate(small_class(nbytes));
}

size_t chunk_count() {
  size_t count = 0;
  small::visit_chunks([](void* user, const small::ChunkInfo&) { ++*static_cast<size_t*>(user); },
                      &count);
  return count;
}

TEST(SmallAlloc, classes_waste_less_than_a_quarter) {
  for (size_t nbytes = 1; nbytes <= kSmallLimit; ++nbytes) {
    const uint32_t index = small_class(nbytes);
    ASSERT_LT(index, kSmallClasses);
    ASSERT_GE(small_class_bytes(index), nbytes);
    if (index > 0) {
      ASSERT_LT(small_class_bytes(index - 1), nbytes);
    }
    ASSERT_EQ(small_class_bytes(index) % kSmallAlignment, 0U);
    if (nbytes > 512) {
      ASSERT_LT(small_class_bytes(index) - nbytes, nbytes / 4);
    }
  }
  EXPECT_EQ(small_class(0), 0U);
}

TEST(SmallAlloc, R13_lends_the_block_freed_last) {
  void* first = take(200);
  small::release(first);
  EXPECT_EQ(take(200), first);
  small::release(first);
}

TEST(SmallAlloc, R13_lends_separate_aligned_blocks_of_every_class) {
  const int64_t before = small::live_blocks();
  struct Lent {
    unsigned char* data;
    size_t nbytes;
  };
  std::vector<Lent> lent;
  for (uint32_t index = 0; index < kSmallClasses; ++index) {
    const size_t nbytes = small_class_bytes(index);
    for (int i = 0; i < 40; ++i) {
      auto* data = static_cast<unsigned char*>(take(nbytes));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % kSmallAlignment, 0U);
      std::memset(data, static_cast<int>(index + 1), nbytes);
      lent.push_back({data, nbytes});
    }
    small::verify();
  }
  EXPECT_EQ(small::live_blocks(), before + static_cast<int64_t>(lent.size()));
  for (const Lent& block : lent) {
    const auto mark = static_cast<unsigned char>(small_class(block.nbytes) + 1);
    ASSERT_EQ(block.data[0], mark);
    ASSERT_EQ(block.data[block.nbytes - 1], mark);
    small::release(block.data);
  }
  small::verify();
  EXPECT_EQ(small::live_blocks(), before);
}

TEST(SmallAlloc, gives_emptied_chunks_back) {
  std::vector<void*> blocks;
  for (int i = 0; i < 20000; ++i) blocks.push_back(take(1000));
  for (void* block : blocks) small::release(block);
  small::verify();
  EXPECT_GE(small::trim(), 18U * small::kChunkBytes);
  small::verify();
}

TEST(SmallAlloc, R13_takes_back_blocks_that_another_thread_freed) {
  const int64_t before = small::live_blocks();
  constexpr int kRounds = 50;
  const size_t chunks = chunk_count();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 2000; ++i) blocks.push_back(take(256));
    std::thread([&] {
      for (void* block : blocks) small::release(block);
    }).join();
    small::verify();
  }
  EXPECT_EQ(small::live_blocks(), before);
  EXPECT_LE(chunk_count(), chunks + 1) << "500 KB a round, 25 MB if they did not come back";
}

TEST(SmallAlloc, gives_back_what_an_ended_thread_left_behind) {
  CpuAllocator::get().trim(0);
  const size_t chunks = chunk_count();
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 10000; ++i) blocks.push_back(take(1000));
  }).join();
  EXPECT_GE(chunk_count(), chunks + 4);
  for (void* block : blocks) small::release(block);
  small::trim();
  EXPECT_LE(chunk_count(), chunks);
}

TEST(SmallAlloc, hands_the_lists_of_a_thread_to_the_next) {
  small::ThreadLists* first = nullptr;
  small::ThreadLists* second = nullptr;
  void* survivor = nullptr;
  std::thread([&] {
    survivor = take(300);
    first = small::t_lists;
  }).join();
  std::thread([&] {
    small::release(take(300));
    second = small::t_lists;
    small::verify();
  }).join();
  EXPECT_EQ(first, second);
  small::release(survivor);
}

TEST(SmallAlloc, serves_a_thread_that_only_frees) {
  void* block = CpuAllocator::get().allocate(100, nullptr);
  const int64_t before = CpuAllocator::get().stats().allocated.all.current;
  std::thread([&] {
    CpuAllocator::get().deallocate(block, 100);
    EXPECT_EQ(small::t_lists, &small::g_no_lists);
  }).join();
  if (!kSmallListsOff) {
    EXPECT_EQ(CpuAllocator::get().stats().allocated.all.current, before - 1);
  }
}

TEST(SmallAlloc, passes_blocks_round_a_ring_of_threads) {
  constexpr int kThreads = 4;
  constexpr int kBlocks = 20000;
  struct Mailbox {
    std::mutex mutex;
    std::vector<unsigned char*> blocks;
  };
  std::vector<Mailbox> boxes(kThreads);
  std::atomic<int> running{kThreads};
  const int64_t before = small::live_blocks();
  const auto empty_box = [&](int me) {
    std::vector<unsigned char*> received;
    {
      const std::lock_guard lock(boxes[static_cast<size_t>(me)].mutex);
      received.swap(boxes[static_cast<size_t>(me)].blocks);
    }
    for (unsigned char* block : received) {
      ASSERT_EQ(block[0], 1 + (me + kThreads - 1) % kThreads);
      small::release(block);
    }
  };
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      std::mt19937 random(static_cast<unsigned>(me));
      for (int i = 0; i < kBlocks; ++i) {
        auto* block = static_cast<unsigned char*>(take(1 + random() % 2000));
        block[0] = static_cast<unsigned char>(1 + me);
        Mailbox& next = boxes[static_cast<size_t>((me + 1) % kThreads)];
        {
          const std::lock_guard lock(next.mutex);
          next.blocks.push_back(block);
        }
        if (i % 64 == 0) empty_box(me);
      }
      running.fetch_sub(1);
      while (running.load() > 0) std::this_thread::yield();
      empty_box(me);
      small::verify();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(small::live_blocks(), before);
}

TEST(SmallAlloc, objects_above_the_limit_come_from_the_system) {
  const int64_t before = live_large_objects();
  void* large = small_allocate(kSmallLimit + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % kSmallAlignment, 0U);
  std::memset(large, 1, kSmallLimit + 1);
  EXPECT_EQ(live_large_objects(), before + 1);
  small_free(large, kSmallLimit + 1);
  EXPECT_EQ(live_large_objects(), before);
  EXPECT_THROW((void)small_allocate(SIZE_MAX), Error);
  small_free(nullptr, 100);
}

TEST(SmallAlloc, refuses_a_chunk_beyond_the_limit_and_recovers) {
  CachingAllocator& pools = *CpuAllocator::get().caching();
  CpuAllocator::get().trim(0);
  std::vector<void*> blocks;
  pools.set_limit(static_cast<uint64_t>(pools.stats().reserved_bytes.all.current) + 4000000);
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) blocks.push_back(take(60000));
      },
      Error);
  EXPECT_LE(pools.stats().reserved_bytes.all.current, static_cast<int64_t>(pools.limit()));
  small::verify();
  pools.set_limit(UINT64_MAX);
  blocks.push_back(take(60000));
  for (void* block : blocks) small::release(block);
  small::verify();
}

TEST(SmallAlloc, bytes_in_use_are_told_when_memory_runs_out) {
  if (kSmallListsOff) GTEST_SKIP() << "the address sanitizer's blocks are in no list";
  CpuAllocator& cpu = CpuAllocator::get();
  CachingAllocator& pools = *cpu.caching();
  std::vector<void*> blocks;
  for (int i = 0; i < 500; ++i) blocks.push_back(cpu.allocate(32768, nullptr));
  const auto live = static_cast<uint64_t>(cpu.stats().allocated_bytes.all.current);
  ASSERT_GE(live, 500U * 32768U);
  uint64_t told = 0;
  const PressureCallback callback{[](void* user, const MemoryPressure& event) {
                                    *static_cast<uint64_t*>(user) = event.live;
                                    return false;
                                  },
                                  &told};
  pools.add_pressure_callback(callback);
  pools.set_limit(static_cast<uint64_t>(pools.stats().reserved_bytes.all.current));
  try {
    static_cast<void>(cpu.allocate(uint64_t{1} << 30, nullptr));
    ADD_FAILURE() << "beyond the limit";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(concat("of which ", in_bytes(live), " in use")),
              std::string::npos)
        << error.message();
  }
  EXPECT_EQ(told, live);
  pools.set_limit(UINT64_MAX);
  pools.remove_pressure_callback(callback);
  for (void* block : blocks) cpu.deallocate(block, 32768);
}

// A host that frees tensors in a callback while the lists wait for a new chunk.
TEST(SmallAlloc, lets_the_host_free_blocks_while_it_looks_for_memory) {
  CachingAllocator& pools = *CpuAllocator::get().caching();
  CpuAllocator::get().trim(0);
  struct Host {
    std::vector<void*> garbage;
    int calls = 0;
  } host;
  const PressureCallback callback{[](void* user, const MemoryPressure&) {
                                    auto& inner = *static_cast<Host*>(user);
                                    ++inner.calls;
                                    for (void* block : inner.garbage) small::release(block);
                                    inner.garbage.clear();
                                    void* own = take(60000);  // served from the block just freed
                                    small::release(own);
                                    small::verify();
                                    return true;
                                  },
                                  &host};
  const auto held = static_cast<uint64_t>(pools.stats().reserved_bytes.all.current);
  pools.set_limit(held + 2 * small::kChunkBytes);
  pools.add_pressure_callback(callback);
  std::vector<void*> kept;
  for (int i = 0; i < 400 && host.calls == 0; ++i) {
    try {
      void* block = take(60000);
      (host.calls == 0 ? host.garbage : kept).push_back(block);
    } catch (const Error&) {
      break;  // the only chunk may serve other sizes; the lists must stay consistent
    }
  }
  EXPECT_EQ(host.calls, 1);
  small::verify();
  pools.remove_pressure_callback(callback);
  pools.set_limit(UINT64_MAX);
  for (void* block : kept) small::release(block);
  for (void* block : host.garbage) small::release(block);
  small::verify();
}

TEST(SmallAlloc, works_in_a_forked_child_while_other_threads_allocate) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        void* small_block = take(700);
        void* large_block = CpuAllocator::get().allocate(100000, nullptr);
        CpuAllocator::get().deallocate(large_block, 100000);
        small::release(small_block);
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::vector<void*> blocks;
      for (int i = 0; i < 2000; ++i) blocks.push_back(take(700));
      for (void* block : blocks) small::release(block);
      void* large_block = CpuAllocator::get().allocate(3000000, nullptr);
      CpuAllocator::get().deallocate(large_block, 3000000);
      small::verify();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST(SmallAlloc, leaks_nothing_whichever_allocation_fails) {
  const int64_t failures = fail_each_allocation([] {
    struct Owned {
      void* data = nullptr;
      size_t nbytes = 0;
      explicit Owned(size_t size) : data(small_allocate(size)), nbytes(size) {}
      Owned(const Owned&) = delete;
      Owned& operator=(const Owned&) = delete;
      ~Owned() { small_free(data, nbytes); }
    };
    const Owned first(10);
    const Owned second(1000);
    const Owned third(100000);
  });
  EXPECT_EQ(failures, 3);
}

}  // namespace
}  // namespace tsr::test::test_small_alloc
