// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

// Note [Layered drawing]
// The method is Sugiyama's: rows by the longest path to an output, then bends where links pass
// through rows, then an order in each row by the mean place of the neighbours, then coordinates
// (graph_places.cpp). A leaf stands just above its highest user. A link over many rows would cost a
// bend in each of them and a long line that nobody can follow; it is cut, and a copy of its origin
// stands where it ends.

namespace tsr::inspect {
namespace {

constexpr uint32_t kFarLeaf = 3;
constexpr uint32_t kFarOperation = 16;
constexpr int kSweeps = 12;
constexpr size_t kCountable = 5000;  // crossings are counted up to this many items

using Lists = std::vector<SmallVector<uint32_t, 4>>;

// For each vertex the links that enter it, in the order of the view.
Lists entering(const GraphView& view) {
  Lists lists(view.vertices.size());
  for (uint32_t i = 0; i < view.links.size(); ++i) lists[view.links[i].to].push_back(i);
  return lists;
}

std::vector<uint32_t> rows_of(const GraphView& view, const Lists& into) {
  std::vector<uint32_t> users(view.vertices.size(), 0);
  for (const Link& link : view.links) ++users[link.from];
  std::vector<uint32_t> rows(view.vertices.size(), 0);
  std::vector<uint32_t> ready;
  for (uint32_t v = 0; v < users.size(); ++v) {
    if (users[v] == 0) ready.push_back(v);
  }
  while (!ready.empty()) {
    const uint32_t v = ready.back();
    ready.pop_back();
    for (const uint32_t i : into[v]) {
      const uint32_t from = view.links[i].from;
      rows[from] = std::max(rows[from], rows[v] + 1);
      if (--users[from] == 0) ready.push_back(from);
    }
  }
  return rows;
}

// Lets far links begin at a copy of their origin.
void cut_far_links(GraphView& view, std::vector<uint32_t>& rows) {
  for (Link& link : view.links) {
    const bool leaf = view.vertices[link.from].kind == VertexKind::kLeaf;
    const uint32_t span = rows[link.from] - rows[link.to];
    if (span <= (leaf ? kFarLeaf : kFarOperation)) continue;
    Vertex copy = view.vertices[link.from];
    copy.kind = VertexKind::kReference;
    if (!leaf) copy.lines.clear();
    rows.push_back(rows[link.to] + 1);
    link.from = static_cast<uint32_t>(view.vertices.size());
    view.vertices.push_back(std::move(copy));
  }
}

// Puts the items into their rows, in the order in which a walk from the outputs meets them.
class Arrangement {
 public:
  Arrangement(LayeredGraph& graph, const std::vector<uint32_t>& rows)
      : graph_(graph), into_(entering(graph.view)) {
    for (uint32_t v = 0; v < rows.size(); ++v) {
      graph_.items.push_back({v, rows[v], 0, {}, {}});
      if (rows[v] >= graph_.rows.size()) graph_.rows.resize(rows[v] + 1);
    }
    graph_.way.resize(graph_.view.links.size());
    seen_.resize(rows.size(), false);
  }

  void run() {
    for (uint32_t v = 0; v < graph_.view.vertices.size(); ++v) {
      if (graph_.view.vertices[v].kind == VertexKind::kOutput) walk(v);
    }
  }

 private:
  void put(uint32_t item) {
    auto& row = graph_.rows[graph_.items[item].row];
    graph_.items[item].place = static_cast<uint32_t>(row.size());
    row.push_back(item);
  }

  void join(uint32_t upper, uint32_t lower) {
    graph_.items[upper].below.push_back(lower);
    graph_.items[lower].above.push_back(upper);
  }

  void walk(uint32_t start) {
    std::vector<std::pair<uint32_t, size_t>> path;
    const auto enter = [&](uint32_t v) {
      if (seen_[v]) return;
      seen_[v] = true;
      put(v);
      path.emplace_back(v, 0);
    };
    enter(start);
    while (!path.empty()) {
      auto& [v, next] = path.back();
      if (next == into_[v].size()) {
        path.pop_back();
        continue;
      }
      const uint32_t link = into_[v][next++];
      lay(link);
      enter(graph_.view.links[link].from);
    }
  }

