// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_places.h"

#include <algorithm>
#include <limits>

namespace tsr::inspect {
namespace {

constexpr double kBetween = 22;  // between two boxes
constexpr double kBetweenBends = 12;
// Chains of operations and long links are kept straight; leaves make room for them.
constexpr double kStiff = 1000;
constexpr double kLoose = 1;

bool is_loose(const LayeredGraph& graph, uint32_t item) {
  const uint32_t vertex = graph.items[item].vertex;
  if (vertex == Item::kBend) return false;
  const VertexKind kind = graph.view.vertices[vertex].kind;
  return kind == VertexKind::kLeaf || kind == VertexKind::kReference;
}

double gap_between(const LayeredGraph& graph, const std::vector<Box>& boxes, uint32_t left,
                   uint32_t right) {
  const bool bends =
      graph.items[left].vertex == Item::kBend && graph.items[right].vertex == Item::kBend;
  return (boxes[left].width + boxes[right].width) / 2 + (bends ? kBetweenBends : kBetween);
}

// The mean place of the neighbours; those that can move easily hardly count.
double wish(const LayeredGraph& graph, const std::vector<Box>& boxes, uint32_t item) {
  double sum = 0;
  double total = 0;
  const auto add = [&](uint32_t other) {
    const double weight = is_loose(graph, other) ? 1 / kStiff : 1;
    sum += weight * boxes[other].x;
    total += weight;
  };
  for (const uint32_t other : graph.items[item].above) add(other);
  for (const uint32_t other : graph.items[item].below) add(other);
  return total > 0 ? sum / total : boxes[item].x;
}

void settle(const LayeredGraph& graph, const std::vector<uint32_t>& row, std::vector<Box>& boxes) {
  std::vector<double> wished;
  std::vector<double> weights;
  std::vector<double> gaps;
  for (size_t i = 0; i < row.size(); ++i) {
    wished.push_back(wish(graph, boxes, row[i]));
    weights.push_back(is_loose(graph, row[i]) ? kLoose : kStiff);
    if (i + 1 < row.size()) gaps.push_back(gap_between(graph, boxes, row[i], row[i + 1]));
  }
  const std::vector<double> found = spread(wished, weights, gaps);
  for (size_t i = 0; i < row.size(); ++i) boxes[row[i]].x = found[i];
}

}  // namespace

std::vector<double> spread(const std::vector<double>& wished, const std::vector<double>& weights,
                           const std::vector<double>& gaps) {
  struct Block {
    double place;
    double weight;
    size_t count;
  };
  std::vector<Block> blocks;
  double offset = 0;
  for (size_t i = 0; i < wished.size(); ++i) {
    if (i > 0) offset += gaps[i - 1];
    Block block{wished[i] - offset, weights[i], 1};
    while (!blocks.empty() && blocks.back().place >= block.place) {
      const Block& other = blocks.back();
      const double weight = block.weight + other.weight;
      block = {(block.place * block.weight + other.place * other.weight) / weight, weight,
               block.count + other.count};
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  std::vector<double> found;
  offset = 0;
  for (const Block& block : blocks) {
    for (size_t k = 0; k < block.count; ++k) {
      if (!found.empty()) offset += gaps[found.size() - 1];
      found.push_back(block.place + offset);
    }
  }
  return found;
}

void place(const LayeredGraph& graph, std::vector<Box>& boxes) {
  for (const auto& row : graph.rows) {
    double edge = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) edge += gap_between(graph, boxes, row[i - 1], row[i]);
      boxes[row[i]].x = edge;
    }
  }
  const int rounds = graph.items.size() <= 20000 ? 24 : 6;
  const size_t n = graph.rows.size();
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < n; ++i) {
      settle(graph, graph.rows[round % 2 == 0 ? i : n - 1 - i], boxes);
    }
  }
  double left = std::numeric_limits<double>::max();
  for (const Box& box : boxes) left = std::min(left, box.x - box.width / 2);
  for (Box& box : boxes) box.x -= left;
}

}  // namespace tsr::inspect
