// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The CPU's kernel table for benchmarks that call it directly, and memory to work on.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "backend/cpu/backend.h"
#include "base/parallel.h"
#include "bench/harness.h"

namespace tsr::bench {

// The thread keeps its workspace, as the library's allocator does: fresh pages would cost more than
// some kernels.
struct Workspace {
  void* data = nullptr;
  uint64_t nbytes = 0;
};
inline thread_local Workspace t_workspace;

inline void* allocate(DeviceType, kernel::Place, uint64_t nbytes) {
  if (t_workspace.nbytes >= nbytes) return std::exchange(t_workspace, {}).data;
  return std::aligned_alloc(64, (nbytes + 63) / 64 * 64);
}
inline void release(DeviceType, kernel::Place, void* data, uint64_t nbytes) {
  if (t_workspace.nbytes >= nbytes) {
    std::free(data);
    return;
  }
  std::free(t_workspace.data);
  t_workspace = {data, nbytes};
}
inline void ignore_place(DeviceType, kernel::Place) {}
inline void ignore_error(const char*, int64_t) {}
inline const kernel::HostServices kServices{kernel::kContractVersion, allocate, release,
                                            ignore_place, ignore_error};

inline const kernel::KernelTable& kernels() {
  static const kernel::Backend* backend = cpu::backend_entry(&kServices);
  return *backend->kernels;
}

struct Freer {
  void operator()(float* data) const { std::free(data); }
};
using Floats = std::unique_ptr<float, Freer>;
inline Floats floats(int64_t count) {
  Floats data(static_cast<float*>(
      std::aligned_alloc(2 << 20, static_cast<size_t>((count * 4 + (2 << 20)) >> 21 << 21))));
  madvise(data.get(), static_cast<size_t>(count * 4), MADV_HUGEPAGE);
  for (int64_t i = 0; i < count; ++i) data.get()[i] = static_cast<float>(i % 1000) * 0.001F;
  return data;
}

inline Case make(const std::string& name, const std::string& shape, const char* unit, int64_t count,
                 double bytes) {
  Case c;
  c.name = name;
  c.shape = shape;
  c.unit_of_work = unit;
  c.count = count;
  c.bytes = bytes;
  c.threads = num_threads();
  return c;
}

}  // namespace tsr::bench
