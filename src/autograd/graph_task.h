// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GraphTask: one backward while it runs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/anomaly.h"
#include "autograd/backward_streams.h"
#include "autograd/ready_queue.h"
#include "autograd/slot_table.h"

namespace tsr {

// Where a backward starts: the nodes of the roots and the gradients that enter them.
struct GraphRoot {
  SmallVector<Edge, 2> edges;
  SmallVector<Tensor, 2> grads;
};

class GraphTask {
 public:
  // `root` must outlive the task and keeps the graph alive.
  GraphTask(const GraphRoot& root, bool retain_graph, int64_t samples = Backward::kNoBatch) noexcept
      : root_(root), samples_(samples), retain_graph_(retain_graph), watched_(anomaly_mode().on) {}

  // Without targets everything reachable runs. With targets only nodes on a path to one do.
  // Stores the gradient that arrives at `edge` as result `index` of take_captured.
  void capture(const Edge& edge, size_t index);
  // Runs the accumulator, or delivers to the tensor hooks of a node.
  void deliver(const Edge& edge);

  // Runs the graph in the grad mode of the caller, then the final callbacks.
  void run();
  [[nodiscard]] std::vector<Tensor> take_captured() noexcept { return std::move(captured_); }
  void queue_callback(std::function<void()> callback);
  [[nodiscard]] bool has_targets() const noexcept { return has_targets_; }
  // The sample whose gradients tensor hooks see now; 0 in a backward that is not batched.
  [[nodiscard]] int64_t sample() const noexcept { return sample_; }

 private:
  struct Capture {
    uint32_t output;
    int32_t next;  // the next capture of the same node, or -1
    size_t index;
  };
  using Gradients = SmallVector<Tensor, 2>;
  using Results = SmallVector<Tensor, 4>;
  using Children = SmallVector<Slot*, 4>;

  Slot& target(const Edge& edge);
  void count_dependencies();
  void walk_to_targets(Slot& start);
  // Without streams everything runs on default streams, and there is nothing to order.
  template <bool kOnStreams>
  void run_nodes();
  void run_on_streams();
  template <bool kOnStreams>
  void seed();
  template <bool kOnStreams>
  void run_slot(Slot& slot);
  void run_slot_on_streams(Slot& slot);
  void run_tensor_hooks_on(Node& node, std::span<Tensor> grads);
  void run_node(Node& node, std::span<Tensor> grads, std::span<Tensor> results, uint64_t needs,
                int64_t samples = Backward::kNoBatch);
  void run_batch(Node& node, std::span<Tensor> grads, std::span<Tensor> results, uint64_t needs);
  uint64_t find_children(const Node& node, Children& children);
  template <bool kOnStreams>
  void pass_on(const Node& node, Results& results, const Children& children);
  void deliver_on_streams(Slot& slot, uint32_t output, Tensor grad, bool from_caller);

  const GraphRoot& root_;
  SmallVector<Edge, 2> targets_;  // alive as long as the table, which names their nodes
  SlotTable table_;
  ReadyQueue ready_;
  BackwardStreams* streams_ = nullptr;  // while the backward runs, if it needs them
  std::vector<Capture> captures_;
  std::vector<Tensor> captured_;
  std::vector<std::function<void()>> callbacks_;
  uint32_t lowest_target_ = UINT32_MAX;
  int64_t samples_;  // of a batched backward
  int64_t sample_ = 0;
  bool retain_graph_;
  bool watched_;  // in anomaly mode
  bool has_targets_ = false;
};

}  // namespace tsr
