// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/shared_storage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace tsr::test_shared_storage {
namespace {

constexpr ShareStrategy kBoth[] = {ShareStrategy::kFileDescriptor, ShareStrategy::kFileSystem};

Tensor counted(int64_t n) {
  Tensor made = empty(std::vector<int64_t>{n}, DType::kFloat32);
  for (int64_t i = 0; i < n; ++i) made.data_as<float>()[i] = static_cast<float>(i);
  return made;
}

Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

bool exists(const std::string& name) {
  return std::filesystem::exists("/dev/shm" + name);
}

// Runs `work` in a child and returns its exit status.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(SharedStorage, D6_moves_elements_and_all_views_in_place) {
  for (const ShareStrategy strategy : kBoth) {
    const Tensor whole = counted(8);
    const Tensor part = make_view(whole, std::vector<int64_t>{2}, std::vector<int64_t>{3}, 1);
    const void* before = whole.data();
    share_storage(*whole.storage(), strategy);
    EXPECT_NE(whole.data(), before);
    EXPECT_EQ(static_cast<const float*>(before)[7], 7.0F);  // what was given out stays readable
    EXPECT_EQ(part.data_as<float>()[3], 4.0F);
    whole.data_as<float>()[4] = 40.0F;
    EXPECT_EQ(part.data_as<float>()[3], 40.0F);
    const void* shared = whole.data();
    share_storage(*whole.storage(), strategy);
    EXPECT_EQ(whole.data(), shared);  // a second time does nothing
    EXPECT_NE(shared_memory_of(*whole.storage()), nullptr);
  }
}

TEST(SharedStorage, D6_is_one_storage_however_often_it_arrives) {
  const SharedCounts before = SharedMemory::counts();
  {
    const Tensor x = counted(4);
    share_storage(*x.storage(), ShareStrategy::kFileDescriptor);
    SharedMemory& memory = *shared_memory_of(*x.storage());
    const int copy = dup(memory.descriptor());
    const StoragePtr again = open_shared_storage(copy, 16, true);
    close(copy);
    EXPECT_EQ(again.get(), x.storage().get());
    EXPECT_EQ(SharedMemory::counts().blocks, before.blocks + 1);
  }
  const Tensor y = counted(4);
  share_storage(*y.storage(), ShareStrategy::kFileSystem);
  const std::string name = shared_memory_of(*y.storage())->name();
  EXPECT_EQ(open_shared_storage(name, 16).get(), y.storage().get());
  EXPECT_TRUE(exists(name));
}

TEST(SharedStorage, D6_leaves_nothing_when_the_last_reference_goes) {
  const SharedCounts before = SharedMemory::counts();
  for (const ShareStrategy strategy : kBoth) {
    StoragePtr storage = allocate_shared_storage(1 << 20, strategy);
    const std::string name = shared_memory_of(*storage)->name();
    EXPECT_EQ(!name.empty() && exists(name), strategy == ShareStrategy::kFileSystem);
    storage.reset();
    EXPECT_TRUE(name.empty() || !exists(name));
  }
  const SharedCounts after = SharedMemory::counts();
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.nbytes, before.nbytes);
  EXPECT_EQ(after.descriptors, before.descriptors);
}

TEST(SharedStorage, D6_is_written_by_a_child_and_read_by_its_parent) {
  for (const ShareStrategy strategy : kBoth) {
    const Tensor x = counted(4);
    share_storage(*x.storage(), strategy);
    EXPECT_EQ(in_child([&] {
                x.data_as<float>()[2] = 20.0F;
                return 7;
              }),
              7);
    EXPECT_EQ(x.data_as<float>()[2], 20.0F);
    // The child's end did not count its parent out.
    const std::string name = shared_memory_of(*x.storage())->name();
    EXPECT_TRUE(name.empty() || exists(name));
  }
}

// Another process, which has inherited nothing, opens by name; here a child that dropped its copy.
TEST(SharedStorage, D6_a_handle_in_transit_keeps_a_name_alive) {
  StoragePtr storage = allocate_shared_storage(64, ShareStrategy::kFileSystem);
  static_cast<float*>(storage->data)[0] = 5.0F;
  const std::string name = shared_memory_of(*storage)->name();
  shared_memory_of(*storage)->add_user();
  storage.reset();
  EXPECT_TRUE(exists(name));
  StoragePtr opened = open_shared_storage(name, 64);
  shared_memory_of(*opened)->remove_user();
  EXPECT_EQ(static_cast<float*>(opened->data)[0], 5.0F);
  EXPECT_TRUE(exists(name));
  opened.reset();
  EXPECT_FALSE(exists(name));
  EXPECT_EQ(code_of([&] { open_shared_storage(name, 64); }), Code::kIo);
}

