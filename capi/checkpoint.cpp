// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/checkpoint.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/ambient_parts.h"
#include "base/error.h"
#include "base/generator.h"
#include "base/guarded_mutex.h"
#include "capi/generated/infos.h"
#include "capi/lend.h"
#include "capi/saved_hooks.h"

using namespace tsr;
using namespace tsr::capi;

// Note [Checkpoints]
// The first run of a function packs each tensor that its nodes save into a slot without the tensor.
// The nodes own the slots, the slots own the checkpoint, and the checkpoint knows its slots without
// owning them. The first unpack runs the function again, with hooks that count what is saved and
// put the k-th tensor into the k-th slot if that still exists; so a recomputed tensor lives as long
// as the node that needs it. The graph of the second run is never used and goes at its end.
//
// A checkpoint inside another saves its inputs through the hooks of the outer one: then the outer
// function runs again before the inner one.

namespace {

class Checkpoint;

struct Slot {
  std::shared_ptr<Checkpoint> owner;
  size_t index = 0;
  Dims sizes;
  Device device;
  DType dtype = DType::kBool;
  // Guarded by the checkpoint's lock.
  Tensor found;
  uint32_t version = 0;
};

std::string describe(DType dtype, const Dims& sizes, Device device) {
  return concat(dtype, " ", sizes, " on ", device);
}

// The state in which the function runs.
struct RunState {
  explicit RunState(bool with_random)
      : generator(IntrusivePtr<Generator>::share(&current_generator())),
        random(generator->state()),
        restores_random(with_random) {}

  IntrusivePtr<Generator> generator;
  GeneratorState random;
  bool restores_random;
  Device default_device = t_default_device;
  AmbientParts parts = AmbientParts::save(AmbientUse::kReruns);

  void restore() const {
    t_default_device = default_device;
    parts.restore();
    if (!restores_random) return;
    set_current_generator(generator);
    generator->set_state(random);
  }
};

// Puts this thread into the state of the first run, and back. The generator of the first run
// continues as if there had been no second run.
class InStateOf {
 public:
  explicit InStateOf(const RunState& first)
      : before_(first.restores_random),
        generator_(first.generator),
        random_(generator_->state()),
        hooks_(pushed_hooks()),
        mode_({true, false}) {
    first.restore();
  }
  InStateOf(const InStateOf&) = delete;
  InStateOf& operator=(const InStateOf&) = delete;
  ~InStateOf() {
    set_pushed_hooks(std::move(hooks_));  // also takes off what the function has left
    if (before_.restores_random) generator_->set_state(random_);
    before_.restore();
  }

 private:
  RunState before_;
  IntrusivePtr<Generator> generator_;
  GeneratorState random_;
  std::shared_ptr<const PushedHooks> hooks_;
  GradModeScope mode_;
};

// Saves the arguments as a node of an operation would: with a check against later writes, and
// through the hooks of an outer checkpoint. It is in no graph.
class KeptInputs final : public Node {
 public:
  explicit KeptInputs(std::span<const Tensor> inputs) : Node("Checkpoint") {
    for (const Tensor& input : inputs) {
      add_edge(tsr::requires_grad(input) ? gradient_edge(input) : Edge{});
      requires_grad_.push_back(tsr::requires_grad(input));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      save({inputs[i], SavedTensor::Kind::kInput, static_cast<uint32_t>(i)});
    }
  }
  void apply(Backward& ctx) override {
    static_cast<void>(ctx);
    TSR_ASSERT(false, "expected a node outside every graph");
  }

  [[nodiscard]] std::vector<Tensor> fresh() const {
    const NoGrad guard;
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < requires_grad_.size(); ++i) {
      inputs.push_back(saved(i).detached());
      if (requires_grad_[i]) set_requires_grad(inputs.back(), true);
    }
    return inputs;
  }

 private:
  std::vector<bool> requires_grad_;
};

class Checkpoint final : public SavedTensorHooks, public std::enable_shared_from_this<Checkpoint> {
 public:
  Checkpoint(std::span<const Tensor> inputs, tsr_checkpoint_run_fn run, UserData data,
             CheckpointOptions options)
      : inputs_(NodePtr::adopt(new KeptInputs(inputs))),
        run_(run),
        data_(std::move(data)),
        options_(options),
        state_(options.restore_random) {}

  std::shared_ptr<void> pack(const Tensor& tensor) override {
    const std::lock_guard lock(mutex_);
    auto slot = std::make_shared<Slot>(Slot{
        shared_from_this(), slots_.size(), tensor.sizes(), tensor.device(), tensor.dtype(), {}, 0});
    slots_.push_back(slot);
    return slot;
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    const auto& slot = *static_cast<const Slot*>(packed.get());
    if (!found(slot).defined()) recompute();
    Tensor tensor = found(slot);
    TSR_ASSERT(tensor.defined(), "expected a second run to have found tensor ", slot.index);
    return tensor;
  }

