// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Looking into the graph: nodes, walks, drawings, anomaly mode.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "support.hpp"
#include "support/places.h"

namespace tessera::test_graph {
namespace {

Tensor leaf(const std::vector<int64_t>& shape) {
  return ones(shape).requires_grad_();
}

// The network of tests/conformance/graph_nodes.txt, the same in every language.
Tensor network() {
  const Tensor hidden = relu(linear(leaf({4, 3}), leaf({5, 3}), leaf({5})));
  const Tensor mixed = matmul(softmax(multiply(hidden, hidden), 1), leaf({5, 2}));
  return mean(add(exp(mixed), multiply(mixed, ones({4, 2}))));
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

TEST(A21_Graph, a_walk_gives_the_nodes_and_edges_of_every_language) {
  const std::vector<Node> nodes = graph_nodes(network());
  std::map<tsr_node, size_t> numbers;
  for (const Node& node : nodes) numbers.emplace(node.handle(), numbers.size());
  std::ostringstream found;
  for (size_t i = 0; i < nodes.size(); ++i) {
    found << i << " " << nodes[i].name();
    const Tensor variable = nodes[i].variable();
    if (variable.defined()) found << " " << shape_text(variable.shape());
    for (const Node::Edge& edge : nodes[i].next()) {
      found << " ";
      if (edge.node.defined()) {
        found << numbers[edge.node.handle()] << "." << edge.output;
      } else {
        found << "-";
      }
    }
    found << "\n";
  }
  std::ostringstream wanted;
  wanted << std::ifstream(tsr::testing::source_path("tests/conformance/graph_nodes.txt")).rdbuf();
  EXPECT_EQ(found.str(), wanted.str());
}

TEST(A21_Graph, outputs_tell_shape_dtype_and_device) {
  const Tensor y = exp(ones({2, 3}, kFloat64).requires_grad_());
  const std::vector<Node::Output> outputs = y.grad_fn().outputs();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].exists && outputs[0].differentiable);
  EXPECT_EQ(outputs[0].sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(outputs[0].dtype, kFloat64);
  EXPECT_EQ(outputs[0].device.type, TSR_DEVICE_CPU);
}

TEST(A21_Graph, a_node_runs_alone) {
  const Tensor x = leaf({2});
  const Node node = multiply(x, full({2}, 3.0)).grad_fn();
  for (int round = 0; round < 2; ++round) {
    const std::vector<Tensor> found = node.run({full({2}, 2.0)});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].to_vector<double>(), (std::vector<double>{6, 6}));
    EXPECT_FALSE(found[1].defined());  // not needed
  }
  EXPECT_THROW(node.run({}), InvalidValueError);
  EXPECT_THROW(node.run({ones({3})}), ShapeError);
  EXPECT_TRUE(node.next()[0].node.run({ones({2})}).empty());
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{1, 1}));
}

TEST(A15_SavedTensor, has_hooks_of_its_own) {
  const Tensor x = leaf({2}), y = leaf({2});
  const Tensor product = multiply(x, y);
  const Node node = product.grad_fn();
  const auto pack = [](const Tensor& tensor) { return tensor.to_vector<float>(); };
  const auto unpack = [](const std::vector<float>& values) {
    return full({2}, 10.0 * static_cast<double>(values[0]));
  };
  node.set_saved_hooks(0, pack, unpack);
  EXPECT_THROW(node.set_saved_hooks(0, pack, unpack), AutogradError);
  sum(product).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{1, 1}));
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{10, 10}));
}

TEST(I6_View, names_its_base) {
  const Tensor x = ones({4});
  const Tensor part = x.reshape({2, 2}).select(0, 1);
  EXPECT_TRUE(part.base().is_same(x));
  EXPECT_FALSE(x.base().defined());
}

TEST(A21_Graph, saved_values_have_names_until_a_backward_frees_them) {
  const Tensor x = leaf({2});
  const Tensor product = multiply(x, leaf({2}));
  const Node node = product.grad_fn();
  EXPECT_EQ(node.saved_names(), (std::vector<std::string>{"input", "other"}));
  EXPECT_EQ(node.saved("input").shape(), std::vector<int64_t>{2});
  EXPECT_EQ(node.saved().size(), 2U);
  EXPECT_THROW(node.saved("weight"), InvalidValueError);
  sum(product).backward();
  try {
    node.saved("input");
    FAIL() << "nothing was thrown";
  } catch (const AutogradError& error) {
    EXPECT_NE(std::string(error.what()).find("already been freed"), std::string::npos);
  }
}

