// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The host's own allocator over C: it sees every block, its errors reach the caller, and it is
// dropped once, after its last block.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_allocator {

using namespace tsr::test;

namespace {

struct Counting {
  std::atomic<int64_t> blocks{0}, bytes{0}, calls{0}, trims{0};
  int drops = 0;
  tsr_status fails_with = TSR_OK;
  const char* says = nullptr;  // describes a failure
  int64_t misalign = 0;

  static tsr_status allocate(void* user, int32_t device, int64_t nbytes, int64_t alignment,
                             void* stream, void** block) {
    auto& self = *static_cast<Counting*>(user);
    ++self.calls;
    EXPECT_EQ(device, 0);
    EXPECT_GT(nbytes, 0);
    EXPECT_EQ(alignment, 64);
    EXPECT_EQ(stream, nullptr);
    if (self.says != nullptr) ok(tsr_error_set(self.fails_with, self.says, -1, &self, nullptr));
    if (self.fails_with != TSR_OK) return self.fails_with;
    const tsr_status status = take_memory(nullptr, device, nbytes + 64, alignment, stream, block);
    if (status != TSR_OK) return status;
    ++self.blocks;
    self.bytes += nbytes;
    *block = static_cast<char*>(*block) + self.misalign;
    return TSR_OK;
  }
  static void deallocate(void* user, int32_t device, void* block, int64_t nbytes, void* stream) {
    auto& self = *static_cast<Counting*>(user);
    --self.blocks;
    self.bytes -= nbytes;
    give_memory(nullptr, device, static_cast<char*>(block) - self.misalign, nbytes, stream);
  }
  static int64_t trim(void* user, int32_t, int64_t keep) {
    ++static_cast<Counting*>(user)->trims;
    return keep + 7;
  }
  static void drop(void* user) { ++static_cast<Counting*>(user)->drops; }

  [[nodiscard]] tsr_allocator_vtable vtable() const {
    tsr_allocator_vtable table = {};
    table.struct_size = sizeof(table);
    table.allocate = allocate;
    table.deallocate = deallocate;
    table.trim = trim;
    table.drop = drop;
    return table;
  }
};

struct Installed {
  explicit Installed(Counting& counting) {
    const tsr_allocator_vtable vtable = counting.vtable();
    ok(tsr_memory_allocator_set(TSR_DEVICE_CPU, 0, &vtable, &counting));
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed() { ok(tsr_memory_allocator_reset(TSR_DEVICE_CPU, 0)); }
};

tsr_memory_stats stats() {
  tsr_memory_stats found = {};
  found.struct_size = sizeof(found);
  ok(tsr_memory_stats_get(TSR_DEVICE_CPU, 0, &found));
  return found;
}

tsr_tensor ones(int64_t n) {
  tsr_tensor out = nullptr;
  ok(tsr_ones(&n, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out));
  return out;
}

tsr_error_view last() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return view;
}

}  // namespace

TEST(HostAllocator, sees_every_block_of_a_forward_and_a_backward) {
  Counting counting;
  {
    const Installed installed(counting);
    tsr_tensor x = ones(300);
    ok(tsr_tensor_set_requires_grad(x, 1));
    Tensor y, total;
    ok(tsr_exp(x, y.slot()));
    ok(tsr_sum(y, nullptr, -1, 0, -1, total.slot()));
    EXPECT_GE(counting.blocks, 3) << "x, exp(x) and their sum";
    EXPECT_EQ(counting.bytes, stats().allocated_bytes.all.current);
    const tsr_tensor roots[1] = {total};
    ok(tsr_backward(roots, 1, nullptr, 0, nullptr, 0, 0));
    Tensor grad;
    ok(tsr_tensor_grad(x, grad.slot()));
    EXPECT_EQ(item(grad, 0), item(y, 0));
    EXPECT_EQ(counting.bytes, stats().allocated_bytes.all.current);
    tsr_tensor_release(x);
  }
  EXPECT_EQ(counting.blocks, 0);
  EXPECT_EQ(counting.bytes, 0);
  EXPECT_EQ(counting.drops, 1);
}

TEST(HostAllocator, blocks_go_back_to_the_allocator_they_came_from) {
  Counting first, second;
  const int64_t own = stats().allocated_bytes.all.current;
  tsr_tensor before = ones(100);
  tsr_tensor of_first = nullptr, of_second = nullptr;
  {
    const Installed one(first);
    of_first = ones(100);
    {
      const Installed two(second);
      of_second = ones(100);
      EXPECT_EQ(first.blocks, 1);
      EXPECT_EQ(second.blocks, 1);
      tsr_tensor_release(of_first);
      EXPECT_EQ(first.blocks, 0);
      EXPECT_EQ(first.drops, 1) << "replaced, and its last block is back";
    }
    EXPECT_EQ(second.drops, 0);
    EXPECT_EQ(item(of_second, 99), 1.0) << "a live block stays valid";
  }
  tsr_tensor_release(before);
  EXPECT_EQ(stats().allocated_bytes.all.current, own);
  tsr_tensor_release(of_second);
  EXPECT_EQ(second.blocks, 0);
  EXPECT_EQ(second.drops, 1);
}