  // Puts tensor `index` of a second run into its slot.
  void take(size_t index, const Tensor& tensor) {
    std::shared_ptr<Slot> slot;
    const std::lock_guard lock(mutex_);
    if (index < slots_.size()) slot = slots_[index].lock();
    if (slot == nullptr) return;
    if (options_.check_metadata) check(*slot, tensor);
    if (slot->found.defined()) return;
    slot->found = tensor;
    slot->version = tensor.version();
  }

  // The number of slots, and the number up to which they are needed.
  struct Extent {
    size_t all = 0, needed = 0;
  };
  [[nodiscard]] Extent extent() const {
    const std::lock_guard lock(mutex_);
    Extent extent{slots_.size(), 0};
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].expired()) extent.needed = i + 1;
    }
    return extent;
  }

  [[nodiscard]] const CheckpointOptions& options() const noexcept { return options_; }

 private:
  void recompute();

  // Undefined if it was not found yet. Throws if the function has written to it since.
  [[nodiscard]] Tensor found(const Slot& slot) const {
    const std::lock_guard lock(mutex_);
    TSR_CHECK(!slot.found.defined() || slot.found.version() == slot.version, Code::kAutograd,
              nullptr,
              "expected the function of a checkpoint to leave unchanged what it saves, "
              "got tensor ",
              slot.index, ", ", describe(slot.dtype, slot.sizes, slot.device),
              ", modified by an in-place operation after it was saved");
    return slot.found;
  }

  static void check(const Slot& slot, const Tensor& tensor) {
    TSR_CHECK(tensor.sizes() == slot.sizes && tensor.dtype() == slot.dtype &&
                  tensor.device() == slot.device,
              Code::kAutograd, nullptr,
              "expected the two runs of a checkpoint's function to save "
              "the same tensors, got tensor ",
              slot.index,
              " with different metadata: saved by the "
              "first run ",
              describe(slot.dtype, slot.sizes, slot.device), ", by the second ",
              describe(tensor.dtype(), tensor.sizes(), tensor.device()));
  }

  mutable GuardedMutex mutex_;  // of the slots; never held while the function runs
  std::vector<std::weak_ptr<Slot>> slots_;
  NodePtr inputs_;
  tsr_checkpoint_run_fn run_;
  UserData data_;
  CheckpointOptions options_;
  RunState state_;
};

// The hooks of a second run. What is packed is kept as it is, for a function that runs a backward
// of its own.
class Finder final : public SavedTensorHooks {
 public:
  explicit Finder(std::shared_ptr<Checkpoint> of) : of_(std::move(of)), extent_(of_->extent()) {}

  std::shared_ptr<void> pack(const Tensor& tensor) override {
    const size_t index = count_++;
    if (!complete()) of_->take(index, tensor);
    done_ = done_ || count_ >= extent_.needed;
    if (done_ && of_->options().stop_early) {
      fail(Code::kCancelled, nullptr, __FILE__, __LINE__,
           "expected nothing more of this run of a checkpoint's function, whose tensors are "
           "complete; hand this error on");
    }
    return std::make_shared<Tensor>(tensor);
  }

  // After the end of the early stop there is nothing left to look for.
  [[nodiscard]] bool wants(const Tensor& tensor) const override {
    static_cast<void>(tensor);
    return !(done_ && of_->options().stop_early);
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    return *static_cast<const Tensor*>(packed.get());
  }

  [[nodiscard]] bool complete() const noexcept { return done_; }

  void check_count() const {
    const bool wrong = of_->options().stop_early || !of_->options().check_metadata
                           ? count_ < extent_.needed
                           : count_ != extent_.all;
    TSR_CHECK(!wrong, Code::kAutograd, nullptr,
              "expected the two runs of a checkpoint's function to save the same tensors, got a "
              "different number: the first run saved ",
              extent_.all, " tensors for the backward, the second ", count_);
  }

 private:
  std::shared_ptr<Checkpoint> of_;
  Checkpoint::Extent extent_;
  size_t count_ = 0;
  bool done_ = false;
};

void Checkpoint::recompute() {
  const std::vector<Tensor> inputs = static_cast<const KeptInputs&>(*inputs_).fresh();
  const auto finder = std::make_shared<Finder>(shared_from_this());
  const InStateOf first(state_);
  set_pushed_hooks(std::make_shared<const PushedHooks>(PushedHooks{finder, pushed_hooks(), {}}));
  try {
    const Lent lent(inputs);
    call_host("checkpoint", run_, data_.get(), lent.handles(), lent.count());
  } catch (...) {
    if (!(finder->complete() && options_.stop_early)) throw;
  }
  finder->check_count();
}

}  // namespace

namespace tsr::capi {

std::shared_ptr<SavedTensorHooks> make_checkpoint(std::span<const Tensor> inputs,
                                                  tsr_checkpoint_run_fn run, UserData data,
                                                  CheckpointOptions options) {
  return std::make_shared<Checkpoint>(inputs, run, std::move(data), options);
}

}  // namespace tsr::capi
