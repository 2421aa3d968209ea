// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/summary.h"

#include <gtest/gtest.h>

#include "profile/made_profile.h"

namespace tsr::profile::test_summary {
namespace {

using test::example_profile;

const Row& row(const Summary& summary, std::string_view name, std::string_view shapes = "") {
  for (const Row& each : summary.rows) {
    if (each.name == name && each.shapes == shapes) return each;
  }
  ADD_FAILURE() << "no row " << name << " " << shapes;
  static const Row none;
  return none;
}

TEST(Summary, R11_self_and_total_times_follow_the_nesting) {
  const auto made = example_profile();
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kSelf, {});
  EXPECT_EQ(row(summary, "step").total_time, 1000);
  EXPECT_EQ(row(summary, "step").self_time, 1000 - 300 - 400);
  EXPECT_EQ(row(summary, "conv2d").count, 2);
  EXPECT_EQ(row(summary, "conv2d").total_time, 400);
  EXPECT_EQ(row(summary, "conv2d").self_time, 400);  // its kernel is its own work
  EXPECT_EQ(row(summary, "backward").self_time, 200);
  EXPECT_EQ(row(summary, "ConvBackward").self_time, 200);
  EXPECT_EQ(summary.host_time, 1100);
  EXPECT_EQ(summary.device_time, 290);
  ASSERT_EQ(summary.rows.size(), 4U);  // no row for kernels
  EXPECT_EQ(summary.rows[0].name, "conv2d");
}

TEST(Summary, R11_costs_and_device_time_reach_all_that_is_around_a_kernel) {
  const auto made = example_profile();
  const std::vector<Roof> roofs = {{Device{}, 1e9, 40e9}, {{DeviceType::kSimulated, 0}, 5e9, 1e9}};
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kFlops, roofs);
  EXPECT_EQ(summary.rows[0].name, "step");
  EXPECT_EQ(row(summary, "step").cost.flops, 5000);
  EXPECT_EQ(row(summary, "step").cost.bytes, 700);
  EXPECT_EQ(row(summary, "conv2d").cost.flops, 4000);
  EXPECT_EQ(row(summary, "conv2d").kernel_time, 200);
  EXPECT_DOUBLE_EQ(row(summary, "conv2d").floor_time, 200);  // 200 bytes at 1 byte a nanosecond
  EXPECT_EQ(row(summary, "ConvBackward").device_time, 290);
  EXPECT_EQ(row(summary, "ConvBackward").kernel_time, 290);
  EXPECT_DOUBLE_EQ(row(summary, "ConvBackward").floor_time,
                   1000);  // 1000 operations at 1 a nanosecond
  EXPECT_EQ(row(summary, "step").device_time, 290);
  EXPECT_EQ(row(summary, "conv2d").device_time, 0);
}

TEST(Summary, R11_rows_of_shapes_and_of_kernels) {
  const auto made = example_profile();
  const Summary shapes = summarize(made.profile, Group::kOpsShapes, SortBy::kCount, {});
  EXPECT_EQ(row(shapes, "conv2d", "[[8,3],[4,3]]").total_time, 300);
  EXPECT_EQ(row(shapes, "conv2d", "[[1,3],[4,3]]").total_time, 100);
  const Summary kernels = summarize(made.profile, Group::kKernels, SortBy::kTotal, {});
  ASSERT_EQ(kernels.rows.size(), 2U);  // the launch of a device's kernel is no kernel
  EXPECT_EQ(kernels.rows[0].name, "conv_kernel");
  EXPECT_EQ(kernels.rows[0].cost.flops, 1000);
  EXPECT_EQ(kernels.rows[1].name, "conv");
  EXPECT_EQ(kernels.rows[1].total_time, 200);
}

TEST(Summary, memory_belongs_to_the_innermost_operation) {
  const auto made = example_profile();
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kName, {});
  EXPECT_EQ(row(summary, "conv2d").allocated, 4096);
  EXPECT_EQ(row(summary, "ConvBackward").allocated, -96);
  EXPECT_EQ(row(summary, "step").allocated, 0);
}

TEST(Summary, a_row_inside_itself_counts_its_time_once) {
  test::Made made;
  made.add(TraceKind::kAnnotation, "layer", 0, 100);
  made.add(TraceKind::kAnnotation, "layer", 20, 60);
  auto& kernel = made.add(TraceKind::kLaunch, "exp", 30, 40);
  kernel.cost = {10, 10};
  kernel.family = "unary";
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kSelf, {});
  ASSERT_EQ(summary.rows.size(), 1U);
  EXPECT_EQ(summary.rows[0].count, 2);
  EXPECT_EQ(summary.rows[0].total_time, 100);
  EXPECT_EQ(summary.rows[0].self_time, 100);
  EXPECT_EQ(summary.rows[0].cost.flops, 10);
}

