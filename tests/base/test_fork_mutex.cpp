// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Locks in a child process: a lock that another thread held at the fork is free in the child.
#include "base/fork_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "base/guarded_mutex.h"

namespace test_fork_mutex {

using namespace tsr;

// ThreadSanitizer asks for these options. Its default would end the child that starts a thread
// below.
extern "C" const char* __tsan_default_options();
const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "die_after_fork=0";
}

namespace {

// Runs `body` in a child; true if the child exits by itself with success.
template <class Body>
bool child_runs(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(ForkMutex, held_by_another_thread_is_free_in_the_child_and_works_there) {
  ForkMutex mutex;
  std::atomic<bool> held{false}, done{false};
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    held = true;
    while (!done) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  EXPECT_TRUE(child_runs([&] {
    mutex.lock();
    std::atomic<bool> entered{false};
    std::thread other([&] {
      const std::lock_guard lock(mutex);
      entered = true;
    });
    usleep(1000);
    if (entered) _exit(1);  // the lock works in the child
    mutex.unlock();
    other.join();
  }));
  done = true;
  holder.join();
  const std::lock_guard lock(mutex);
}

TEST(ForkMutex, excludes_and_wakes) {
  ForkMutex mutex;
  int64_t count = 0;
  std::thread threads[4];
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80000);
}

TEST(GuardedMutex, of_either_level_is_free_in_the_child) {
  static auto* const outer = new GuardedMutex(LockLevel::kOuter);
  GuardedMutex leaf;
  std::atomic<bool> stop{false};
  // The worker holds an outer lock while it makes, locks and destroys inner ones.
  std::thread worker([&] {
    while (!stop) {
      const std::lock_guard outside(*outer);
      const auto made = std::make_unique<GuardedMutex>();
      const std::lock_guard inside(leaf);
      static_cast<void>(made);
    }
  });
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(child_runs([&] {
      const std::lock_guard outside(*outer);
      const std::lock_guard inside(leaf);
      const GuardedMutex fresh;
    }));
  }
  stop = true;
  worker.join();
}

}  // namespace
}  // namespace test_fork_mutex
