// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tensors in memory that other processes map.
#include <sys/wait.h>
#include <unistd.h>

#include "support.hpp"

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
