// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/engine.h"

#include "autograd/accumulate_grad.h"
#include "autograd/batch.h"
#include "autograd/grad_mode.h"
#include "autograd/gradient_ops.h"
#include "autograd/graph_task.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "autograd/verify_graph.h"
#include "base/error.h"

namespace tsr {
namespace {

struct EngineState {
  GraphTask* current = nullptr;
  GraphTask* outermost = nullptr;
  int depth = 0;
  bool reaches_all = true;
};
constinit thread_local EngineState t_engine;

// Makes `task` the innermost one of this thread.
class RunningTask {
 public:
  explicit RunningTask(GraphTask* task) : previous_(t_engine) {
    TSR_CHECK(t_engine.depth < kMaxBackwardDepth, Code::kAutograd, nullptr, "expected at most ",
              kMaxBackwardDepth, " backwards nested in each other, got one more");
    GraphTask* outermost = previous_.outermost == nullptr ? task : previous_.outermost;
    t_engine = {task, outermost, previous_.depth + 1,
                previous_.reaches_all && !task->has_targets()};
  }
  RunningTask(const RunningTask&) = delete;
  RunningTask& operator=(const RunningTask&) = delete;
  ~RunningTask() { t_engine = previous_; }

 private:
  EngineState previous_;
};

void check_running() {
  TSR_CHECK(t_engine.current != nullptr, Code::kAutograd, nullptr,
            "expected to be called while a backward runs on this thread, got a call outside one");
}

Dims with_samples(DimsView sizes, int64_t samples) {
  Dims result;
  if (samples != Backward::kNoBatch) result.push_back(samples);
  for (const int64_t size : sizes) result.push_back(size);
  return result;
}

Tensor implicit_gradient(const Tensor& root, int64_t samples) {
  TSR_CHECK(root.numel() == 1, Code::kAutograd, nullptr,
            "expected a gradient for each root that has more than one element, because a gradient "
            "can be created implicitly only for scalar outputs, got none for a root of shape ",
            root.sizes());
  TSR_CHECK(!is_complex(root.dtype()), Code::kAutograd, nullptr,
            "expected a gradient for a root of dtype ", root.dtype(),
            ", because it can be created implicitly only for real scalar outputs, got none");
  // An ordinary tensor also when the backward is asked for in inference mode.
  const GradModeScope outside_inference({grad_enabled(), false});
  return gradient_ops().ones(with_samples(root.sizes(), samples), root.dtype(), root.device());
}

Tensor checked_gradient(const Tensor& root, const Tensor& given, size_t index, int64_t samples) {
  if (!given.defined()) return implicit_gradient(root, samples);
  TSR_CHECK(given.sizes() == with_samples(root.sizes(), samples), Code::kShape, "grads",
            "mismatch in shape: expected gradient ", index, " to have the shape ", root.sizes(),
            " of its output", samples == Backward::kNoBatch ? "" : " behind an axis of samples",
            ", got ", given.sizes());
  TSR_CHECK(given.device() == root.device(), Code::kDevice, "grads", "expected gradient ", index,
            " on ", root.device(), ", got one on ", given.device());
  TSR_CHECK(is_complex(given.dtype()) == is_complex(root.dtype()), Code::kDType, "grads",
            "expected gradient ", index, " of dtype ", root.dtype(), ", got ", given.dtype());
  return given.dtype() == root.dtype() ? given : gradient_ops().cast(given, root.dtype());
}

GraphRoot make_root(std::span<const Tensor> roots, std::span<const Tensor> grads,
                    int64_t samples = Backward::kNoBatch) {
  TSR_CHECK(grads.empty() || grads.size() == roots.size(), Code::kValue, "grads",
            "expected no gradients or one for each of the ", roots.size(), " outputs, got ",
            grads.size());
  GraphRoot root;
  for (size_t i = 0; i < roots.size(); ++i) {
    TSR_CHECK(roots[i].defined(), Code::kInvalidArgument, "roots", "expected tensors, got none at ",
              i);
    Edge edge = requires_grad(roots[i]) ? gradient_edge(roots[i]) : Edge{};
    TSR_CHECK(edge.node, Code::kAutograd, nullptr, "element ", i,
              " of tensors does not require grad and does not have a grad_fn");
    root.grads.push_back(
        checked_gradient(roots[i], grads.empty() ? Tensor() : grads[i], i, samples));
    root.edges.push_back(std::move(edge));
  }
  return root;
}

#ifdef NDEBUG
constexpr bool kVerifyGraphs = false;
#else
constexpr bool kVerifyGraphs = true;
#endif

// Runs `task` with the engine's thread state set up.
void run_task(GraphTask& task, const GraphRoot& root, bool create_graph) {
  const RunningTask running(&task);
  const GradModeScope mode({create_graph, false});
  task.run();
  if constexpr (kVerifyGraphs) verify_graph({root.edges.data(), root.edges.size()});
}

void check_inputs(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    TSR_CHECK(inputs[i].defined() && requires_grad(inputs[i]), Code::kAutograd, "inputs",
              "expected tensors that require grad, got one at ", i, " that does not");
  }
}

void check_edges(std::span<const Edge> edges) {
  for (size_t i = 0; i < edges.size(); ++i) {
    TSR_CHECK(edges[i].node, Code::kAutograd, "inputs", "expected edges with a node, got none at ",
              i);
    const size_t count = edges[i].node->outputs().size();
    TSR_CHECK(edges[i].output < count, Code::kIndex, "inputs", "expected the number of one of the ",
              count, " outputs of ", edges[i].node->name(), ", got ", edges[i].output);
  }
}

}  // namespace

