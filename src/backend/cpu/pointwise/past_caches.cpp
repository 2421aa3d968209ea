// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pointwise/past_caches.h"

#include <unistd.h>

#include <algorithm>

#include "base/dtype.h"

namespace tsr::cpu {

using kernel::ElementwisePlan;

namespace {

int64_t last_cache() {
  static const int64_t nbytes =
      std::clamp<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), int64_t{16} << 20, int64_t{64} << 20);
  return nbytes;
}

}  // namespace

bool past_caches(int64_t written, int64_t read) {
  if (written < last_cache() / 4) return false;
  if (read < written / 2) return written >= 2 * last_cache();
  return read + written >= last_cache() / 4 * 3;
}

bool past_caches(const ElementwisePlan& plan) {
  const int64_t written = plan.numel * itemsize(plan.dtypes[0]);
  if (written < last_cache() / 4) return false;
  int64_t read = 0;
  for (int k = 1; k < plan.operands; ++k) {
    int64_t bytes = itemsize(plan.dtypes[k]);
    for (int32_t d = 0; d < plan.ndim; ++d) bytes *= plan.strides[k][d] == 0 ? 1 : plan.sizes[d];
    read += bytes;
  }
  return past_caches(written, read);
}

}  // namespace tsr::cpu
