// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The text of an error record. Without memory: tests/capi/programs/exhausted_heap.c.
#include "base/kept_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace test_kept_text {

using namespace tsr;

namespace {

TEST(KeptText, joins_pieces_and_ends_with_nul) {
  KeptText text;
  EXPECT_EQ(text.view(), "");
  EXPECT_FALSE(text.owns_memory());
  EXPECT_TRUE(text.assign({"tsr_add", ": ", "expected"}));
  EXPECT_EQ(text.view(), "tsr_add: expected");
  EXPECT_EQ(text.view().data()[text.view().size()], '\0');
  EXPECT_TRUE(text.assign({""}));
  EXPECT_EQ(text.view(), "");
  EXPECT_TRUE(text.assign({"a", std::string_view(), "b"}));  // a text of the host may be NULL
  EXPECT_EQ(text.view(), "ab");
  text.clear();
  EXPECT_FALSE(text.owns_memory());
}

TEST(KeptText, grows_and_may_be_made_of_itself) {
  KeptText text;
  text.assign({"0123456789"});
  text.assign({text.view().substr(3)});
  EXPECT_EQ(text.view(), "3456789");
  const std::string tail(5000, 'x');
  text.assign({text.view(), tail});
  EXPECT_EQ(text.view(), "3456789" + tail);
  text.clear();
}

TEST(KeptText, takes_literals_and_goes_on_with_texts) {
  KeptText text;
  text.assign({std::string(100, 'a')});
  text.assign_literal("out of memory");
  EXPECT_EQ(text.view(), "out of memory");
  EXPECT_FALSE(text.owns_memory());
  text.assign({"again"});
  EXPECT_EQ(text.view(), "again");
  text.clear();
}

}  // namespace
}  // namespace test_kept_text
