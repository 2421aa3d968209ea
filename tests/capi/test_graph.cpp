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

// ---- Nodes that are run alone, saved tensors with hooks, bases ----

namespace {

struct MadeNode {
  explicit MadeNode(tsr_tensor of) { ok(tsr_tensor_grad_fn(of, &node)); }
  MadeNode(const MadeNode&) = delete;
  MadeNode& operator=(const MadeNode&) = delete;
  ~MadeNode() { tsr_node_release(node); }
  operator tsr_node() const { return node; }
  tsr_node node = nullptr;
};

int g_fault = 0;  // represents a host-language exception object

tsr_status refuse_to_pack(void*, tsr_tensor, void**, tsr_drop_fn*) {
  ok(tsr_error_set(TSR_CALLBACK, "no room", -1, &g_fault, nullptr));
  return TSR_CALLBACK;
}

tsr_status pack_and_write(void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
  ok(tsr_zero_inplace(tensor));
  return keep_packed(user, tensor, payload, drop);
}

}  // namespace

TEST(A21_NodeRun, gives_the_gradients_that_are_needed_as_often_as_asked) {
  const Tensor x = ones_of({2, 3}), y = ones_of({3}), fixed = ones_of({2, 3}, false);
  Tensor sum, product;
  ok(tsr_add(x, y, sum.slot()));
  ok(tsr_multiply(fixed, x, product.slot()));
  const MadeNode add(sum), multiply(product);
  const tsr_tensor given[] = {fixed};
  for (int round = 0; round < 2; ++round) {
    Tensor first, second;
    tsr_tensor found[2] = {};
    ok(tsr_node_run(add, given, 1, 2, found));
    EXPECT_EQ(numel(found[0]), 6);
    EXPECT_EQ(numel(found[1]), 3);  // summed to the shape of the input
    EXPECT_EQ(item(found[1], 0), 2.0);
    tsr_tensor_release_many(found, 2);
    ok(tsr_node_run(multiply, given, 1, 2, found));
    EXPECT_EQ(found[0], nullptr);
    EXPECT_EQ(item(found[1], 5), 1.0);
    tsr_tensor_release_many(found, 2);
  }
  const tsr_tensor nothing[] = {nullptr};
  tsr_tensor found[2] = {x, x};
  ok(tsr_node_run(add, nothing, 1, 2, found));
  EXPECT_TRUE(found[0] == nullptr && found[1] == nullptr);
}

TEST(A21_NodeRun, is_recorded_in_grad_mode_only) {
  const Tensor x = ones_of({2}), seed = ones_of({2}, false);
  Tensor y, recorded, plain;
  ok(tsr_square(x, y.slot()));
  const MadeNode node(y);
  const tsr_tensor given[] = {seed};
  int32_t records = -1, before = 0;
  ok(tsr_node_run(node, given, 1, 1, recorded.slot()));
  ok(tsr_tensor_requires_grad(recorded, &records));
  EXPECT_EQ(records, 1);
  ok(tsr_grad_mode_set(0, &before));
  ok(tsr_node_run(node, given, 1, 1, plain.slot()));
  ok(tsr_grad_mode_set(before, &before));
  ok(tsr_tensor_requires_grad(plain, &records));
  EXPECT_EQ(records, 0);
}

TEST(A21_NodeRun, adds_to_a_leaf_and_keeps_the_gradient_of_the_caller) {
  const Tensor x = ones_of({2}), seed = ones_of({2}, false);
  Tensor y, grad;
  ok(tsr_square(x, y.slot()));
  const MadeNode node(y);
  tsr_node accumulate = nullptr;
  int64_t output = -1;
  ok(tsr_node_next(node, 0, &accumulate, &output));
  const tsr_tensor given[] = {seed};
  ok(tsr_node_run(accumulate, given, 1, 0, nullptr));
  ok(tsr_node_run(accumulate, given, 1, 0, nullptr));
  tsr_node_release(accumulate);
  ok(tsr_tensor_grad(x, grad.slot()));
  EXPECT_EQ(item(grad, 1), 2.0);
  EXPECT_EQ(item(seed, 1), 1.0);
}

TEST(A21_NodeRun, refuses_what_does_not_fit_and_what_is_gone) {
  const Tensor x = ones_of({2}), wide = ones_of({3}, false), seed = ones_of({2}, false);
  Tensor y, complex;
  ok(tsr_square(x, y.slot()));
  ok(tsr_astype(seed, TSR_COMPLEX64, 0, complex.slot()));
  const MadeNode node(y);
  tsr_tensor found = x;
  const tsr_tensor seeds[] = {seed, seed}, wides[] = {wide}, others[] = {complex};
  EXPECT_EQ(tsr_node_run(node, seeds, 2, 1, &found), TSR_VALUE);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(tsr_node_run(node, seeds, 1, 2, nullptr), TSR_VALUE);
  EXPECT_EQ(tsr_node_run(node, seeds, 1, 1, nullptr), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_node_run(node, wides, 1, 1, &found), TSR_SHAPE);
  EXPECT_EQ(tsr_node_run(node, others, 1, 1, &found), TSR_DTYPE);
  EXPECT_EQ(tsr_node_run(nullptr, seeds, 1, 1, &found), TSR_INVALID_ARGUMENT);
  const tsr_tensor root = y;
  ok(tsr_backward(&root, 1, seeds, 1, nullptr, 0, 0));
  EXPECT_EQ(tsr_node_run(node, seeds, 1, 1, &found), TSR_AUTOGRAD);
  EXPECT_EQ(found, nullptr);
}