TEST(A21_Graph, metadata_belongs_to_the_node) {
  const Tensor y = exp(leaf({2}));
  y.grad_fn().set_metadata("layer", "first");
  const auto counted = std::make_shared<int>(7);
  y.grad_fn().set_metadata_value("count", counted);
  EXPECT_EQ(counted.use_count(), 2);
  EXPECT_EQ(y.grad_fn().metadata("layer"), "first");
  EXPECT_EQ(y.grad_fn().metadata("none"), std::nullopt);
  EXPECT_EQ(y.grad_fn().metadata_keys(), (std::vector<std::string>{"count", "layer"}));
  const std::any* value = y.grad_fn().metadata_value("count");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*std::any_cast<std::shared_ptr<int>>(*value), 7);
  EXPECT_EQ(y.grad_fn().metadata_value("layer"), nullptr);
  y.grad_fn().remove_metadata("count");
  EXPECT_EQ(counted.use_count(), 1);
  EXPECT_THROW(y.grad_fn().remove_metadata("count"), InvalidValueError);
}

TEST(A21_Graph, is_drawn_as_a_picture_and_as_text) {
  const Tensor x = leaf({2, 3});
  const Tensor y = exp(x);
  GraphOptions options;
  options.show_saved = true;
  const std::string picture = draw_graph(y, {{"weight \"1\"", x}}, options);
  EXPECT_EQ(picture.rfind("<svg", 0), 0U);
  EXPECT_NE(picture.find("weight &quot;1&quot;"), std::string::npos);
  EXPECT_NE(picture.find("saves result [2, 3]"), std::string::npos);
  options.format = GraphFormat::kDot;
  EXPECT_EQ(draw_graph(y, {}, options).rfind("digraph", 0), 0U);
  EXPECT_THROW(draw_graph(ones({2})), AutogradError);
}

TEST(A21_Graph, a_summary_lists_parameters_and_totals) {
  nn::Linear layer(3, 2);
  EXPECT_EQ(nn::summary(layer),
            "Parameter  Shape   Elements\n"
            "weight     [2, 3]         6\n"
            "bias       [2]            2\n"
            "Parameters: 8 (8 trainable), 0.00 MB\n");
}

TEST(A21_Graph, a_summary_of_a_call_has_shapes_multiply_adds_and_memory) {
  nn::Linear layer(3, 2);
  EXPECT_EQ(nn::summary(layer, ones({4, 3})),
            "Layer   Operator  Output  Parameters  Multiply-adds\n"
            "weight  Linear    [4, 2]           8             24\n"
            "Parameters: 8 (8 trainable), 0.00 MB\n"
            "Multiply-adds: 24\n"
            "Outputs of the operators: 0.00 MB\n"
            "Saved for the backward: 0.00 MB\n");
}

TEST(A21_Anomaly, nan_is_blamed_on_the_node_that_makes_it_with_the_stack_of_its_forward) {
  const test::StackScope stacks([] { return std::string("model.cpp:12 in forward\n"); });
  const Tensor x = zeros({2}).requires_grad_();
  const AnomalyGuard guard;
  EXPECT_TRUE(is_anomaly_enabled());
  const Tensor loss = sum(multiply(sqrt(x), zeros({2})));
  try {
    loss.backward();
    FAIL() << "nothing was thrown";
  } catch (const AutogradError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'SqrtBackward' returned nan values in its 0th output"), std::string::npos);
    EXPECT_NE(text.find("The forward of SqrtBackward was called here:\n  model.cpp:12 in forward"),
              std::string::npos);
  }
}

TEST(A21_Anomaly, guards_nest_and_belong_to_their_thread) {
  EXPECT_FALSE(is_anomaly_enabled());
  {
    const AnomalyGuard outer(false);
    {
      const AnomalyGuard inner(true);
      EXPECT_NE(tsr_anomaly_mode() & TSR_ANOMALY_CHECK_NAN, 0);
    }
    EXPECT_EQ(tsr_anomaly_mode(), TSR_ANOMALY_ENABLED);
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_anomaly_enabled(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(is_anomaly_enabled());
}

TEST(A21_Anomaly, a_stack_that_throws_leaves_the_function_alone) {
  const test::StackScope stacks([]() -> std::string { throw std::runtime_error("no stack"); });
  const AnomalyGuard guard;
  const Tensor y = exp(leaf({2}));
  EXPECT_NE(y.grad_fn().metadata("stack").value().find("no stack"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test_graph
