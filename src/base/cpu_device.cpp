// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/round_up.h"

namespace tsr {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

int32_t device_count() {
  return 1;
}

// Not a static that its first use makes: see base/immortal.h.
uint64_t page_size() noexcept {
  static std::atomic<uint64_t> known{0};
  uint64_t size = known.load(std::memory_order_relaxed);
  if (size == 0) {
    size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    known.store(size, std::memory_order_relaxed);
  }
  return size;
}

std::byte* map_pages(uint64_t nbytes) noexcept {
  void* data = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

// mmap aligns to a page only, so map one huge page more and unmap the parts outside the aligned
// range.
std::byte* map_aligned(uint64_t nbytes) noexcept {
  std::byte* raw = map_pages(nbytes + kHugePage);
  if (raw == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(raw);
  const uint64_t head = round_up(address, kHugePage) - address;
  if (head > 0) munmap(raw, head);
  if (head < kHugePage) munmap(raw + head + nbytes, kHugePage - head);
  return raw + head;
}

int32_t raw_allocate(int32_t, uint64_t nbytes, void** out) {
  *out = nullptr;
  if (nbytes > UINT64_MAX / 4) return kDeviceOutOfMemory;
  const uint64_t rounded = round_up(nbytes, page_size());
  std::byte* data = rounded >= kHugePage ? map_aligned(rounded) : map_pages(rounded);
  if (data == nullptr) return errno == ENOMEM ? kDeviceOutOfMemory : errno;
  // Small segments keep small pages, so that a process with few small tensors needs little memory.
  if (rounded > kHugePage) madvise(data, rounded, MADV_HUGEPAGE);
  *out = data;
  return kDeviceOk;
}

int32_t raw_free(int32_t, void* data, uint64_t nbytes) {
  return munmap(data, round_up(nbytes, page_size())) == 0 ? kDeviceOk : errno;
}

// The first number of a one-line file, or `otherwise` if there is none (control groups write
// "max").
uint64_t number_in(const char* path, uint64_t otherwise) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return otherwise;
  unsigned long long value = 0;
  const bool found = std::fscanf(file, "%llu", &value) == 1;
  std::fclose(file);
  return found ? value : otherwise;
}

uint64_t available_bytes(uint64_t otherwise) noexcept {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return otherwise;
  char line[128];
  unsigned long long kib = 0;
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file) != nullptr) {
    found = std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
  }
  std::fclose(file);
  return found ? uint64_t{kib} * 1024 : otherwise;
}

int32_t memory_info(int32_t, uint64_t* free_bytes, uint64_t* total_bytes) {
  const uint64_t installed = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
  const uint64_t free_pages = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page_size();
  const uint64_t group = number_in("/sys/fs/cgroup/memory.max", UINT64_MAX);
  const uint64_t used = number_in("/sys/fs/cgroup/memory.current", 0);
  const uint64_t left_in_group = group > used ? group - used : 0;
  *total_bytes = std::min(installed, group);
  *free_bytes = std::min(available_bytes(free_pages), group == UINT64_MAX ? group : left_in_group);
  return kDeviceOk;
}

const char* error_text(int32_t code) {
  const char* text = code == kDeviceOutOfMemory ? "out of memory" : strerrordesc_np(code);
  return text != nullptr ? text : "unknown error";
}

constexpr DeviceInterface make_interface() {
  DeviceInterface device{};
  device.device_count = device_count;
  device.raw_allocate = raw_allocate;
  device.raw_free = raw_free;
  device.memory_info = memory_info;
  device.allocation_granularity = 64;
  device.error_text = error_text;
  return device;
}

constexpr DeviceInterface kCpuDevice = make_interface();

}  // namespace

const DeviceInterface& cpu_device_interface() noexcept {
  return kCpuDevice;
}

}  // namespace tsr
