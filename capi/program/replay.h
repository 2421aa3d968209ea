// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Replay: a training step as the kernel launches that it made.
//
// Note [Replayed steps]
// A backward is one call, and the nodes that it runs are made anew by every forward, so a training
// step cannot be planned call by call as in Note [Planned runs]. Instead, one run is watched as a
// whole. Its memory comes from a pool of its own, so that the kernels it launched can be launched
// again at the same addresses, in order, without operators, graph or allocation. The first run with
// inputs of a layout only shows what is written; the second one is captured; later ones replay.
// - The capture is checked: the memory of before is put back, the pool is overwritten, and the
//   launches alone must give the same bytes for all parameters, gradients, states and outputs. What
//   decided on the host from elements says so (note_host_decision); such a step is not replayed.
// - The steps of optimizers and the clipping of gradients depend on numbers that the host keeps
//   (learning rates, counts of steps, norms). They are called in every run.
// - Addresses in inputs follow the caller's tensors. Seeds and offsets of random numbers follow the
//   generators. Outputs are copied out.
// - Gradients stay in the pool: a leaf that the step gave a gradient has the same tensor in every
//   run. If the caller holds that tensor, or anything else is not as it was (hooks, requires_grad,
//   the memory of a parameter), the run is made by calls. If that lasts, a later run is captured
//   anew.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capi/program/plan.h"
#include "capi/program/pool.h"
#include "capi/program/prepared.h"
#include "capi/program/program.h"
#include "kernel/kept_launch.h"

namespace tsr::capi::program {

// Sees the calls of a run.
class StepWatcher {
 public:
  StepWatcher() = default;
  StepWatcher(const StepWatcher&) = delete;
  StepWatcher& operator=(const StepWatcher&) = delete;
  virtual ~StepWatcher() = default;
  virtual void before_step(size_t step) = 0;
  virtual void after_step(size_t step, const Slots& slots) = 0;
};

class Replay {
 public:
  // Makes a run by calls.
  using Calls = std::function<std::vector<Tensor>(StepWatcher* watcher)>;

  Replay(Program& program, std::span<const Tensor> given, const Sizes& sizes);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay();

  // Whether the inputs have the layout of this replay.
  [[nodiscard]] bool fits(std::span<const Tensor> given, const Sizes& sizes) const noexcept;
  std::vector<Tensor> run(std::span<const Tensor> given, const Calls& calls);

  // Why the step is not replayed; empty if it is, or may be later.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] bool is_kept() const noexcept { return stage_ == Stage::kKept; }
  [[nodiscard]] size_t launch_count() const noexcept;
  [[nodiscard]] uint64_t pool_bytes() const { return pool_ == nullptr ? 0 : pool_->held_bytes(); }

 private:
  enum class Stage : uint8_t { kNew, kSeen, kKept };

  struct Item {
    std::unique_ptr<kernel::KeptLaunch> launch;  // null: call `live`
    int32_t live = -1;                           // made by this call in later runs
  };
  // A call that is made in every run.
  struct Live {
    int32_t step;
    std::unique_ptr<Prepared> prepared;
    std::vector<Tensor> grads;    // by leaf, as when it was captured
    std::vector<Tensor> results;  // in the pool
  };
  struct Leaf {
    explicit Leaf(const Tensor& stored);
    StoredAt at;
    bool requires_grad;
    size_t hooks;
    bool had_grad = false;
    Tensor before, after;  // .grad; `before` only while capturing
    bool stays = false;    // both are one tensor, which the step writes
    // References that the replay has to `after`, and tensors on its storage.
    uint32_t holders = 0, on_storage = 0;
  };
  struct Output {
    enum class Kind : uint8_t { kInput, kStored, kAlias, kCopy } kind;
    size_t input = 0;
    Tensor inner;  // of kCopy in the pool; of kStored and kAlias on a stored tensor's memory
    Tensor lent;   // what the last run gave
    const void* data = nullptr;
  };
  struct Moving {
    kernel::KeptLaunch* launch;
    int32_t at;
    size_t input;
    ptrdiff_t offset;
  };
  struct Drawing {
    kernel::Draw draw;
    size_t source;
    uint64_t offset;  // from the source's state when the run began
  };
  struct Source {
    Generator* generator;  // null: the current one of the thread that runs
    GeneratorState before;
    uint64_t blocks = 0;
  };
  class Capture;

  void observe(const Calls& calls, std::vector<Tensor>& outputs);
  // Leaves the stage unless it succeeds; sets reason_ if it never will.
  void capture(std::span<const Tensor> given, const Calls& calls, std::vector<Tensor>& outputs);
  void forget() noexcept;
  void give_up();
  [[nodiscard]] bool can_replay(std::span<const Tensor> given) const;
  std::vector<Tensor> replay(std::span<const Tensor> given);
  void call_live(Live& live);
  static void put_grad(const Leaf& leaf, const Tensor& grad);
  void place_inputs(std::span<const Tensor> given);
  [[nodiscard]] Tensor give(Output& output, std::span<const Tensor> given) const;
  [[nodiscard]] std::vector<Tensor> give_all(std::span<const Tensor> given);

  Program& program_;
  Sizes sizes_;
  std::vector<Layout> inputs_;
  Stage stage_ = Stage::kNew;
  int32_t captures_ = 0;  // since the last one that was of use
  int32_t replays_ = 0;   // of this capture
  int32_t misses_ = 0;    // runs since then that could not be replayed
  std::string reason_;
  Pool* pool_ = nullptr;
  std::vector<StoragePtr> written_;  // of stored tensors
  std::vector<Item> items_;
  std::vector<Live> live_;
  std::vector<Leaf> leaves_;
  std::vector<Moving> moving_;
  std::vector<const void*> moved_to_;  // by input
  std::vector<Drawing> drawings_;
  std::vector<Source> sources_;
  std::vector<Output> outputs_;
};

}  // namespace tsr::capi::program
