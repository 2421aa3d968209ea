// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups whose bookkeeping finds no memory.
#include <new>
#include <vector>

#include "dist/collectives.h"
#include "support/failing_allocations.h"
#include "support/failing_new.h"
#include "support/start_up.h"

namespace tsr::dist::test::test_failed_groups {
namespace {

using tsr::test::fail_each_allocation;
using tsr::test::FailingNew;
using tsr::test::live_new;

// Allocations of `work` may fail. A transport takes the test's error for one of its own.
template <class Work>
void with_failures(const Work& work) {
  const FailingNew armed;
  try {
    work();
  } catch (const Error&) {
    throw std::bad_alloc();
  }
}

GroupPtr alone() {
  GroupOptions options;
  options.rank = 0;
  options.size = 1;
  options.address = "a name that is longer than a short text";
  return Group::init("threads", options);
}

TEST(FailedGroups, a_group_that_cannot_begin_leaves_nothing_behind) {
  tsr::testing::start_up();
  const auto begin = [] {
    alone();  // takes the name that a start without memory has left
    with_failures([] { alone(); });
  };
  begin();
  const int64_t before = live_new();
  EXPECT_GT(fail_each_allocation(begin), 3);
  EXPECT_EQ(live_new(), before);
}

TEST(FailedGroups, operations_that_nobody_waits_for_stay_whole) {
  tsr::testing::start_up();
  const GroupPtr other = alone();
  const Tensor data = empty(Dims{2}, DType::kFloat32);
  const auto drop = [&] {
    const std::vector<GroupPtr> groups = Group::threads(2);
    for (int i = 0; i < 5; ++i) groups[0]->recv(data, 1);
    groups[0]->abort("all end together");
    // Looks through the list of dropped operations.
    with_failures([&] { other->barrier()->wait(); });
  };
  EXPECT_GT(fail_each_allocation(drop), 3);
}

}  // namespace
}  // namespace tsr::dist::test::test_failed_groups