void backward(std::span<const Tensor> roots, std::span<const Tensor> grads, BackwardOptions options,
              std::span<const Tensor> inputs) {
  check_inputs(inputs);
  const GraphRoot root = make_root(roots, grads);
  GraphTask task(root, options.retain_graph.value_or(options.create_graph));
  for (const Tensor& input : inputs) {
    retain_grad(input);
    task.deliver(gradient_edge(input));
  }
  run_task(task, root, options.create_graph);
}

void backward_to_edges(std::span<const Tensor> roots, std::span<const Tensor> grads,
                       BackwardOptions options, std::span<const Edge> inputs) {
  check_edges(inputs);
  const GraphRoot root = make_root(roots, grads);
  GraphTask task(root, options.retain_graph.value_or(options.create_graph));
  for (const Edge& input : inputs) task.deliver(input);
  run_task(task, root, options.create_graph);
}

std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         std::span<const Tensor> grads, BackwardOptions options,
                         bool allow_unused) {
  check_inputs(inputs);
  SmallVector<Edge, 4> edges;
  for (const Tensor& input : inputs) edges.push_back(gradient_edge(input));
  return grad_at_edges(outputs, {edges.data(), edges.size()}, grads, options, allow_unused);
}

std::vector<Tensor> grad_at_edges(std::span<const Tensor> outputs, std::span<const Edge> inputs,
                                  std::span<const Tensor> grads, BackwardOptions options,
                                  bool allow_unused) {
  check_edges(inputs);
  const int64_t samples = options.batched ? count_samples(grads) : Backward::kNoBatch;
  const GraphRoot root = make_root(outputs, grads, samples);
  GraphTask task(root, options.retain_graph.value_or(options.create_graph), samples);
  for (size_t i = 0; i < inputs.size(); ++i) task.capture(inputs[i], i);
  run_task(task, root, options.create_graph);
  std::vector<Tensor> results = task.take_captured();
  results.resize(inputs.size());
  for (size_t i = 0; i < results.size() && !allow_unused; ++i) {
    TSR_CHECK(results[i].defined(), Code::kAutograd, "inputs",
              "expected every input to be used in the graph, got input ", i,
              " that appears to not have been used; allow_unused accepts that");
  }
  return results;
}

void queue_callback(std::function<void()> callback) {
  check_running();
  t_engine.current->queue_callback(std::move(callback));
}

void queue_last_callback(std::function<void()> callback) {
  check_running();
  t_engine.outermost->queue_callback(std::move(callback));
}

const void* current_backward() noexcept {
  return t_engine.current;
}

int64_t current_sample() noexcept {
  return t_engine.current == nullptr ? 0 : t_engine.current->sample();
}

bool backward_reaches_all_leaves() {
  check_running();
  return t_engine.reaches_all;
}

int backward_depth() noexcept {
  return t_engine.depth;
}

}  // namespace tsr
