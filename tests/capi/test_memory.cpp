// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a host with a garbage collector needs from the allocator: calls early enough to collect.
#include <algorithm>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_memory {

using namespace tsr::test;

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

int64_t held() {
  tsr_memory_stats stats = {};
  stats.struct_size = sizeof(stats);
  ok(tsr_memory_stats_get(TSR_DEVICE_CPU, 0, &stats));
  return stats.reserved_bytes.all.current;
}

tsr_tensor block(int64_t nbytes) {
  tsr_tensor out = nullptr;
  ok(tsr_empty(&nbytes, 1, TSR_UINT8, TSR_DEVICE_CPU, 0, &out));
  return out;
}

// A garbage collector: garbage stays until the next collection.
struct Collector {
  std::vector<tsr_tensor> garbage;
  int collections = 0;

  Collector() = default;
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() { sweep(); }
  void sweep() {
    tsr_tensor_release_many(garbage.data(), static_cast<int32_t>(garbage.size()));
    garbage.clear();
  }

  static tsr_pressure_action collect(void* user, const tsr_memory_event*) {
    auto& self = *static_cast<Collector*>(user);
    ++self.collections;
    const bool any = !self.garbage.empty();
    self.sweep();
    return any ? TSR_PRESSURE_FREED_MAYBE : TSR_PRESSURE_NOTHING;
  }
};

struct Registered {
  explicit Registered(Collector& collector) {
    ok(tsr_memory_pressure_add(TSR_DEVICE_CPU, 0, Collector::collect, &collector, nullptr, &id));
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() {
    ok(tsr_memory_pressure_threshold_set(TSR_DEVICE_CPU, 0, INT64_MAX));
    ok(tsr_memory_pressure_remove(id));
  }
  int64_t id = 0;
};

void empty_cache() {
  int64_t freed = 0;
  ok(tsr_memory_empty_cache(TSR_DEVICE_CPU, 0, &freed));
}

}  // namespace

TEST(PressureThreshold, host_collects_before_the_allocator_grows) {
  empty_cache();
  Collector collector;
  const Registered registered(collector);
  ok(tsr_memory_pressure_threshold_set(TSR_DEVICE_CPU, 0, held() + 64 * kMiB));
  int64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    collector.garbage.push_back(block(16 * kMiB));
    most = std::max(most, held());
  }
  EXPECT_GE(collector.collections, 5);
  EXPECT_LE(collector.collections, 20) << "not before every allocation";
  int64_t threshold = 0;
  ok(tsr_memory_pressure_threshold(TSR_DEVICE_CPU, 0, &threshold));
  EXPECT_LE(most, threshold) << "what was freed served the next allocation";
}

TEST(PressureThreshold, allocator_grows_beyond_it_when_the_host_frees_nothing) {
  tsr_tensor small =
      block(1);  // memory of the handles themselves exists then, in any order of tests
  empty_cache();
  Collector collector;
  const Registered registered(collector);
  ok(tsr_memory_pressure_threshold_set(TSR_DEVICE_CPU, 0, 0));
  tsr_tensor kept = block(32 * kMiB);
  EXPECT_EQ(collector.collections, 1);
  EXPECT_GE(held(), 32 * kMiB);
  tsr_tensor_release(kept);
  kept = block(32 * kMiB);
  EXPECT_EQ(collector.collections, 1) << "cached memory is no growth";
  tsr_tensor_release(kept);
  tsr_tensor_release(small);
}

TEST(PressureThreshold, callback_may_move_it) {
  empty_cache();
  int64_t id = 0;
  const auto raise = [](void*, const tsr_memory_event*) -> tsr_pressure_action {
    ok(tsr_memory_pressure_threshold_set(TSR_DEVICE_CPU, 0, INT64_MAX));
    return TSR_PRESSURE_NOTHING;
  };
  ok(tsr_memory_pressure_add(TSR_DEVICE_CPU, 0, raise, nullptr, nullptr, &id));
  ok(tsr_memory_pressure_threshold_set(TSR_DEVICE_CPU, 0, 0));
  tsr_tensor_release(block(32 * kMiB));
  int64_t threshold = 0;
  ok(tsr_memory_pressure_threshold(TSR_DEVICE_CPU, 0, &threshold));
  EXPECT_EQ(threshold, INT64_MAX);
  ok(tsr_memory_pressure_remove(id));
}

}  // namespace test_memory
