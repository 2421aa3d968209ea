// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace tsr::test_layout {
namespace {

template <class Fn>
Code code_of(Fn fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

// Element offsets in row-major order of the indices.
std::vector<int64_t> offsets(DimsView sizes, DimsView strides) {
  std::vector<int64_t> out{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t base : out) {
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    }
    out = std::move(next);
  }
  return out;
}

TEST(Layout, numel_refuses_negative_sizes_overflow_and_rank_65) {
  EXPECT_EQ(checked_numel(Dims{2, 3}, 4), 6);
  EXPECT_EQ(checked_numel(Dims{}, 8), 1);
  EXPECT_EQ(code_of([] { checked_numel(Dims{2, -1}, 4); }), Code::kShape);
  EXPECT_EQ(code_of([] { checked_numel(Dims{INT64_MAX, 2}, 1); }), Code::kShape);
  EXPECT_EQ(code_of([] { checked_numel(Dims{INT64_MAX / 2, 4, 0}, 1); }), Code::kShape);
  EXPECT_EQ(code_of([] { checked_numel(Dims(65, 1), 1); }), Code::kShape);
}

TEST(Layout, empty_shapes_have_the_strides_of_size_one) {
  EXPECT_EQ(contiguous_strides(Dims{0, 3}), (Dims{3, 1}));
  EXPECT_EQ(contiguous_strides(Dims{2, 0, 3}), (Dims{3, 3, 1}));
}

TEST(Layout, contiguity_ignores_dims_of_size_one) {
  EXPECT_TRUE(is_contiguous(Dims{2, 1, 3}, Dims{3, 77, 1}));
  EXPECT_FALSE(is_contiguous(Dims{2, 3}, Dims{1, 2}));
  EXPECT_TRUE(is_dense(Dims{2, 3}, Dims{1, 2}));
  EXPECT_FALSE(is_dense(Dims{2, 3}, Dims{1, 3}));
}

TEST(Layout, tensor_without_elements_is_contiguous) {
  EXPECT_TRUE(is_contiguous(Dims{0, 3, 2}, Dims{6, 1, 3}));
  EXPECT_TRUE(is_contiguous(Dims{2, 0, 3}, Dims{1, 6, 2}));
  EXPECT_TRUE(is_contiguous(Dims{3, 0}, Dims{1, 3}));
  EXPECT_FALSE(is_contiguous(Dims{3, 2}, Dims{1, 3}));
}

TEST(Layout, overlap_is_found_and_gaps_are_not_overlap) {
  EXPECT_TRUE(may_overlap_itself(Dims{3, 2}, Dims{0, 1}));
  EXPECT_TRUE(may_overlap_itself(Dims{3, 2}, Dims{1, 1}));
  EXPECT_FALSE(may_overlap_itself(Dims{3, 2}, Dims{4, 2}));
  EXPECT_FALSE(may_overlap_itself(Dims{3, 2}, Dims{-2, 1}));
  EXPECT_FALSE(may_overlap_itself(Dims{1, 2}, Dims{0, 1}));
  EXPECT_FALSE(may_overlap_itself(Dims{3, 0}, Dims{0, 1}));
}

TEST(Layout, extent_spans_negative_strides) {
  const Extent extent = extent_of(Dims{3, 2}, Dims{-4, 1});
  EXPECT_EQ(extent.low, -8);
  EXPECT_EQ(extent.high, 2);
}

TEST(Layout, axes_wrap_and_name_their_range) {
  EXPECT_EQ(wrap_axis(-1, 3), 2);
  EXPECT_EQ(wrap_axis(-1, 0), 0);
  EXPECT_EQ(code_of([] { wrap_axis(3, 3); }), Code::kIndex);
  EXPECT_EQ(code_of([] { wrap_axis(INT64_MIN, 3); }), Code::kIndex);
  EXPECT_EQ(wrap_axes(Dims{-1, 0}, 3), (Dims{2, 0}));
  EXPECT_EQ(code_of([] { wrap_axes(Dims{0, -3}, 3); }), Code::kValue);
}

TEST(Layout, broadcasting_stretches_ones_and_names_what_differs) {
  EXPECT_EQ(broadcast_shapes(Dims{2, 1}, Dims{3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast_shapes(Dims{1}, Dims{0}), (Dims{0}));
  EXPECT_EQ(broadcast_strides(Dims{2, 1}, Dims{1, 1}, Dims{4, 2, 3}), (Dims{0, 1, 0}));
  try {
    broadcast_shapes(Dims{2, 3}, Dims{2, 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("[2, 3] and [2, 4]"), std::string::npos) << error.message();
  }
}

TEST(Layout, one_unknown_size_is_inferred) {
  EXPECT_EQ(infer_shape(Dims{2, -1}, 6), (Dims{2, 3}));
  EXPECT_EQ(code_of([] { infer_shape(Dims{-1, -1}, 6); }), Code::kShape);
  EXPECT_EQ(code_of([] { infer_shape(Dims{4}, 6); }), Code::kShape);
  EXPECT_EQ(code_of([] { infer_shape(Dims{0, -1}, 0); }), Code::kShape);
  EXPECT_EQ(code_of([] { infer_shape(Dims{INT64_MAX, INT64_MAX}, 6); }), Code::kShape);
}

// By definition, a view is right if it visits the same elements in the same order.
TEST(Layout, view_strides_agree_with_walking_the_elements) {
  const struct {
    Dims sizes, strides;
  } inputs[] = {{{2, 3, 4}, {12, 4, 1}}, {{2, 3, 4}, {1, 2, 6}},  {{2, 3, 4}, {24, 8, 2}},
                {{4, 1, 6}, {6, 99, 1}}, {{6, 4}, {0, 1}},        {{24}, {-1}},
                {{2, 12}, {24, 1}},      {{1, 24, 1}, {5, 1, 7}}, {{2, 2, 6}, {-12, 6, 1}}};
  const Dims targets[] = {{24},    {2, 12},   {6, 4},       {2, 3, 4},
                          {1, 24}, {4, 1, 6}, {2, 2, 2, 3}, {12, 2, 1}};
  for (const auto& input : inputs) {
    const std::vector<int64_t> order = offsets(input.sizes, input.strides);
    for (const Dims& target : targets) {
      const std::optional<Dims> strides = view_strides(input.sizes, input.strides, target);
      if (strides.has_value()) {
        EXPECT_EQ(offsets(target, *strides), order);
      }
    }
  }
  EXPECT_FALSE(view_strides(Dims{2, 3}, Dims{1, 2}, Dims{6}).has_value());
  EXPECT_TRUE(view_strides(Dims{2, 3}, Dims{3, 1}, Dims{3, 2}).has_value());
  EXPECT_TRUE(view_strides(Dims{}, Dims{}, Dims{1, 1}).has_value());
}

TEST(Layout, dims_of_many_are_put_in_the_order_of_their_strides) {
  const Dims sizes(8, 2);
  const Dims strides{2, 128, 1, 64, 8, 32, 4, 16};
  EXPECT_TRUE(is_dense(sizes, strides));
  EXPECT_FALSE(may_overlap_itself(sizes, strides));
  const Dims overlapping{2, 128, 1, 64, 8, 31, 4, 16};
  EXPECT_FALSE(is_dense(sizes, overlapping));
  EXPECT_TRUE(may_overlap_itself(sizes, overlapping));
}

}  // namespace
}  // namespace tsr::test_layout
