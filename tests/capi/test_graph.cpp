// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The graph with the functions of C: a walk finds the nodes and edges that every language finds;
// anomaly mode is a part of a thread's state.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"
#include "support/places.h"

namespace test_graph {

using namespace tsr::test;

namespace {

Tensor ones_of(std::vector<int64_t> shape, bool grad = true) {
  Tensor made;
  ok(tsr_ones(shape.data(), static_cast<int32_t>(shape.size()), TSR_FLOAT32, -1, -1, made.slot()));
  if (grad) ok(tsr_tensor_set_requires_grad(made, 1));
  return made;
}

// The network of tests/conformance/graph_nodes.txt, the same in every language.
Tensor network() {
  const Tensor x = ones_of({4, 3}), weight = ones_of({5, 3}), bias = ones_of({5});
  const Tensor values = ones_of({5, 2}), plain = ones_of({4, 2}, false);
  Tensor linear, hidden, square, shares, mixed, scaled, grown, all, loss;
  ok(tsr_linear(x, weight, bias, linear.slot()));
  ok(tsr_relu(linear, hidden.slot()));
  ok(tsr_multiply(hidden, hidden, square.slot()));
  ok(tsr_softmax(square, 1, -1, shares.slot()));
  ok(tsr_matmul(shares, values, mixed.slot()));
  ok(tsr_exp(mixed, grown.slot()));
  ok(tsr_multiply(mixed, plain, scaled.slot()));
  ok(tsr_add(grown, scaled, all.slot()));
  ok(tsr_mean(all, nullptr, -1, 0, -1, loss.slot()));
  return loss;
}

struct Edge {
  tsr_node node;
  int64_t output;
};

std::vector<Edge> next_of(tsr_node node, std::vector<tsr_node>& owned) {
  int64_t count = 0;
  ok(tsr_node_next_count(node, &count));
  std::vector<Edge> edges(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    Edge& edge = edges[static_cast<size_t>(i)];
    ok(tsr_node_next(node, i, &edge.node, &edge.output));
    owned.push_back(edge.node);
  }
  return edges;
}

std::string title_of(tsr_node node) {
  const char* name = nullptr;
  int64_t size = 0;
  ok(tsr_node_name(node, &name, &size));
  std::string text(name, static_cast<size_t>(size));
  Tensor variable;
  ok(tsr_node_variable(node, variable.slot()));
  if (variable == nullptr) return text;
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(variable, &info));
  for (int32_t i = 0; i < info.ndim; ++i) {
    text += (i == 0 ? " [" : ", ") + std::to_string(info.sizes[i]);
  }
  return text + "]";
}

}  // namespace

TEST(A21_Graph, a_walk_in_c_gives_the_nodes_and_edges_of_every_language) {
  const Tensor loss = network();
  std::vector<tsr_node> owned(1), order, waiting;
  ok(tsr_tensor_grad_fn(loss, owned.data()));
  waiting.push_back(owned[0]);
  while (!waiting.empty()) {
    const tsr_node node = waiting.back();
    waiting.pop_back();
    if (std::find(order.begin(), order.end(), node) != order.end()) continue;
    order.push_back(node);
    const std::vector<Edge> edges = next_of(node, owned);
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      if (edge->node != nullptr) waiting.push_back(edge->node);
    }
  }
  std::ostringstream found;
  for (size_t i = 0; i < order.size(); ++i) {
    found << i << " " << title_of(order[i]);
    for (const Edge& edge : next_of(order[i], owned)) {
      const auto place = std::find(order.begin(), order.end(), edge.node) - order.begin();
      if (edge.node == nullptr) {
        found << " -";
      } else {
        found << " " << place << "." << edge.output;
      }
    }
    found << "\n";
  }
  for (tsr_node node : owned) tsr_node_release(node);
  std::ostringstream wanted;
  wanted << std::ifstream(tsr::testing::source_path("tests/conformance/graph_nodes.txt")).rdbuf();
  EXPECT_EQ(found.str(), wanted.str());
}

namespace {

std::string stack_of_a_new_node() {
  const tsr_node node = exp_node();
  tsr_buffer text = nullptr;
  ok(tsr_node_metadata_text(node, "stack", -1, &text));
  std::string found = "none";
  if (text != nullptr) {
    const char* data = nullptr;
    int64_t size = 0;
    ok(tsr_buffer_data(text, &data, &size));
    found.assign(data, static_cast<size_t>(size));
  }
  tsr_buffer_release(text);
  tsr_node_release(node);
  return found;
}

}  // namespace

TEST(A21_Anomaly, the_mode_moves_with_the_state_of_a_thread_and_all_threads_have_stacks) {
  int drops = 0;
  int32_t previous = -1;
  tsr_ambient ambient = nullptr;
  ok(tsr_host_stack_set(example_host_stack, &drops, count_drop));
  ok(tsr_anomaly_mode_set(TSR_ANOMALY_ENABLED, &previous));
  ok(tsr_ambient_save(&ambient));
  ok(tsr_anomaly_mode_set(0, &previous));
  EXPECT_EQ(stack_of_a_new_node(), "none");
  std::thread([&] {
    EXPECT_EQ(stack_of_a_new_node(), "none");
    ok(tsr_ambient_restore(ambient));
    EXPECT_EQ(tsr_anomaly_mode(), TSR_ANOMALY_ENABLED);
    EXPECT_EQ(stack_of_a_new_node(), "h");
  }).join();
  EXPECT_EQ(tsr_anomaly_mode(), 0) << "a thread that ends in the mode";
  tsr_ambient_release(ambient);
  EXPECT_EQ(drops, 0);
  ok(tsr_host_stack_set(nullptr, nullptr, nullptr));
  EXPECT_EQ(drops, 1);
}

TEST(A21_Anomaly, unknown_bits_of_the_mode_are_refused) {
  int32_t previous = -1;
  refused(tsr_anomaly_mode_set(4, &previous), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_anomaly_mode(), 0);
}

}  // namespace test_graph