TEST(SharedStorage, D6_names_of_a_killed_process_are_removed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const StoragePtr storage = allocate_shared_storage(4096, ShareStrategy::kFileSystem);
    const std::string name = shared_memory_of(*storage)->name();
    if (write(ends[1], name.c_str(), name.size()) < 0) _exit(1);
    for (;;) pause();
  }
  char text[128] = {};
  const ssize_t length = read(ends[0], text, sizeof(text) - 1);
  ASSERT_GT(length, 0);
  const std::string name(text, static_cast<size_t>(length));
  EXPECT_TRUE(exists(name));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(soon([&] { return !exists(name); }));
}

TEST(SharedStorage, D6_the_host_never_waits_for_the_keeper) {
  EXPECT_EQ(in_child([] {
              const StoragePtr storage = allocate_shared_storage(8, ShareStrategy::kFileSystem);
              return waitpid(-1, nullptr, 0) == -1 && errno == ECHILD ? 0 : 1;
            }),
            0);
}

TEST(SharedStorage, D6_five_thousand_tensors_need_few_descriptors) {
  EXPECT_EQ(in_child([] {
              const rlimit limit{256, 256};
              if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
              std::vector<StoragePtr> all;
              for (int i = 0; i < 5000; ++i) {
                all.push_back(allocate_shared_storage(64, ShareStrategy::kFileDescriptor));
                static_cast<int*>(all.back()->data)[0] = i;
              }
              if (SharedMemory::counts().descriptors > 64) return 2;
              for (int i = 0; i < 5000; ++i) {  // and each can be sent
                SharedMemory& memory = *shared_memory_of(*all[static_cast<size_t>(i)]);
                if (memory.name().empty() ? memory.descriptor() < 0 : !exists(memory.name()))
                  return 3;
                if (static_cast<int*>(memory.data())[0] != i) return 4;
              }
              return 0;
            }),
            0);
}

TEST(SharedStorage, D6_foreign_files_open_with_what_they_allow) {
  const int file = memfd_create("foreign", 0);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  EXPECT_EQ(code_of([&] { open_shared_storage(file, 8192, true); }), Code::kValue);
  EXPECT_FALSE(open_shared_storage(file, 4096, true)->read_only);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const int reading = open(path.c_str(), O_RDONLY);
  EXPECT_TRUE(open_shared_storage(reading, 4096, true)->read_only);
  close(reading);
  close(file);
  EXPECT_EQ(code_of([&] { open_shared_storage(file, 16, true); }), Code::kIo);
  EXPECT_EQ(code_of([] { open_shared_storage("/etc/passwd", 16); }), Code::kValue);
  EXPECT_EQ(code_of([] { open_shared_storage("/tessera-1-2-3-4", 16); }), Code::kIo);
}

TEST(SharedStorage, D6_no_other_process_can_shrink_the_memory) {
  const StoragePtr storage = allocate_shared_storage(8192, ShareStrategy::kFileDescriptor);
  EXPECT_NE(ftruncate(shared_memory_of(*storage)->descriptor(), 0), 0);
}

// One thread drops the last reference while the other opens the memory anew: each gets a storage
// that lives, and in the end nothing is left.
TEST(SharedStorage, D6_opening_races_with_the_last_release) {
  const int64_t before = SharedMemory::counts().blocks;
  const int file = memfd_create("raced", 0);
  ASSERT_EQ(ftruncate(file, 64), 0);
  std::atomic<int> wrong{0};
  const auto work = [&] {
    for (int i = 0; i < 20000; ++i) {
      const StoragePtr storage = open_shared_storage(file, 64, false);
      if (storage->nbytes != 64 || static_cast<std::atomic<int>*>(storage->data)->load() < 0)
        ++wrong;
    }
  };
  std::thread other(work);
  work();
  other.join();
  close(file);
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(SharedMemory::counts().blocks, before);
}

}  // namespace
}  // namespace tsr::test_shared_storage
