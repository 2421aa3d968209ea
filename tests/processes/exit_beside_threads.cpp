// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Processes that end by exit() while their threads compute products and convolutions. The libraries
// below end too, and must not free memory that a thread still uses.
// Usage: exit_beside_threads <runs>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tessera/tessera.h"

namespace {

tsr_tensor g_kept = nullptr;

tsr_tensor ones(const int64_t* shape, int32_t rank) {
  tsr_tensor tensor = nullptr;
  if (tsr_ones(shape, rank, TSR_FLOAT32, -1, -1, &tensor) != TSR_OK) _exit(3);
  return tensor;
}

// After its first call no thread waits; until then the libraries are still being loaded.
std::atomic<int> g_threads_inside{0};
void note_a_call() {
  static thread_local bool noted = false;
  if (!noted) ++g_threads_inside;
  noted = true;
}

// A call may fail because the process is ending; the thread then ends.
void multiply() {
  const int64_t shape[] = {400, 400};
  const tsr_tensor x = ones(shape, 2);
  tsr_tensor y = nullptr;
  for (; tsr_matmul(x, x, &y) == TSR_OK; note_a_call()) tsr_tensor_release(y);
}

void convolve() {
  const int64_t image[] = {2, 8, 24, 24}, filter[] = {8, 8, 3, 3}, one[] = {1, 1}, none[] = {0, 0};
  const tsr_tensor x = ones(image, 4), w = ones(filter, 4);
  tsr_tensor y = nullptr;
  for (; tsr_conv2d(x, w, nullptr, one, 2, none, 2, one, 2, 1, 0, &y) == TSR_OK; note_a_call())
    tsr_tensor_release(y);
}

// The thread that ends the process may still compute, in an exit handler and in a destructor.
void compute_at_the_end() {
  tsr_tensor y = nullptr;
  if (tsr_matmul(g_kept, g_kept, &y) != TSR_OK) _exit(4);
  tsr_tensor_release(y);
}
[[gnu::destructor]] void compute_after_everything() {
  if (g_kept != nullptr) compute_at_the_end();
}

[[noreturn]] void child(int run) {
  alarm(60);
  const int64_t shape[] = {300, 300};
  g_kept = ones(shape, 2);
  std::atexit(compute_at_the_end);
  for (int i = 0; i < 3; ++i) std::thread(multiply).detach();
  std::thread(convolve).detach();
  while (g_threads_inside < 4) usleep(1000);
  usleep(static_cast<useconds_t>(run % 20 * 1000));
  std::exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  const int runs = count == 2 ? std::atoi(arguments[1]) : 60;
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // a child must not print buffered text again
  int bad = 0;
  for (int run = 0; run < runs; ++run) {
    const pid_t process = fork();
    if (process == 0) child(run);
    int status = 0;
    waitpid(process, &status, 0);
    if (status == 0) continue;
    ++bad;
    std::printf("run %d: %s %d\n", run, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  std::printf("%d of %d runs ended badly\n", bad, runs);
  return bad == 0 ? 0 : 1;
}
