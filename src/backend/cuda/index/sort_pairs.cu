// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/index/sort_pairs.h"

#include <cub/device/device_radix_sort.cuh>

#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

kernel::Status sort_pairs(kernel::Place place, Pairs& pairs, int64_t count, int bits) {
  if (count < 2 || bits == 0) return kernel::kOk;
  const DeviceGuard guard(place.device);
  TSR_CUDA_TRY(guard.error());
  cub::DoubleBuffer<uint64_t> keys(pairs.keys, pairs.spare_keys);
  cub::DoubleBuffer<int64_t> positions(pairs.positions, pairs.spare_positions);
  const auto sort = [&](void* scratch, size_t& nbytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, nbytes, keys, positions, count, 0, bits,
                                           stream_of(place));
  };
  // Clear this thread's last error, which CUB would report although other code may have caused it.
  static_cast<void>(cudaGetLastError());
  size_t nbytes = 0;
  TSR_CUDA_TRY(sort(nullptr, nbytes));
  const Workspace scratch(place, static_cast<int64_t>(nbytes));
  if (scratch.missing()) return no_workspace();
  TSR_CUDA_TRY(sort(scratch.data<void>(), nbytes));
  pairs = {keys.Current(), keys.Alternate(), positions.Current(), positions.Alternate()};
  return queued(place);
}

}  // namespace tsr::cuda
