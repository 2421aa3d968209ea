// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_layers.h"

#include <gtest/gtest.h>

#include <set>

#include "inspect/graph_places.h"
#include "support/effort.h"

namespace tsr::inspect::test_graph_layers {
namespace {

constexpr VertexKind kOp = VertexKind::kOperation;

// Vertex 0 is the output; each pair (from, to) is a link.
GraphView view_with(size_t operations, std::vector<std::pair<uint32_t, uint32_t>> links,
                    std::set<uint32_t> leaves = {}) {
  GraphView view;
  view.vertices.push_back({VertexKind::kOutput, "out", {}, ""});
  for (uint32_t i = 1; i <= operations; ++i) {
    view.vertices.push_back({leaves.contains(i) ? VertexKind::kLeaf : kOp, "v", {}, ""});
  }
  for (const auto& [from, to] : links) view.links.push_back({from, to, 0, ""});
  return view;
}

// A chain 0 <- 1 <- 2 ... of n vertices, and a leaf that every tenth of them uses.
GraphView chain_with_shared_leaf(uint32_t n) {
  std::vector<std::pair<uint32_t, uint32_t>> links;
  for (uint32_t i = 1; i <= n; ++i) links.emplace_back(i, i - 1);
  for (uint32_t i = 10; i < n; i += 10) links.emplace_back(n + 1, i);
  return view_with(n + 1, links, {n + 1});
}

size_t crossings_of(const LayeredGraph& graph) {
  size_t count = 0;
  for (size_t row = 1; row < graph.rows.size(); ++row) {
    std::vector<std::pair<uint32_t, uint32_t>> wires;
    for (const uint32_t upper : graph.rows[row]) {
      for (const uint32_t lower : graph.items[upper].below) {
        wires.emplace_back(graph.items[upper].place, graph.items[lower].place);
      }
    }
    for (const auto& a : wires) {
      for (const auto& b : wires) count += a.first < b.first && a.second > b.second;
    }
  }
  return count;
}

TEST(A21_GraphLayers, every_link_leads_down_through_each_row_once) {
  const LayeredGraph graph = layer(view_with(5, {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {5, 1}}));
  ASSERT_EQ(graph.rows.size(), 6U);
  for (size_t i = 0; i < graph.view.links.size(); ++i) {
    const auto& way = graph.way[i];
    EXPECT_EQ(way[0], graph.view.links[i].from);
    EXPECT_EQ(way[way.size() - 1], graph.view.links[i].to);
    for (size_t k = 1; k < way.size(); ++k) {
      EXPECT_EQ(graph.items[way[k - 1]].row, graph.items[way[k]].row + 1);
    }
  }
  EXPECT_EQ(graph.items.size(), 6U + 3U);  // three bends for the long link
}

TEST(A21_GraphLayers, a_leaf_stands_just_above_its_user) {
  const LayeredGraph graph = layer(view_with(3, {{1, 0}, {2, 1}, {3, 1}}, {3}));
  EXPECT_EQ(graph.items[3].row, graph.items[1].row + 1);
}

TEST(A21_GraphLayers, a_tangled_ladder_is_drawn_without_crossings) {
  // Two chains; the second one's links are met in the wrong order.
  const LayeredGraph graph =
      layer(view_with(6, {{1, 0}, {2, 0}, {4, 2}, {3, 1}, {5, 3}, {6, 4}, {5, 1}}));
  EXPECT_EQ(crossings_of(graph), 0U);
}

TEST(A21_GraphLayers, far_uses_of_a_leaf_get_copies_so_that_the_picture_stays_linear) {
  const uint32_t n = 20000;
  const LayeredGraph graph = layer(chain_with_shared_leaf(n));
  EXPECT_LE(graph.items.size(), size_t{n} + n / 10 + 16);
  size_t copies = 0;
  for (const Vertex& vertex : graph.view.vertices) copies += vertex.kind == VertexKind::kReference;
  EXPECT_GE(copies, size_t{n} / 10 - 2);
}

TEST(A21_GraphLayers, a_million_nodes_fit_without_recursion) {
  constexpr uint32_t kNodes = effort(1'000'000U, 100'000U);
  std::vector<std::pair<uint32_t, uint32_t>> links;
  for (uint32_t i = 1; i <= kNodes; ++i) links.emplace_back(i, i - 1);
  const LayeredGraph graph = layer(view_with(kNodes, links));
  EXPECT_EQ(graph.rows.size(), kNodes + 1);
}

TEST(A21_GraphPlaces, boxes_of_a_row_never_overlap_and_chains_are_straight) {
  const LayeredGraph graph = layer(
      view_with(8, {{1, 0}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {6, 2}, {7, 5}, {8, 7}}, {3, 4, 6}));
  std::vector<Box> boxes(graph.items.size());
  for (Box& box : boxes) box.width = 50;
  place(graph, boxes);
  for (const auto& row : graph.rows) {
    for (size_t i = 1; i < row.size(); ++i) {
      EXPECT_GE(boxes[row[i]].x - boxes[row[i - 1]].x, 50);
    }
  }
  EXPECT_NEAR(boxes[1].x, boxes[2].x, 3);
  EXPECT_NEAR(boxes[2].x, boxes[5].x, 3);
  EXPECT_NEAR(boxes[5].x, boxes[8].x, 3);
}

TEST(A21_GraphPlaces, spread_keeps_gaps_and_moves_as_little_as_possible) {
  EXPECT_EQ(spread({0, 10, 30}, {1, 1, 1}, {5, 5}), (std::vector<double>{0, 10, 30}));
  EXPECT_EQ(spread({10, 10}, {1, 1}, {4}), (std::vector<double>{8, 12}));
  EXPECT_EQ(spread({10, 10}, {3, 1}, {4}), (std::vector<double>{9, 13}));
  EXPECT_EQ(spread({9, 0, 0}, {1, 1, 1}, {3, 3}), (std::vector<double>{0, 3, 6}));
}

}  // namespace
}  // namespace tsr::inspect::test_graph_layers