  void lay(uint32_t index) {
    const Link& link = graph_.view.links[index];
    SmallVector<uint32_t, 4> upwards;
    upwards.push_back(link.to);
    for (uint32_t row = graph_.items[link.to].row + 1; row < graph_.items[link.from].row; ++row) {
      const auto bend = static_cast<uint32_t>(graph_.items.size());
      graph_.items.push_back({Item::kBend, row, 0, {}, {}});
      put(bend);
      join(bend, upwards.back());
      upwards.push_back(bend);
    }
    join(link.from, upwards.back());
    upwards.push_back(link.from);
    for (size_t i = upwards.size(); i-- > 0;) graph_.way[index].push_back(upwards[i]);
  }

  LayeredGraph& graph_;
  Lists into_;
  std::vector<bool> seen_;
};

void number_row(LayeredGraph& graph, const std::vector<uint32_t>& row) {
  for (uint32_t i = 0; i < row.size(); ++i) graph.items[row[i]].place = i;
}

// Sorts a row by the mean place of the neighbours on one side. Items without any keep their places.
void sort_row(LayeredGraph& graph, std::vector<uint32_t>& row, bool by_above) {
  std::vector<std::pair<double, uint32_t>> sorted;
  std::vector<size_t> slots;
  for (size_t i = 0; i < row.size(); ++i) {
    const Item& item = graph.items[row[i]];
    const auto& neighbours = by_above ? item.above : item.below;
    if (neighbours.empty()) continue;
    double sum = 0;
    for (const uint32_t other : neighbours) sum += graph.items[other].place;
    sorted.emplace_back(sum / static_cast<double>(neighbours.size()), row[i]);
    slots.push_back(i);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < slots.size(); ++i) row[slots[i]] = sorted[i].second;
  number_row(graph, row);
}

// Crossings between all rows and the ones below them, by counting inversions in a Fenwick tree.
uint64_t crossings(const LayeredGraph& graph) {
  uint64_t count = 0;
  std::vector<uint32_t> ends;
  for (size_t r = 1; r < graph.rows.size(); ++r) {
    std::vector<uint32_t> tree(graph.rows[r - 1].size() + 1, 0);
    uint64_t before = 0;
    for (const uint32_t upper : graph.rows[r]) {
      ends.clear();
      for (const uint32_t lower : graph.items[upper].below) {
        ends.push_back(graph.items[lower].place);
      }
      for (const uint32_t end : ends) {
        uint64_t left = 0;  // earlier links that end at this place or to the left of it
        for (size_t i = end + 1; i > 0; i -= i & (~i + 1)) left += tree[i];
        count += before - left;
      }
      for (const uint32_t end : ends) {
        for (size_t i = end + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
      }
      before += ends.size();
    }
  }
  return count;
}

void order_rows(LayeredGraph& graph) {
  const bool counted = graph.items.size() <= kCountable;
  std::vector<std::vector<uint32_t>> best = graph.rows;
  uint64_t fewest = counted ? crossings(graph) : 0;
  for (int sweep = 0; sweep < (counted ? kSweeps : 2) && (!counted || fewest > 0); ++sweep) {
    const size_t n = graph.rows.size();
    const bool upwards = sweep % 2 == 0;
    for (size_t i = 1; i < n; ++i) sort_row(graph, graph.rows[upwards ? i : n - 1 - i], !upwards);
    const uint64_t now = counted ? crossings(graph) : 0;
    if (counted && now >= fewest) continue;
    fewest = now;
    best = graph.rows;
  }
  graph.rows = std::move(best);
  for (const auto& row : graph.rows) number_row(graph, row);
}

}  // namespace

LayeredGraph layer(GraphView view) {
  LayeredGraph graph;
  graph.view = std::move(view);
  std::vector<uint32_t> rows = rows_of(graph.view, entering(graph.view));
  cut_far_links(graph.view, rows);
  Arrangement(graph, rows).run();
  order_rows(graph);
  return graph;
}

}  // namespace tsr::inspect
