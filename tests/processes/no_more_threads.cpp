// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Large kernels when the system cannot start more threads: they run on the existing threads. The
// OpenMP run time would end the process if it could not start a thread.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "tessera/tessera.h"

namespace {

void need(tsr_status status, const char* what) {
  if (status == TSR_OK) return;
  tsr_error_view error{};
  error.struct_size = sizeof error;
  std::printf("%s: status %d %s\n", what, status,
              tsr_error_last(&error) == TSR_OK ? error.message : "");
  _exit(3);
}

// Less than the stack of another thread, but enough for the work itself.
void leave_no_room_for_a_stack() {
  constexpr rlim_t kRoom = rlim_t{6} << 20;
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) _exit(4);
  std::fclose(file);
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + kRoom;
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(5);
}

}  // namespace

int main() {
  const int64_t shape[] = {4 << 20};
  tsr_tensor x = nullptr;
  tsr_tensor y = nullptr;
  tsr_number sum;
  need(tsr_set_num_threads(512), "tsr_set_num_threads");
  if (tsr_num_threads() > sysconf(_SC_NPROCESSORS_CONF)) {
    std::printf("%d threads on %ld processors\n", tsr_num_threads(), sysconf(_SC_NPROCESSORS_CONF));
    return 1;
  }
  need(tsr_empty(shape, 1, TSR_FLOAT32, -1, -1, &x), "tsr_empty");
  need(tsr_empty(shape, 0, TSR_FLOAT32, -1, -1, &y), "tsr_empty");
  leave_no_room_for_a_stack();
  need(tsr_fill_inplace(x, TSR_F64(1.0)), "tsr_fill_inplace");
  tsr_tensor_release(y);
  need(tsr_sum(x, nullptr, -1, 0, -1, &y), "tsr_sum");
  need(tsr_tensor_item(y, &sum), "tsr_tensor_item");
  std::printf("sum %g\n", sum.real);
  return sum.real == static_cast<double>(shape[0]) ? 0 : 1;
}
