// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Copies of JSON values when memory ends in the middle of one.
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "support/failing_allocations.h"
#include "support/failing_new.h"

namespace tsr::test::test_json_memory {
namespace {

TEST(Json, a_copy_without_memory_leaves_nothing_behind) {
  const std::string text(40, 'x');  // too long to lie inside the string
  const Json tree = {{"text", text}, {"list", Json::Array{1, text, Json::Array{text, nullptr}}}};
  const int64_t objects = live_new();
  const int64_t failures = fail_each_allocation([&] {
    const FailingNew armed;
    Json copy = tree;
    Json assigned = text;
    assigned = tree;
    const Json list = {{"tree", tree}, {"number", 1}};
    assigned["list"][0] = tree["list"];
    copy = copy["list"];  // of a part of itself
    EXPECT_EQ(copy, tree["list"]);
    EXPECT_EQ(list["tree"], tree);
  });
  EXPECT_GT(failures, 10);
  EXPECT_EQ(live_new(), objects);
}

}  // namespace
}  // namespace tsr::test::test_json_memory
