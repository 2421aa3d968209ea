// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Which allocator serves which device; allocators of the host; history; raw pages of the CPU.
#include "memory/allocator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/cpu_device.h"
#include "base/error.h"
#include "memory/caching_allocator.h"
#include "memory/cpu_allocator.h"
#include "memory/external_allocator.h"
#include "support/simulated_device.h"

namespace tsr::test::test_allocator {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(AllocatorFor, serves_the_cpu_from_the_start) {
  EXPECT_EQ(&allocator_for(Device{}), &CpuAllocator::get());
  EXPECT_EQ(allocator_for(Device{}).device(), Device{});
}

TEST(AllocatorFor, refuses_devices_without_a_backend) {
  for (const Device device :
       {Device{DeviceType::kCuda, 0}, Device{DeviceType::kCpu, 1}, Device{DeviceType::kCpu, -1},
        Device{DeviceType::kCpu, 1000}, Device{static_cast<DeviceType>(-5), 0},
        Device{static_cast<DeviceType>(1 << 30), 0}}) {
    try {
      (void)allocator_for(device);
      ADD_FAILURE() << "device " << static_cast<int>(device.type) << ":" << device.index;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kDevice);
    }
  }
}

TEST(AllocatorFor, makes_one_allocator_for_each_device_of_a_backend) {
  sim::reset(1);
  sim::reset(2);
  install_memory(DeviceType::kSimulated, sim::device_interface());
  Allocator& one = allocator_for(sim::device(1));
  Allocator& two = allocator_for(sim::device(2));
  EXPECT_NE(&one, &two);
  EXPECT_EQ(&allocator_for(sim::device(1)), &one);
  void* block = one.allocate(100, nullptr);
  EXPECT_EQ(sim::used_bytes(1), 2 * kMiB);
  EXPECT_EQ(sim::used_bytes(2), 0U);
  one.deallocate(block, 100);
  EXPECT_THROW((void)allocator_for(sim::device(sim::kDeviceCount)), Error);
}

TEST(AllocatorFor, uses_the_innermost_scope_of_the_calling_thread) {
  CachingAllocator outer(Device{}, cpu_device_interface());
  CachingAllocator inner(Device{}, cpu_device_interface());
  {
    const AllocatorScope first(Device{}, outer);
    EXPECT_EQ(&allocator_for(Device{}), &outer);
    {
      const AllocatorScope second(Device{}, inner);
      EXPECT_EQ(&allocator_for(Device{}), &inner);
      std::thread([] { EXPECT_EQ(&allocator_for(Device{}), &CpuAllocator::get()); }).join();
    }
    EXPECT_EQ(&allocator_for(Device{}), &outer);
  }
  EXPECT_EQ(&allocator_for(Device{}), &CpuAllocator::get());
}

TEST(AllocatorFor, lets_the_allocator_of_a_device_be_replaced) {
  CachingAllocator own(Device{}, cpu_device_interface());
  set_allocator(Device{}, own);
  EXPECT_EQ(&allocator_for(Device{}), &own);
  set_allocator(Device{}, CpuAllocator::get());
  EXPECT_EQ(&allocator_for(Device{}), &CpuAllocator::get());
}

// ---- Allocators of the host ----

struct HostMemory {
  int lent = 0;
  int dropped = 0;
  int trims = 0;
  int32_t next_status = 0;
  void* last_stream = nullptr;
  void* recorded = nullptr;
};

ExternalFunctions functions_of(HostMemory& host) {
  ExternalFunctions functions;
  functions.user = &host;
  functions.allocate = [](void* user, int32_t, int64_t nbytes, int64_t alignment, void*,
                          void** out) {
    auto& h = *static_cast<HostMemory*>(user);
    if (h.next_status != 0) return std::exchange(h.next_status, 0);
    const int64_t rounded = (nbytes + alignment - 1) / alignment * alignment;
    *out = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded));
    ++h.lent;
    return 0;
  };
  functions.deallocate = [](void* user, int32_t, void* block, int64_t, void* stream) {
    auto& h = *static_cast<HostMemory*>(user);
    --h.lent;
    h.last_stream = stream;
    std::free(block);
  };
  functions.record_stream = [](void* user, int32_t, void* block, void*) {
    static_cast<HostMemory*>(user)->recorded = block;
    return 0;
  };
  functions.trim = [](void* user, int32_t, int64_t) {
    return static_cast<int64_t>(++static_cast<HostMemory*>(user)->trims);
  };
  functions.drop = [](void* user) { ++static_cast<HostMemory*>(user)->dropped; };
  return functions;
}

TEST(ExternalAllocator, hands_everything_to_the_host) {
  HostMemory host;
  int stream = 0;
  {
    ExternalAllocator allocator(Device{}, functions_of(host));
    void* block = allocator.allocate(1000, &stream);
    EXPECT_EQ(host.lent, 1);
    allocator.record_stream(block, nullptr);
    EXPECT_EQ(host.recorded, block);
    allocator.verify();
    allocator.deallocate(block, 1000);
    EXPECT_EQ(host.last_stream, &stream);
    EXPECT_EQ(allocator.trim(0), 1U);
    EXPECT_EQ(host.lent, 0);
    EXPECT_EQ(host.dropped, 0);
  }
  EXPECT_EQ(host.dropped, 1);
}

TEST(ExternalAllocator, passes_the_status_of_the_host_on) {
  HostMemory host;
  ExternalAllocator allocator(Device{}, functions_of(host));
  for (const Code code : {Code::kOutOfMemory, Code::kCallback}) {
    host.next_status = static_cast<int32_t>(code);
    try {
      (void)allocator.allocate(1000, nullptr);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
    }
  }
  allocator.verify();
  EXPECT_EQ(allocator.stats().allocated.all.current, 0);
  EXPECT_EQ(allocator.stats().num_ooms, 1);
}

TEST(ExternalAllocator, needs_both_functions) {
  HostMemory host;
  ExternalFunctions functions = functions_of(host);
  functions.deallocate = nullptr;
  EXPECT_THROW(ExternalAllocator(Device{}, functions), Error);
  EXPECT_EQ(host.dropped, 0);
}

// ---- The CPU as a device ----

TEST(CpuDevice, aligns_large_raw_memory_to_huge_pages) {
  const DeviceInterface& cpu = cpu_device_interface();
  for (const uint64_t nbytes : {4096UL, 100000UL, 2 * kMiB, 20 * kMiB}) {
    void* data = nullptr;
    ASSERT_EQ(cpu.raw_allocate(0, nbytes, &data), kDeviceOk);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % (nbytes >= 2 * kMiB ? 2 * kMiB : 4096), 0U);
    std::memset(data, 1, nbytes);
    EXPECT_EQ(cpu.raw_free(0, data, nbytes), kDeviceOk);
  }
}

TEST(CpuDevice, knows_its_memory_and_its_end) {
  const DeviceInterface& cpu = cpu_device_interface();
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  ASSERT_EQ(cpu.memory_info(0, &free_bytes, &total_bytes), kDeviceOk);
  EXPECT_GT(free_bytes, 0U);
  EXPECT_LE(free_bytes, total_bytes);
  void* data = nullptr;
  EXPECT_EQ(cpu.raw_allocate(0, uint64_t{1} << 60, &data), kDeviceOutOfMemory);
  EXPECT_EQ(data, nullptr);
  EXPECT_STREQ(cpu.error_text(kDeviceOutOfMemory), "out of memory");
}

}  // namespace
}  // namespace tsr::test::test_allocator