TEST(HostAllocator, without_live_blocks_is_dropped_when_it_is_replaced) {
  Counting counting;
  { const Installed installed(counting); }
  EXPECT_EQ(counting.drops, 1);
  ok(tsr_memory_allocator_reset(TSR_DEVICE_CPU, 0));
  EXPECT_EQ(counting.drops, 1);
}

TEST(HostAllocator, drop_waits_where_drops_are_deferred) {
  Counting counting;
  tsr_tensor kept = nullptr;
  {
    const Installed installed(counting);
    kept = ones(10);
  }
  ok(tsr_defer_drops(1));
  tsr_tensor_release(kept);
  EXPECT_EQ(counting.blocks, 0);
  EXPECT_EQ(counting.drops, 0);
  ok(tsr_defer_drops(0));
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(counting.drops, 1);
}

TEST(HostAllocator, out_of_memory_says_what_was_asked_and_held) {
  Counting counting;
  const Installed installed(counting);
  tsr_tensor kept = ones(1);
  counting.fails_with = TSR_OUT_OF_MEMORY;
  const int64_t shape[1] = {1000};
  tsr_tensor out = wrong_kind();
  EXPECT_EQ(tsr_zeros(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out), TSR_OUT_OF_MEMORY);
  EXPECT_EQ(out, nullptr);
  EXPECT_NE(std::string(last().message).find("asked for 4000 bytes, held 4"), std::string::npos)
      << last().message;
  EXPECT_EQ(stats().num_ooms, 1);
  counting.fails_with = TSR_OK;
  ok(tsr_zeros(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out));
  tsr_tensor_release(out);
  tsr_tensor_release(kept);
}

TEST(HostAllocator, its_own_words_and_payload_reach_the_caller) {
  Counting counting;
  const Installed installed(counting);
  const int64_t shape[1] = {1000};
  tsr_tensor out = nullptr;
  for (const tsr_status status : {TSR_OUT_OF_MEMORY, TSR_CANCELLED, TSR_CALLBACK}) {
    counting.fails_with = status;
    counting.says = "the arena is closed";
    EXPECT_EQ(tsr_zeros(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out), status);
    EXPECT_STREQ(last().message, "the arena is closed");
    EXPECT_EQ(last().payload, &counting);
  }
  counting.says = nullptr;
  counting.fails_with = 12345;
  EXPECT_EQ(tsr_zeros(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out), TSR_CALLBACK);
  EXPECT_EQ(counting.blocks, 0);
  EXPECT_EQ(stats().allocated.all.current, 0);
}

TEST(HostAllocator, block_that_is_not_aligned_goes_back) {
  Counting counting;
  counting.misalign = 8;
  const Installed installed(counting);
  const int64_t shape[1] = {1000};
  tsr_tensor out = nullptr;
  refused(tsr_zeros(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out), TSR_BACKEND);
  EXPECT_EQ(counting.calls, 1);
  EXPECT_EQ(counting.blocks, 0);
}

TEST(HostAllocator, refused_table_still_drops_its_user_pointer) {
  Counting counting;
  tsr_allocator_vtable vtable = counting.vtable();
  vtable.deallocate = nullptr;
  refused(tsr_memory_allocator_set(TSR_DEVICE_CPU, 0, &vtable, &counting), TSR_INVALID_ARGUMENT);
  vtable = counting.vtable();
  vtable.flags = 1;
  refused(tsr_memory_allocator_set(TSR_DEVICE_CPU, 0, &vtable, &counting), TSR_INVALID_ARGUMENT);
  vtable = counting.vtable();
  refused(tsr_memory_allocator_set(TSR_DEVICE_CPU, 9, &vtable, &counting), TSR_DEVICE);
  EXPECT_EQ(counting.drops, 3);
}

TEST(HostAllocator, trim_limit_and_statistics_are_its_own) {
  Counting counting;
  const Installed installed(counting);
  int64_t freed = 0;
  ok(tsr_memory_trim(TSR_DEVICE_CPU, 0, 35, &freed));
  EXPECT_EQ(freed, 42);
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, 1000));
  const int64_t shape[1] = {1000};
  tsr_tensor out = nullptr;
  refused(tsr_zeros(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &out), TSR_OUT_OF_MEMORY);
  EXPECT_EQ(counting.calls, 0) << "beyond the limit the host is not asked";
  int64_t id = 0;
  refused(tsr_memory_pressure_add(TSR_DEVICE_CPU, 0, ignore_pressure, nullptr, nullptr, &id),
          TSR_NOT_IMPLEMENTED);
}

TEST(HostAllocator, serves_many_threads_at_once) {
  Counting counting;
  {
    const Installed installed(counting);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int k = 1; k <= 50; ++k) tsr_tensor_release(ones(k));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(stats().allocated.all.current, 0);
  }
  EXPECT_EQ(counting.blocks, 0);
  EXPECT_EQ(counting.calls, 200);
  EXPECT_EQ(counting.drops, 1);
}

}  // namespace test_allocator
