// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Rows of docs/features.md that no other suite covers whole: the structure of the graph, who owns
// what in it, and the engine beside other threads. The name of a test begins with its row.
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "autograd/custom_function.h"
#include "autograd/engine.h"
#include "autograd/error_node.h"
#include "autograd/hooks.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "base/parallel.h"
#include "memory/allocator.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/nn/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "support/effort.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::test_rows {
namespace {

using testing::random_leaf;
using Shape = std::array<int64_t, 1>;

class Rows : public ::testing::Test {
 protected:
  void SetUp() override { testing::start_up(); }
};

Tensor leaf(uint32_t seed) {
  return random_leaf(Shape{3}, seed, 0.5, 1.5);
}

double number(const Tensor& scalar) {
  return *static_cast<const double*>(scalar.data());
}

// ---- The structure of the graph ----

TEST_F(Rows, E1_leaf_has_no_node_and_one_accumulator_made_when_first_used) {
  const int64_t before = live_nodes();
  const Tensor x = leaf(1);
  EXPECT_EQ(live_nodes(), before);
  EXPECT_FALSE(grad_fn(x));
  Tensor y = ops::exp(x);
  Tensor z = ops::sin(x);
  EXPECT_EQ(live_nodes(), before + 3);
  EXPECT_EQ(grad_fn(y)->next_edge(0).node, grad_fn(z)->next_edge(0).node);
  EXPECT_TRUE(grad_fn(y)->next_edge(0).node->is_accumulator());
  EXPECT_EQ(output_number(y), 0U);
  // The leaf refers to its accumulator weakly: without a graph there is none.
  y.reset();
  EXPECT_EQ(live_nodes(), before + 2);
  z.reset();
  EXPECT_EQ(live_nodes(), before);
}

TEST_F(Rows, E1_tensor_knows_which_output_of_its_node_it_is) {
  const Tensor x = random_leaf(std::array<int64_t, 2>{2, 3}, 2);
  const std::vector<Tensor> rows = ops::unstack(x, 0);
  EXPECT_EQ(grad_fn(rows[0]), grad_fn(rows[1]));
  EXPECT_EQ(output_number(rows[0]), 0U);
  EXPECT_EQ(output_number(rows[1]), 1U);
}

TEST_F(Rows, E2_example_graph_has_these_nodes_edges_and_numbers) {
  // Add(0) -> Mul(1) -> Mul(2) -> Mean(3), the numbers being those of the sequence.
  const Tensor x = leaf(3);
  const Tensor y = leaf(4);
  // The leaves' accumulators first, which take numbers too.
  const NodePtr leaf_x = gradient_edge(x).node;
  const NodePtr leaf_y = gradient_edge(y).node;
  const Tensor a = ops::add(x, y);
  const Tensor b = ops::multiply(a, x);
  const Tensor c = ops::multiply(b, y);
  const Tensor mean = ops::mean(c);
  const std::array nodes{grad_fn(a), grad_fn(b), grad_fn(c), grad_fn(mean)};
  const std::array names{"AddBackward", "MultiplyBackward", "MultiplyBackward", "MeanBackward"};
  const std::vector<std::vector<NodePtr>> edges{
      {leaf_x, leaf_y}, {nodes[0], leaf_x}, {nodes[1], leaf_y}, {nodes[2]}};
  for (size_t i = 0; i < nodes.size(); ++i) {
    SCOPED_TRACE(names[i]);
    EXPECT_STREQ(nodes[i]->name(), names[i]);
    EXPECT_EQ(nodes[i]->sequence(), nodes[0]->sequence() + i);
    EXPECT_EQ(nodes[i]->topological(), i + 1);
    ASSERT_EQ(nodes[i]->next_edges().size(), edges[i].size());
    for (size_t k = 0; k < edges[i].size(); ++k) {
      EXPECT_EQ(nodes[i]->next_edge(k).node, edges[i][k]);
      EXPECT_EQ(nodes[i]->next_edge(k).output, 0U);
    }
  }
  EXPECT_EQ(leaf_x->topological(), 0U);
}

TEST_F(Rows, E2_node_knows_what_its_gradients_look_like) {
  const Tensor x = random_leaf(std::array<int64_t, 2>{2, 3}, 5);
  const Tensor y = ops::exp(x);
  const NodePtr node = grad_fn(y);
  ASSERT_EQ(node->outputs().size(), 1U);
  EXPECT_TRUE(node->outputs()[0].sizes == x.sizes());
  EXPECT_EQ(node->outputs()[0].dtype, DType::kFloat64);
  EXPECT_TRUE(node->outputs()[0].device.is_cpu());
  EXPECT_TRUE(node->outputs()[0].differentiable);
}

TEST_F(Rows, E2_sequence_numbers_belong_to_the_thread) {
  const Tensor x = leaf(6);
  const NodePtr accumulator = gradient_edge(x).node;  // alive all the time
  const auto next = [&] { return grad_fn(ops::exp(x))->sequence(); };
  const uint64_t first = next();
  std::thread([&] { next(), next(), next(); }).join();
  EXPECT_EQ(next(), first + 1);
}

TEST_F(Rows, E2_undefined_gradients_are_allowed) {
  const Tensor x = random_leaf(std::array<int64_t, 2>{2, 3}, 7);
  const std::vector<Tensor> rows = ops::unstack(x, 0);
  std::vector<bool> defined;
  add_pre_hook(*grad_fn(rows[0]), [&](std::span<Tensor> grads) {
    for (const Tensor& grad : grads) defined.push_back(grad.defined());
  });
  backward(std::array{ops::sum(rows[1])});
  EXPECT_EQ(defined, (std::vector<bool>{false, true}));
  EXPECT_TRUE(grad_of(x).defined());
}

TEST_F(Rows, E7_error_node_raises_when_it_runs_and_not_before) {
  const Tensor x = leaf(8);
  const Tensor doubled = ops::multiply(x, 2);
  const Tensor bad = delay_error(doubled, std::array{x}, "expected not to be differentiated");
  const Tensor y = ops::sum(ops::multiply(bad, x));
  // The graph can be built, walked, and differentiated where the path does not lead through it.
  EXPECT_STREQ(grad_fn(bad)->name(), "Error");
  EXPECT_TRUE(grad(std::array{y}, std::array{bad}, {}, {.retain_graph = true})[0].defined());
  try {
    backward(std::array{y});
    FAIL() << "the error node did not raise";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kAutograd);
    EXPECT_NE(error.message().find("expected not to be differentiated"), std::string::npos);
  }
}

