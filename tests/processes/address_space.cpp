// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functions that call other libraries, each for the first time in a process that may map little
// more memory: they succeed or report OUT_OF_MEMORY; they never hang or crash.
// Usage: address_space <what> <threads>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tessera/tessera.h"

namespace {

constexpr unsigned kSeconds = 60;

void need(tsr_status status, const char* what) {
  if (status == TSR_OK) return;
  std::printf("%s: status %d\n", what, status);
  std::fflush(stdout);
  _exit(3);
}

tsr_tensor ones(std::vector<int64_t> shape, tsr_dtype dtype = TSR_FLOAT32) {
  tsr_tensor tensor = nullptr;
  need(tsr_ones(shape.data(), static_cast<int32_t>(shape.size()), dtype, -1, -1, &tensor),
       "tsr_ones");
  return tensor;
}

const int64_t kOne[] = {1, 1, 1};
const int64_t kZero[] = {0, 0, 0};

// Each function makes its operands first and then waits for the limit.
struct Work {
  const char* name;
  tsr_tensor (*left)();
  tsr_tensor (*right)();
  tsr_status (*run)(tsr_tensor, tsr_tensor, tsr_tensor*);
};
constexpr Work kWorks[] = {
    {"matmul",
     [] {
       return ones({64, 64});
     },
     [] {
       return ones({64, 64});
     },
     tsr_matmul},
    {"large_matmul",
     [] {
       return ones({300, 300});
     },
     [] {
       return ones({300, 300});
     },
     tsr_matmul},
    {"matrix_vector",
     [] {
       return ones({400, 300});
     },
     [] { return ones({300}); }, tsr_matmul},
    {"dot", [] { return ones({5000}); }, [] { return ones({5000}); }, tsr_dot},
    {"linear",
     [] {
       return ones({32, 64});
     },
     [] {
       return ones({16, 64});
     },
     [](tsr_tensor x, tsr_tensor w, tsr_tensor* y) { return tsr_linear(x, w, nullptr, y); }},
    {"conv2d",
     [] {
       return ones({1, 3, 16, 16});
     },
     [] {
       return ones({4, 3, 3, 3});
     },
     [](tsr_tensor x, tsr_tensor w, tsr_tensor* y) {
       return tsr_conv2d(x, w, nullptr, kOne, 2, kZero, 2, kOne, 2, 1, 0, y);
     }},
    {"conv_transpose2d",
     [] {
       return ones({1, 3, 16, 16});
     },
     [] {
       return ones({3, 4, 3, 3});
     },
     [](tsr_tensor x, tsr_tensor w, tsr_tensor* y) {
       return tsr_conv_transpose2d(x, w, nullptr, kOne, 2, kZero, 2, kZero, 2, 1, kOne, 2, y);
     }},
    {"conv3d_float64",
     [] {
       return ones({1, 3, 8, 8, 8}, TSR_FLOAT64);
     },
     [] {
       return ones({4, 3, 3, 3, 3}, TSR_FLOAT64);
     },
     [](tsr_tensor x, tsr_tensor w, tsr_tensor* y) {
       return tsr_conv3d(x, w, nullptr, kOne, 3, kZero, 3, kOne, 3, 1, 0, y);
     }},
};

void limit_address_space(long mebibytes) {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) _exit(4);
  std::fclose(file);
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + mebibytes * (1L << 20));
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(5);
}

// Runs in a child, because the limit and the loaded libraries belong to the process.
int try_with(const Work& work, int threads, long mebibytes) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    need(tsr_set_num_threads(threads), "tsr_set_num_threads");
    const tsr_tensor left = work.left(), right = work.right();
    tsr_tensor result = nullptr;
    limit_address_space(mebibytes);
    const tsr_status status = work.run(left, right, &result);
    _exit(status == TSR_OK ? 0 : status == TSR_OUT_OF_MEMORY ? 1 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool fine = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
  std::printf("%s, %d threads, +%ld MiB: %s %d\n", work.name, threads, mebibytes,
              WIFEXITED(status) ? "exit" : strsignal(WTERMSIG(status)),
              WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return fine ? WEXITSTATUS(status) : -1;
}

}  // namespace

int main(int count, char** arguments) {
  for (const Work& work : kWorks) {
    if (count != 3 || std::strcmp(arguments[1], work.name) != 0) continue;
    const int threads = std::atoi(arguments[2]);
    int bad = 0;
    for (const long limit : {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200, 320, 450}) {
      bad += try_with(work, threads, limit) < 0 ? 1 : 0;
    }
    // With enough memory the same work must succeed.
    if (try_with(work, threads, 8192) != 0) ++bad;
    return bad == 0 ? 0 : 1;
  }
  std::printf("usage: address_space <what> <threads>\n");
  return 2;
}