TEST(A15_SavedTensor, with_hooks_of_its_own_comes_from_them) {
  int drops = 0;
  {
    const Tensor x = ones_of({2}), y = ones_of({2});
    Tensor product, grad;
    ok(tsr_multiply(x, y, product.slot()));
    const MadeNode node(product);
    tsr_saved_hooks_vtable hooks = {};
    hooks.struct_size = sizeof(hooks);
    EXPECT_EQ(tsr_node_saved_hooks_set(node, 0, &hooks, nullptr), TSR_INVALID_ARGUMENT);
    hooks.pack = keep_packed;
    hooks.unpack = give_packed;
    hooks.drop = count_drop;
    ok(tsr_node_saved_hooks_set(node, 1, &hooks, &drops));
    EXPECT_EQ(tsr_node_saved_hooks_set(node, 1, &hooks, &drops), TSR_AUTOGRAD);
    EXPECT_EQ(tsr_node_saved_hooks_set(node, 2, &hooks, &drops), TSR_INDEX);
    EXPECT_EQ(drops, 2);  // of the two that were refused
    const Tensor ones = ones_of({2}, false);
    const tsr_tensor roots[] = {product}, given[] = {ones};
    ok(tsr_backward(roots, 1, given, 1, nullptr, 0, TSR_BACKWARD_CREATE_GRAPH));
    ok(tsr_tensor_grad(x, grad.slot()));
    EXPECT_EQ(item(grad, 0), 1.0);
    // A recorded gradient leads back to its leaf.
    ok(tsr_tensor_set_grad(x, nullptr));
    ok(tsr_tensor_set_grad(y, nullptr));
  }
  EXPECT_EQ(drops, 3);
}

TEST(A15_SavedTensor, is_what_it_was_when_its_pack_hook_fails_or_writes) {
  int drops = 0;
  const Tensor x = ones_of({2}), seed = ones_of({2}, false);
  Tensor y;
  ok(tsr_multiply(x, seed, y.slot()));
  const MadeNode node(y);
  tsr_saved_hooks_vtable hooks = {};
  hooks.struct_size = sizeof(hooks);
  hooks.pack = refuse_to_pack;
  hooks.unpack = give_packed;
  hooks.drop = count_drop;
  EXPECT_EQ(tsr_node_saved_hooks_set(node, 0, &hooks, &drops), TSR_CALLBACK);
  const tsr_tensor given[] = {seed};
  tsr_tensor found[2] = {};
  ok(tsr_node_run(node, given, 1, 2, found));
  EXPECT_EQ(item(found[0], 0), 1.0);
  tsr_tensor_release_many(found, 2);
  hooks.pack = pack_and_write;
  EXPECT_EQ(tsr_node_saved_hooks_set(node, 0, &hooks, &drops), TSR_AUTOGRAD);
  EXPECT_EQ(drops, 2);
  // The gradient of the input is not needed, so the weight is not saved.
  Tensor product;
  ok(tsr_linear(ones_of({4, 3}, false), ones_of({5, 3}), nullptr, product.slot()));
  const MadeNode linear(product);
  EXPECT_EQ(tsr_node_saved_hooks_set(linear, 1, &hooks, &drops), TSR_AUTOGRAD);
  EXPECT_EQ(drops, 3);
}

TEST(I6_Base, is_the_tensor_that_has_the_memory) {
  const Tensor x = ones_of({4}, false);
  Tensor rows, row, bare, base;
  const int64_t shape[] = {2, 2};
  ok(tsr_reshape(x, shape, 2, -1, rows.slot()));
  ok(tsr_select(rows, 0, 1, row.slot()));
  ok(tsr_tensor_base(row, base.slot()));
  EXPECT_EQ(base, x);
  ok(tsr_detach(row, bare.slot()));
  ok(tsr_tensor_base(bare, base.slot()));
  EXPECT_EQ(base, nullptr);
  ok(tsr_tensor_set_data(x, ones_of({4}, false)));
  ok(tsr_tensor_base(row, base.slot()));
  EXPECT_EQ(base, nullptr);  // x has other memory now
  EXPECT_EQ(tsr_tensor_base(x, nullptr), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_tensor_base(nullptr, base.slot()), TSR_INVALID_ARGUMENT);
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
