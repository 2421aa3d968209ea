// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Threads that wait for the next parallel kernel must sleep. After each of many kernels the process
// sleeps for some milliseconds, in which it may use almost no processor time.
// Usage: waiting_threads <what>, without OMP_WAIT_POLICY in the environment.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "tessera/tessera.h"

namespace {

constexpr int kRounds = 41;
constexpr unsigned kSleepMicroseconds = 5000;
// By default OpenMP spins for 3 to 4 ms; going to sleep and waking up take some tens of
// microseconds.
constexpr double kAllowedMicroseconds = 500;

void need(tsr_status status, const char* what) {
  if (status == TSR_OK) return;
  std::printf("%s: status %d\n", what, status);
  _exit(3);
}

double processor_microseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

tsr_tensor ones(std::vector<int64_t> shape) {
  tsr_tensor tensor = nullptr;
  need(tsr_ones(shape.data(), static_cast<int32_t>(shape.size()), TSR_FLOAT32, -1, -1, &tensor),
       "tsr_ones");
  return tensor;
}

void elementwise() {
  static const tsr_tensor x = ones({1 << 20});
  tsr_tensor y = nullptr;
  need(tsr_exp(x, &y), "tsr_exp");
  tsr_tensor_release(y);
}

void product() {
  static const tsr_tensor x = ones({256, 256});
  tsr_tensor y = nullptr;
  need(tsr_matmul(x, x, &y), "tsr_matmul");
  tsr_tensor_release(y);
}

void convolution() {
  static const tsr_tensor x = ones({4, 16, 32, 32});
  static const tsr_tensor w = ones({16, 16, 3, 3});
  const int64_t one[] = {1, 1};
  tsr_tensor y = nullptr;
  need(tsr_conv2d(x, w, nullptr, one, 2, one, 2, one, 2, 1, 0, &y), "tsr_conv2d");
  tsr_tensor_release(y);
}

struct Work {
  const char* name;
  void (*run)();
};
constexpr Work kWorks[] = {
    {"elementwise", elementwise}, {"product", product}, {"convolution", convolution}};

}  // namespace

int main(int count, char** arguments) {
  for (const Work& work : kWorks) {
    if (count != 2 || std::strcmp(arguments[1], work.name) != 0) continue;
    std::vector<double> used;
    work.run();
    for (int i = 0; i < kRounds; ++i) {
      work.run();
      const double before = processor_microseconds();
      usleep(kSleepMicroseconds);
      used.push_back(processor_microseconds() - before);
    }
    std::nth_element(used.begin(), used.begin() + kRounds / 2, used.end());
    const double median = used[kRounds / 2];
    std::printf("%s: %.0f us of processor time in %u us of sleep, %d threads\n", work.name, median,
                kSleepMicroseconds, tsr_num_threads());
    return median <= kAllowedMicroseconds ? 0 : 1;
  }
  std::printf("usage: waiting_threads elementwise|product|convolution\n");
  return 2;
}
