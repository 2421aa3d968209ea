// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <vector>

#include "base/error.h"
#include "memory/recycled_memory.h"
#include "tensor/shared_storage.h"

namespace tsr::test_recycled_storage {
namespace {

constexpr uint64_t kSize = 100'000;

// Memory that begins anew, so that tests do not get each other's blocks.
class RecycledStorage : public ::testing::Test {
 protected:
  RecycledStorage() { drop_recycled(); }
  ~RecycledStorage() override { drop_recycled(); }
};

StoragePtr make(uint64_t nbytes = kSize) {
  return allocate_shared_storage(nbytes, ShareStrategy::kRecycled);
}

// A handle on its way: a descriptor as the receiver gets it.
int send(const StoragePtr& storage) {
  SharedMemory& memory = *shared_memory_of(*storage);
  memory.add_user();
  return dup(memory.descriptor());
}

StoragePtr receive(int descriptor, uint64_t nbytes = kSize) {
  StoragePtr storage = receive_shared_storage(descriptor, nbytes);
  close(descriptor);
  return storage;
}

SharedKey key_of(const StoragePtr& storage) {
  return shared_memory_of(*storage)->key();
}

// One block from the maker to the receiver, who are one process here.
StoragePtr passed_on(char value) {
  StoragePtr made = make();
  std::memset(made->data, value, kSize);
  const int way = send(made);
  made.reset();
  return receive(way);
}

TEST_F(RecycledStorage, D4_is_used_again_when_its_receiver_has_released_it) {
  StoragePtr first = passed_on('a');
  const SharedKey key = key_of(first);
  StoragePtr second = passed_on('b');
  EXPECT_NE(key_of(second), key);
  EXPECT_EQ(static_cast<char*>(first->data)[kSize - 1], 'a');
  const void* mapped = first->data;
  first.reset();
  const StoragePtr third = passed_on('c');
  EXPECT_EQ(key_of(third), key);
  EXPECT_EQ(third->data, mapped);  // the receiver had kept its mapping
  EXPECT_EQ(static_cast<char*>(third->data)[0], 'c');
  EXPECT_EQ(static_cast<char*>(second->data)[0], 'b');
}

TEST_F(RecycledStorage, D4_waits_for_handles_on_their_way_and_for_the_maker) {
  StoragePtr made = make();
  const SharedKey key = key_of(made);
  const int one = send(made), two = send(made);
  StoragePtr got = receive(one);
  EXPECT_EQ(got.get(), made.get());  // one storage in one process
  got.reset();
  EXPECT_NE(key_of(make()), key);
  made.reset();
  EXPECT_NE(key_of(make()), key);
  receive(two);
  const StoragePtr last = make(), first = make();  // the other block was taken later
  EXPECT_NE(key_of(last), key);
  EXPECT_EQ(key_of(first), key);
}

TEST_F(RecycledStorage, D4_fits_smaller_requests_but_not_much_smaller_ones) {
  const SharedKey key = key_of(make());
  EXPECT_NE(key_of(make(2 * kSize)), key);
  EXPECT_NE(key_of(make(kSize / 4)), key);
  EXPECT_EQ(key_of(make(kSize * 3 / 4)), key);
}

TEST_F(RecycledStorage, D4_is_not_used_again_after_a_handle_that_is_not_counted) {
  StoragePtr made = make();
  const SharedKey key = key_of(made);
  shared_memory_of(*made)->retire();
  made.reset();
  EXPECT_NE(key_of(make()), key);
}

TEST_F(RecycledStorage, D4_is_not_used_again_when_a_child_may_have_it) {
  for (const bool by_maker : {true, false}) {
    StoragePtr held = by_maker ? make() : passed_on('p');
    const SharedKey key = key_of(held);
    std::memset(held->data, 'p', kSize);
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      if (read(go[0], &byte, 1) != 1) _exit(2);
      // The parent has released its storage, and made others.
      const bool same = static_cast<const char*>(held->data)[kSize / 2] == 'p';
      // The parent's blocks are not the child's.
      const StoragePtr own = make();
      std::memset(own->data, 'x', kSize);
      held.reset();
      _exit(same && static_cast<char*>(own->data)[0] == 'x' ? 0 : 1);
    }
    held.reset();
    std::vector<StoragePtr> others;
    for (int i = 0; i < 4; ++i) {
      others.push_back(make());
      EXPECT_NE(key_of(others.back()), key);
      std::memset(others.back()->data, 'q', kSize);
    }
    ASSERT_EQ(write(go[1], "g", 1), 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    for (const StoragePtr& other : others) EXPECT_EQ(static_cast<char*>(other->data)[0], 'q');
    close(go[0]);
    close(go[1]);
  }
}

TEST_F(RecycledStorage, D4_keeps_few_blocks_whatever_the_receiver_keeps) {
  const SharedCounts before = SharedMemory::counts();
  std::vector<StoragePtr> kept;
  for (int i = 0; i < 300; ++i) {
    kept.push_back(passed_on(static_cast<char>(i)));
    EXPECT_LE(SharedMemory::counts().descriptors - before.descriptors, 65);
  }
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(static_cast<char*>(kept[i]->data)[7], static_cast<char>(i));
  kept.clear();
  make();  // looks for what the maker has given up
  EXPECT_LE(SharedMemory::counts().blocks - before.blocks, 2 * 64 + 1);
  // Blocks that nobody needs any more go in the end: two mappings of each are here.
  for (int i = 0; i < 100; ++i) passed_on('n');
  EXPECT_LE(SharedMemory::counts().blocks - before.blocks, 4);
  for (int i = 0; i < 100; ++i) make(16);
  EXPECT_LE(SharedMemory::counts().blocks - before.blocks, 2);
}

TEST_F(RecycledStorage, D4_leaves_nothing_when_it_is_dropped) {
  const SharedCounts before = SharedMemory::counts();
  StoragePtr held = passed_on('h'), made = make();
  passed_on('i');
  drop_recycled();
  EXPECT_EQ(SharedMemory::counts().blocks, before.blocks + 2);  // `held` and `made`
  EXPECT_EQ(static_cast<char*>(held->data)[0], 'h');
  held.reset();
  made.reset();
  const SharedCounts after = SharedMemory::counts();
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.nbytes, before.nbytes);
  EXPECT_EQ(after.descriptors, before.descriptors);
}

TEST_F(RecycledStorage, D4_refuses_files_without_a_mark) {
  const StoragePtr plain = allocate_shared_storage(8192, ShareStrategy::kFileDescriptor);
  const int file = dup(shared_memory_of(*plain)->descriptor());
  const auto code_of = [&](uint64_t nbytes) {
    try {
      receive_recycled(file, nbytes);
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kOk;
  };
  EXPECT_EQ(code_of(4096), Code::kValue);
  EXPECT_EQ(code_of(16384), Code::kValue);
  close(file);
}

}  // namespace
}  // namespace tsr::test_recycled_storage
