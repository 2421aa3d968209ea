// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_svg.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <regex>
#include <set>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "inspect/graph_dot.h"
#include "ops/create/create.h"
#include "ops/linalg/linalg.h"
#include "ops/nn/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "support/start_up.h"

namespace tsr::inspect::test_graph_svg {
namespace {

struct Rect {
  double x, y, width, height;
};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<Rect> boxes_of(const std::string& svg) {
  const std::regex pattern(
      R"re(<rect class="(?:op|leaf|out|ref)" x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)")re");
  std::vector<Rect> boxes;
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
    boxes.push_back(
        {std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  }
  return boxes;
}

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

class A21_GraphSvg : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::start_up();
    x = leaf({4, 3});
    weight = leaf({5, 3});
    bias = leaf({5});
  }

  static Tensor leaf(Dims sizes) {
    const Tensor made = ops::ones(sizes, DType::kFloat32, Device{});
    set_requires_grad(made, true);
    return made;
  }

  // Two layers with a softmax, and a value that is used twice.
  Tensor network() {
    const Tensor hidden = ops::relu(ops::linear(x, weight, bias));
    const Tensor square = ops::multiply(hidden, hidden);
    return ops::mean(ops::softmax(ops::add(square, hidden), 1));
  }

  Tensor x;
  Tensor weight;
  Tensor bias;
};

TEST_F(A21_GraphSvg, has_a_box_for_each_node_leaf_and_output_and_none_overlap) {
  const std::array named{weight, bias};
  const std::array<std::string, 2> names{"layer.weight", "a<b>&\"c\""};
  const Tensor loss = network();
  const std::string svg = svg_of(view_of({&loss, 1}, {named, names}, true));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_EQ(count_of(svg, "<g>"), 6U + 3U + 1U);
  EXPECT_EQ(count_of(svg, "<g>"), count_of(svg, "</g>"));
  EXPECT_EQ(count_of(svg, "<text"), count_of(svg, "</text>"));
  EXPECT_NE(svg.find("layer.weight"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;b&gt;&amp;&quot;c&quot;"), std::string::npos);
  EXPECT_NE(svg.find("saves weight [5, 3]"), std::string::npos);
  EXPECT_NE(svg.find("saves result [4, 5]"), std::string::npos);
  const std::vector<Rect> boxes = boxes_of(svg);
  EXPECT_EQ(boxes.size(), 10U + 3U);  // and the legend
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_FALSE(overlap(boxes[i], boxes[k])) << i << " " << k;
  }
}

TEST_F(A21_GraphSvg, names_the_shapes_that_pass_between_nodes) {
  const Tensor loss = network();
  const std::string svg = svg_of(view_of({&loss, 1}, {}, false));
  EXPECT_NE(svg.find(">[4, 5]</text>"), std::string::npos);
  EXPECT_EQ(svg.find("saves"), std::string::npos);
}

TEST_F(A21_GraphSvg, a_value_used_twice_by_one_node_has_two_arrows_side_by_side) {
  const Tensor hidden = ops::relu(x);
  const Tensor square = ops::multiply(hidden, hidden);
  const std::string svg = svg_of(view_of({&square, 1}, {}, false));
  const std::regex pattern("<path marker-end=[^>]* d=\"([^\"]*)\"");
  std::set<std::string> paths;
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
    paths.insert((*at)[1]);
  }
  EXPECT_EQ(paths.size(), 4U);  // leaf to relu, twice relu to multiply, multiply to the output
}

TEST_F(A21_GraphSvg, says_when_saved_tensors_are_freed) {
  const Tensor loss = network();
  backward({&loss, 1});
  const std::string svg = svg_of(view_of({&loss, 1}, {}, true));
  EXPECT_NE(svg.find("saved tensors are freed"), std::string::npos);
}

TEST_F(A21_GraphSvg, draws_several_roots_and_their_common_part_once) {
  const Tensor hidden = ops::relu(ops::linear(x, weight, bias));
  const std::array roots{ops::exp(hidden), ops::sin(hidden)};
  const GraphView view = view_of(roots, {}, false);
  EXPECT_EQ(view.vertices.size(), 4U + 3U + 2U);
  EXPECT_EQ(count_of(svg_of(view), "output 1"), 1U);
}

TEST_F(A21_GraphSvg, refuses_a_root_without_a_graph) {
  const Tensor plain = x.detached();
  try {
    view_of({&plain, 1}, {}, false);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kAutograd);
    EXPECT_NE(error.message().find("got one at 0 that does not"), std::string::npos);
  }
}

TEST_F(A21_GraphSvg, dot_quotes_names_and_lists_every_link) {
  const std::array named{weight};
  const std::array<std::string, 1> names{"the \"weight\" \\ 1"};
  const Tensor loss = network();
  const std::string dot = dot_of(view_of({&loss, 1}, {named, names}, true));
  EXPECT_TRUE(dot.starts_with("digraph"));
  EXPECT_NE(dot.find(R"("the \"weight\" \\ 1\n[5, 3]")"), std::string::npos);
  EXPECT_EQ(count_of(dot, " -> "), 11U);
}

}  // namespace
}  // namespace tsr::inspect::test_graph_svg