TEST_F(Rows, E13_node_runs_once_with_all_its_gradients) {
  // x feeds eight nodes of different depth; its producer waits for all of them.
  const Tensor x = leaf(9);
  const Tensor shared = ops::exp(x);
  int runs = 0;
  add_pre_hook(*grad_fn(shared), [&](std::span<Tensor>) { ++runs; });
  Tensor total = ops::sin(shared);
  for (int i = 0; i < 7; ++i) total = ops::multiply(ops::sin(total), shared);
  backward(std::array{ops::sum(total)});
  EXPECT_EQ(runs, 1);
}

// Builds, runs and frees a long chain; returns the gradient of its leaf.
double through_a_chain(int length) {
  const Tensor x = random_leaf(DimsView{}, 20);
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = ops::multiply(y, 1.0);
  backward(std::array{y});
  y.reset();
  return number(grad_of(x));
}

TEST_F(Rows, E23_million_operators_are_built_run_and_freed_on_a_small_stack) {
  const int64_t before = live_nodes();
  double found = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  pthread_t thread{};
  const auto run = [](void* result) -> void* {
    *static_cast<double*>(result) = through_a_chain(effort(1'000'000, 100'000));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &found), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(live_nodes(), before);
}

TEST_F(Rows, A13_graph_stays_as_it_was_when_a_tensor_gets_another_history) {
  const Tensor x = leaf(10);
  const Tensor y = ops::exp(x);
  const NodePtr of_y = grad_fn(y);
  const Tensor z = ops::multiply(y, 2);
  ops::multiply(y, 3, ops::Out::inplace(y));
  EXPECT_EQ(grad_fn(z)->next_edge(0).node, of_y);
  EXPECT_NE(grad_fn(y), of_y);
  EXPECT_EQ(grad_fn(y)->next_edge(0).node, of_y);
  // z needs no value of y, but the exponential needs its result, which the write has changed.
  try {
    backward(std::array{ops::sum(z)});
    FAIL() << "the write went unnoticed";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("output 0 of ExpBackward"), std::string::npos)
        << error.message();
  }
}

TEST_F(Rows, A13_write_is_no_error_where_no_derivative_needs_the_old_value) {
  const Tensor x = leaf(11);
  const Tensor y = ops::multiply(x, 5);
  const Tensor z = ops::multiply(y, 2);
  ops::multiply(y, 3, ops::Out::inplace(y));
  backward(std::array{ops::sum(z)});
  backward(std::array{ops::sum(y)});
  const Tensor expected = ops::add(ops::zeros(Shape{3}, DType::kFloat64), 10 + 15);
  EXPECT_EQ(number(ops::max(ops::abs(ops::subtract(grad_of(x), expected)))), 0);
}

// ---- Who owns what ----

// x * x * x as a custom function that saves its input and its output.
class Cube final : public CustomFunction {
 public:
  void backward(CustomNode& node, std::span<const Tensor> grads,
                std::span<Tensor> results) override {
    results[0] = ops::multiply(ops::multiply(grads[0], 3), ops::square(node.saved(0)));
  }
};

Tensor cube(const Tensor& x) {
  const auto node = CustomNode::create("CubeBackward", std::array{x}, std::make_unique<Cube>());
  Tensor y;
  {
    const NoGrad guard;
    y = ops::multiply(ops::square(x), x);
  }
  node->save(std::array{x, y});
  node->attach(std::array{y});
  return y;
}

struct Graph {
  const char* name;
  std::function<std::vector<Tensor>(const Tensor& x)> build;
  bool usable = true;  // false: a write has changed what a node saved
};

const std::vector<Graph> kGraphs = {
    {"saves its output", [](const Tensor& x) { return std::vector{ops::exp(x)}; }},
    {"saves its input", [](const Tensor& x) { return std::vector{ops::sin(x)}; }},
    {"saves a leaf twice", [](const Tensor& x) { return std::vector{ops::multiply(x, x)}; }},
    {"saves an intermediate",
     [](const Tensor& x) {
       const Tensor a = ops::exp(x);
       return std::vector{ops::multiply(a, x), a};
     }},
    {"saves outputs in a row",
     [](const Tensor& x) { return std::vector{ops::tanh(ops::exp(ops::sigmoid(x)))}; }},
    {"is written in place",
     [](const Tensor& x) {
       const Tensor a = ops::multiply(x, 2);
       ops::exp(a, ops::Out::inplace(a));
       return std::vector{a};
     }},
    {"is written by its own descendant",
     [](const Tensor& x) {
       const Tensor a = ops::multiply(x, 2);
       ops::add(a, ops::sin(a), ops::Out::inplace(a));
       return std::vector{a};
     },
     false},
    {"is written through a view",
     [](const Tensor& x) {
       const Tensor base = ops::multiply(x, 2);
       const Tensor row = ops::narrow(base, 0, 1, 2);
       ops::exp(row, ops::Out::inplace(row));
       return std::vector{base, row};
     }},
    {"is a view of a saved output",
     [](const Tensor& x) { return std::vector{ops::expand_dims(ops::exp(x), 0)}; }},
    {"has several outputs", [](const Tensor& x) { return ops::unstack(ops::exp(x), 0); }},
    {"broadcasts",
     [](const Tensor& x) {
       return std::vector{ops::multiply(ops::broadcast_to(x, std::array<int64_t, 2>{2, 3}), x)};
     }},
    {"multiplies matrices",
     [](const Tensor& x) {
       const Tensor row = ops::expand_dims(x, 0);
       return std::vector{ops::matmul(row, ops::matrix_transpose(row))};
     }},
    {"is a softmax", [](const Tensor& x) { return std::vector{ops::softmax(x, 0)}; }},
    {"is a custom function", [](const Tensor& x) { return std::vector{cube(x)}; }},
    {"retains its gradient",
     [](const Tensor& x) {
       const Tensor a = ops::exp(x);
       retain_grad(a);
       return std::vector{ops::sin(a), a};
     }},
    {"is a gradient of a gradient",
     [](const Tensor& x) {
       const Tensor y = ops::sum(ops::exp(ops::square(x)));
       return grad(std::array{y}, std::array{x}, {}, {.create_graph = true});
     }},
};

int64_t allocated() {
  return allocator_for(Device{}).stats().allocated_bytes.all.current;
}

// What one leaf, its graphs and its gradients keep alive.
struct Alive {
  int64_t nodes, bytes;
  uint32_t users_of_leaf;
  bool operator==(const Alive&) const = default;
};
Alive alive(const Tensor& x) {
  return {live_nodes(), allocated(), x.impl()->refs.load()};
}
std::ostream& operator<<(std::ostream& out, const Alive& a) {
  return out << a.nodes << " nodes, " << a.bytes << " bytes, " << a.users_of_leaf << " users";
}

TEST_F(Rows, A14_graph_dies_with_its_outputs) {
  for (const Graph& graph : kGraphs) {
    SCOPED_TRACE(graph.name);
    const Tensor x = leaf(12);
    const Alive before = alive(x);
    std::vector<Tensor> outputs = graph.build(x);
    EXPECT_GT(live_nodes(), before.nodes);
    outputs.clear();
    EXPECT_EQ(alive(x), before);
  }
}

TEST_F(Rows, A14_outputs_die_in_any_order) {
  for (const Graph& graph : kGraphs) {
    SCOPED_TRACE(graph.name);
    const Tensor x = leaf(13);
    const Alive before = alive(x);
    std::vector<Tensor> outputs = graph.build(x);
    while (!outputs.empty()) outputs.erase(outputs.begin());
    EXPECT_EQ(alive(x), before);
  }
}

TEST_F(Rows, A14_graph_dies_with_its_outputs_after_a_backward) {
  for (const Graph& graph : kGraphs) {
    SCOPED_TRACE(graph.name);
    if (!graph.usable) continue;
    for (const bool retained : {false, true}) {
      const Tensor x = leaf(14);
      set_grad(x, ops::zeros(Shape{3}, DType::kFloat64));
      const Alive before = alive(x);
      {
        const std::vector<Tensor> outputs = graph.build(x);
        backward(std::array{ops::sum(outputs[0])}, {}, {.retain_graph = retained});
      }
      EXPECT_EQ(alive(x), before);
    }
  }
}

TEST_F(Rows, A15_saved_output_makes_no_cycle_and_has_its_node_again_when_read) {
  const Tensor x = leaf(15);
  const Alive before = alive(x);
  Tensor y = ops::exp(x);
  NodePtr node = grad_fn(y);
  EXPECT_EQ(y.impl()->refs.load(), 1U);  // the node that saved y does not own it
  const Tensor read = node->saved(0);
  EXPECT_EQ(read.storage(), y.storage());
  EXPECT_EQ(grad_fn(read), node);
  y.reset();
  EXPECT_EQ(grad_fn(node->saved(0)), node);  // also when the tensor itself is gone
  const_cast<Tensor&>(read).reset();
  node.reset();
  EXPECT_EQ(alive(x), before);
}

TEST_F(Rows, A16_saved_leaf_is_given_up_with_the_graph) {
  const Tensor x = leaf(16);
  const auto users = [&] { return x.impl()->refs.load(); };
  EXPECT_EQ(users(), 1U);
  Tensor y = ops::sin(x);
  EXPECT_EQ(users(), 3U);  // its accumulator, and the node that has saved it
  EXPECT_EQ(gradient_edge(grad_fn(y)->saved(0)).node, gradient_edge(x).node);
  backward(std::array{ops::sum(y)});
  EXPECT_EQ(users(), 2U);
  y.reset();
  EXPECT_EQ(users(), 1U);
}

TEST_F(Rows, A16_saved_leaf_keeps_its_version) {
  const Tensor x = leaf(16);
  const Tensor y = ops::sin(x);
  {
    const NoGrad guard;
    ops::multiply(x, 2, ops::Out::inplace(x));
  }
  try {
    backward(std::array{ops::sum(y)});
    FAIL() << "the write to the saved leaf went unnoticed";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("is at version 1; expected version 0"), std::string::npos)
        << error.message();
  }
}

// ---- The engine beside other threads ----

int64_t processor_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

TEST_F(Rows, E11_idle_process_uses_no_processor_time) {
  const int32_t threads = num_threads();
  set_num_threads(2);
  const Tensor x = random_leaf(std::array<int64_t, 2>{256, 256}, 17);
  for (int i = 0; i < 3; ++i) backward(std::array{ops::sum(ops::exp(ops::matmul(x, x)))});
  usleep(20'000);  // a waiting thread looks around for some microseconds before it sleeps
  const int64_t before = processor_time_ns();
  usleep(300'000);
  EXPECT_LT(processor_time_ns() - before, 30'000'000);
  set_num_threads(threads);
}

// Lets threads go on when all have arrived; gives up after a minute.
class Meeting {
 public:
  explicit Meeting(int expected) : missing_(expected) {}
  bool arrive() {
    std::unique_lock lock(mutex_);
    if (--missing_ == 0) all_.notify_all();
    return all_.wait_for(lock, std::chrono::minutes(1), [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

TEST_F(Rows, E24_backwards_of_several_threads_run_at_the_same_time) {
  constexpr int kThreads = 3;
  const Tensor shared = leaf(18);
  Meeting meeting(kThreads);
  std::atomic<int> met{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const Tensor y = ops::multiply(shared, 2);
      // Each backward stands in the middle of its graph until the others stand there too.
      add_pre_hook(*grad_fn(y), [&](std::span<Tensor>) { met += meeting.arrive() ? 1 : 0; });
      backward(std::array{ops::sum(y)});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(met, kThreads);
  EXPECT_EQ(number(ops::max(grad_of(shared))), 2.0 * kThreads);
}

// ---- Gradients whose memory is taken for the next ones ----

std::vector<double> values(const Tensor& t) {
  const auto* data = static_cast<const double*>(t.data());
  return {data, data + t.numel()};
}

TEST_F(Rows, E14_product_takes_the_memory_of_a_gradient_that_nobody_else_sees) {
  const Tensor x = leaf(21);
  const Tensor factor = ops::add(ops::zeros(Shape{3}, DType::kFloat64), 2);
  const Tensor y = ops::multiply(ops::multiply(ops::exp(x), factor), factor);
  std::vector<const void*> memory;
  const auto look = [&](std::span<Tensor> grads) { memory.push_back(grads[0].data()); };
  NodePtr node = grad_fn(y);
  for (int i = 0; i < 3; ++i) {
    add_pre_hook(*node, look);
    node = node->next_edge(0).node;
  }
  const Tensor given = ops::ones_like(y);
  backward(std::array{y}, std::array{given});
  EXPECT_NE(memory[1], memory[0]);  // the caller's
  EXPECT_EQ(memory[2], memory[1]);
  EXPECT_EQ(values(given), (std::vector<double>{1, 1, 1}));
}

TEST_F(Rows, E14_gradient_that_somebody_sees_stays_as_it_is) {
  const Tensor x = leaf(22);
  const Tensor factor = ops::add(ops::zeros(Shape{3}, DType::kFloat64), 2);
  const Tensor a = ops::multiply(x, 1);
  const Tensor b = ops::multiply(a, factor);
  const Tensor y = ops::multiply(b, factor);
  retain_grad(b);
  Tensor kept;
  std::vector<double> after;
  add_tensor_hook(a, [&](const Tensor& grad) {
    kept = grad;
    return Tensor();
  });
  add_post_hook(*grad_fn(b), [&](std::span<Tensor>, std::span<const Tensor> grads) {
    after = values(grads[0]);
  });
  const auto found = grad(std::array{y}, std::array{a, b, x}, std::array{ops::ones_like(y)},
                          {.retain_graph = true});
  EXPECT_EQ(values(found[0]), (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(values(found[1]), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(values(found[2]), (std::vector<double>{4, 4, 4}));
  set_grad(b, {});
  backward(std::array{y}, std::array{ops::ones_like(y)});
  EXPECT_EQ(values(kept), (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(values(grad_of(b)), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(after, (std::vector<double>{2, 2, 2}));
  // Both factors need a gradient: the first is computed before the memory is taken.
  const Tensor u = leaf(23);
  const Tensor v = leaf(24);
  const auto both =
      grad(std::array{ops::sum(ops::multiply(ops::multiply(u, v), factor))}, std::array{u, v});
  EXPECT_EQ(values(both[0]), values(ops::multiply(v.detached(), 2)));
  EXPECT_EQ(values(both[1]), values(ops::multiply(u.detached(), 2)));
}

TEST_F(Rows, A5_graph_is_retained_by_default_when_the_backward_is_recorded) {
  const Tensor x = leaf(19);
  const Tensor y = ops::sum(ops::exp(x));
  const BackwardOptions recorded{.create_graph = true};
  grad(std::array{y}, std::array{x}, {}, recorded);
  grad(std::array{y}, std::array{x}, {}, recorded);
  grad(std::array{y}, std::array{x}, {}, {.retain_graph = false, .create_graph = true});
  EXPECT_THROW(grad(std::array{y}, std::array{x}), Error);
}

}  // namespace
}  // namespace tsr::test_rows