// Two ranges that overlap, and work after the end of the first one.
TEST(Summary, R11_a_range_counts_nothing_that_comes_after_its_end) {
  test::Made made;
  made.add(TraceKind::kAnnotation, "first", 0, 50);
  made.add(TraceKind::kAnnotation, "second", 20, 100);
  made.add(TraceKind::kCall, "exp", 60, 80);
  auto& kernel = made.add(TraceKind::kLaunch, "exp", 65, 75);
  kernel.cost = {10, 20};
  kernel.family = "unary";
  made.add(TraceKind::kAllocate, "memory", 90, 90).value = 64;
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kSelf, {});
  EXPECT_EQ(row(summary, "first").cost.flops, 0);
  EXPECT_EQ(row(summary, "first").kernel_time, 0);
  EXPECT_EQ(row(summary, "first").self_time, 20);
  EXPECT_EQ(row(summary, "first").total_time, 50);
  EXPECT_EQ(row(summary, "second").cost.flops, 10);
  EXPECT_EQ(row(summary, "second").self_time, 60);
  EXPECT_EQ(row(summary, "second").total_time, 80);
  EXPECT_EQ(row(summary, "second").allocated, 64);
  EXPECT_EQ(row(summary, "exp").kernel_time, 10);
  EXPECT_EQ(summary.host_time, 100);
}

TEST(Summary, ranges_of_one_row_that_overlap_count_their_time_and_work_once) {
  test::Made made;
  made.add(TraceKind::kAnnotation, "step", 0, 50);
  made.add(TraceKind::kAnnotation, "step", 20, 100);
  auto& kernel = made.add(TraceKind::kLaunch, "exp", 60, 70);
  kernel.cost = {10, 20};
  kernel.family = "unary";
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kSelf, {});
  ASSERT_EQ(summary.rows.size(), 1U);
  EXPECT_EQ(summary.rows[0].total_time, 100);
  EXPECT_EQ(summary.rows[0].self_time, 100);
  EXPECT_EQ(summary.rows[0].cost.flops, 10);
}

// A range that ends inside the call that it is around.
TEST(Summary, time_after_the_end_of_a_range_is_not_that_of_the_range_around_it) {
  test::Made made;
  made.add(TraceKind::kAnnotation, "outer", 0, 100);
  made.add(TraceKind::kAnnotation, "inner", 20, 50);
  made.add(TraceKind::kCall, "exp", 40, 80);
  const Summary summary = summarize(made.profile, Group::kOps, SortBy::kSelf, {});
  EXPECT_EQ(row(summary, "outer").self_time, 40);
  EXPECT_EQ(row(summary, "inner").self_time, 20);
  EXPECT_EQ(row(summary, "exp").self_time, 40);
  EXPECT_EQ(summary.host_time, 100);
}

TEST(Summary, R11_table_has_the_numbers_and_leaves_empty_columns_out) {
  auto made = example_profile();
  const std::vector<Roof> roofs = {{Device{}, 1e9, 40e9}};
  const std::string text =
      table_text(summarize(made.profile, Group::kOps, SortBy::kSelf, roofs), 2);
  EXPECT_NE(text.find("Self %"), std::string::npos);
  EXPECT_NE(text.find("Of roof"), std::string::npos);
  EXPECT_NE(text.find("conv2d   36.4%  400 ns    36.4%   400 ns   200 ns      2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("... and 2 more rows"), std::string::npos);
  EXPECT_NE(text.find("Host time: 1.10 us"), std::string::npos);
  made.profile.activities.clear();
  for (Event& event : made.profile.events) event.cost = {};
  const std::string plain = table_text(summarize(made.profile, Group::kOps, SortBy::kSelf, {}), 0);
  EXPECT_EQ(plain.find("GFLOP"), std::string::npos);
  EXPECT_EQ(plain.find("Device"), std::string::npos);
}

// A name is cut between two characters, and columns are as wide as what is seen.
TEST(Summary, R11_table_counts_characters) {
  test::Made made;
  made.profile.end = 100;
  std::string name;
  for (int i = 0; i < 50; ++i) name += "\u00e9";
  made.add(TraceKind::kAnnotation, name.c_str(), 0, 100);
  made.add(TraceKind::kAnnotation, "\u00e9x", 10, 20);
  const std::string text = table_text(summarize(made.profile, Group::kOps, SortBy::kSelf, {}), 0);
  EXPECT_NE(text.find(name.substr(0, 2 * 39) + "...  "), std::string::npos) << text;
  EXPECT_NE(text.find("\n\u00e9x" + std::string(42 - 2 + 2, ' ')), std::string::npos) << text;
}

}  // namespace
}  // namespace tsr::profile::test_summary
