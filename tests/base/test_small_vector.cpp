// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tsr::test_small_vector {
namespace {

using Words = SmallVector<std::string, 2>;

TEST(SmallVector, keeps_its_elements_when_it_leaves_the_inline_space) {
  Words words;
  for (int i = 0; i < 20; ++i) words.push_back(std::to_string(i));
  ASSERT_EQ(words.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(words[static_cast<size_t>(i)], std::to_string(i));
}

TEST(SmallVector, a_move_empties_the_source_inline_and_on_the_heap) {
  for (const size_t count : {1U, 7U}) {
    Words source(count, "long enough to live on the heap of its own");
    const Words target(std::move(source));
    EXPECT_EQ(target.size(), count);
    EXPECT_TRUE(source.empty());  // the moved-from state is guaranteed
    source.push_back("again");
    EXPECT_EQ(source.back(), "again");
  }
}

TEST(SmallVector, assignment_between_all_sizes_copies_and_moves) {
  for (const size_t from : {0U, 1U, 2U, 5U}) {
    for (const size_t to : {0U, 1U, 2U, 5U}) {
      const Words source(from, "value");
      Words copied(to, "old");
      copied = source;
      EXPECT_EQ(copied, source);
      Words moved(to, "old");
      moved = Words(source);
      EXPECT_EQ(moved, source);
    }
  }
}

TEST(SmallVector, insert_and_erase_keep_the_order) {
  Dims dims{1, 2, 3};
  dims.insert(0, 9);
  dims.insert(4, 8);
  EXPECT_EQ(dims, (Dims{9, 1, 2, 3, 8}));
  dims.erase(1);
  EXPECT_EQ(dims, (Dims{9, 2, 3, 8}));
}

TEST(SmallVector, destroys_each_element_once) {
  auto counted = std::make_shared<int>(0);
  {
    SmallVector<std::shared_ptr<int>, 2> owners(5, counted);
    EXPECT_EQ(counted.use_count(), 6);
    owners.pop_back();
    EXPECT_EQ(counted.use_count(), 5);
    SmallVector<std::shared_ptr<int>, 2> moved(std::move(owners));
    EXPECT_EQ(counted.use_count(), 5);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace tsr::test_small_vector
