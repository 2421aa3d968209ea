// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors in memory that other processes map.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "support.hpp"

namespace test_share {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Share, D6_moves_a_tensor_and_its_views) {
  Tensor whole = tensor({1.0F, 2.0F, 3.0F, 4.0F});
  const Tensor tail = whole.slice(0, 2, 4);
  EXPECT_FALSE(is_shared(whole));
  EXPECT_THROW(shared_handle(whole), MemoryAccessError);
  share_memory(whole);
  EXPECT_TRUE(is_shared(whole) && is_shared(tail));
  whole += 1;
  EXPECT_EQ(numbers(tail), (Numbers{4, 5}));
}

TEST(Share, D6_lent_memory_does_not_move) {
  Tensor whole = tensor({1.0F, 2.0F, 3.0F, 4.0F});
  {
    const MemoryLoan loan(whole.slice(0, 2, 4)), again(whole);
    EXPECT_THROW(share_memory(whole), MemoryAccessError);
  }
  share_memory(whole);
  EXPECT_TRUE(is_shared(whole));
}

TEST(Share, D6_opens_by_descriptor_and_by_name) {
  for (const ShareStrategy strategy :
       {ShareStrategy::file_descriptor, ShareStrategy::file_system}) {
    Tensor x = empty_shared({2, 3}, kFloat32, strategy);
    EXPECT_EQ(numbers(x), Numbers(6, 0.0));
    x.copy_(tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}}));
    const SharedHandle handle = shared_handle(x);
    EXPECT_EQ(handle.fd >= 0, handle.name.empty());
    EXPECT_EQ(numbers(from_shared(handle, {2, 3})), numbers(x));
    EXPECT_EQ(numbers(from_shared(handle, {3}, kFloat32, 1, std::vector<int64_t>{2})),
              (Numbers{2, 4, 6}));
    Tensor again = from_shared(handle, {6});
    again *= 2;
    EXPECT_EQ(numbers(x), (Numbers{2, 4, 6, 8, 10, 12}));
    EXPECT_THROW(from_shared(handle, {7}), ShapeError);
  }
}

// A tensor of recycled memory as a receiver gets it, who is this process; and the file behind it.
std::pair<Tensor, ino_t> passed_on(float value) {
  Tensor made = empty_shared({1000}, kFloat32, ShareStrategy::recycled);
  made.fill_(value);
  SharedHandle handle = shared_handle(made, true);
  EXPECT_TRUE(handle.recycled && handle.in_transit && handle.name.empty());
  handle.fd = dup(handle.fd);
  struct stat file = {};
  EXPECT_EQ(fstat(handle.fd, &file), 0);
  made = Tensor();
  Tensor got = from_shared(handle, {1000});
  close(handle.fd);
  return {std::move(got), file.st_ino};
}

TEST(Share, D4_recycled_memory_is_filled_again_when_its_receiver_has_released_it) {
  const int64_t before = shared_memory_counts().blocks;
  std::pair<Tensor, ino_t> first = passed_on(1), second = passed_on(2);
  EXPECT_NE(first.second, second.second);
  EXPECT_EQ(sum(first.first).item<double>(), 1000);
  first.first = Tensor();
  const std::pair<Tensor, ino_t> third = passed_on(3);
  EXPECT_EQ(third.second, first.second);
  EXPECT_EQ(sum(second.first).item<double>(), 2000);
  EXPECT_EQ(sum(third.first).item<double>(), 3000);
  EXPECT_GT(shared_memory_counts().blocks, before);
  EXPECT_FALSE(shared_handle(empty_shared({4})).recycled);
  EXPECT_EQ(ipc_collect(), 0);  // what is kept for the next tensor
}

TEST(Share, D4_recycled_memory_ends_with_a_handle_that_is_not_counted) {
  Tensor x = tensor({1.0F, 2.0F});
  share_memory(x, ShareStrategy::recycled);
  const SharedHandle handle = shared_handle(x);
  EXPECT_FALSE(handle.recycled || handle.in_transit);
  EXPECT_EQ(numbers(from_shared(handle, {2})), (Numbers{1, 2}));
  EXPECT_EQ(ipc_collect(), 0);
}

TEST(Share, D6_a_child_writes_what_its_parent_reads) {
  Tensor x = empty_shared({3});
  const pid_t child = fork();
  if (child == 0) {
    x += 5;
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(numbers(x), (Numbers{5, 5, 5}));
}

TEST(Share, D7_memory_of_devices_needs_a_device_that_shows_it) {
  EXPECT_THROW(ipc_export(tensor({1.0F})), NotSupportedError);
  EXPECT_THROW(ipc_open("no handle", {1}), InvalidValueError);
  EXPECT_EQ(ipc_collect(), 0);
}

}  // namespace
}  // namespace test_share
