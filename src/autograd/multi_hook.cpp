// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/multi_hook.h"

#include <algorithm>
#include <mutex>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "base/fork_mutex.h"

namespace tsr {
namespace {

// What arrived in one backward, of one sample if it is batched.
struct Run {
  const void* backward;
  int64_t sample;
  std::vector<Tensor> grads;
  size_t missing;
  bool called = false;
};

// Owned by the hooks of its tensors; refers to these hooks only weakly.
class Group final : public HookBase {
 public:
  Group(MultiHookMode mode, MultiHook callable, size_t count,
        std::span<const MultiHookOwner> owners)
      : HookBase({}), mode_(mode), callable_(std::move(callable)), count_(count) {
    for (const MultiHookOwner& each : owners) owners_.push_back(each.owner);
  }

  void add_member(HookHandle member) { members_.push_back(std::move(member)); }

  void arrive(const std::shared_ptr<Group>& self, size_t index, const Tensor& grad) {
    const std::shared_ptr<Run> run = run_of_this_backward(self);
    if (run->called) return;
    if (!run->grads[index].defined()) --run->missing;
    run->grads[index] = grad;
    if (mode_ == MultiHookMode::kAny || run->missing == 0) call(*run);
  }

  // Once in each run.
  void call(Run& run) {
    if (std::exchange(run.called, true)) return;
    const std::vector<Tensor> grads = std::move(run.grads);
    run.grads.assign(count_, Tensor());
    const std::shared_ptr<void> kept = first_owner();
    if ((!owners_.empty() && kept == nullptr) || !begin()) return;
    const Running guard{*this};
    callable_(grads);
  }

  void forget(const Run& run) noexcept {
    std::shared_ptr<Run> old;  // freed after the lock is given up
    const std::lock_guard guard(mutex_);
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const auto& each) { return each.get() == &run; });
    if (found == runs_.end()) return;
    old = std::move(*found);
    runs_.erase(found);
  }

 private:
  struct Running {
    Group& group;
    ~Running() { group.end(); }
  };

  void drop_callable() noexcept override {
    for (const HookHandle& member : members_) member.remove();
    callable_ = nullptr;
  }

  [[nodiscard]] std::shared_ptr<void> first_owner() const noexcept {
    for (const std::weak_ptr<void>& each : owners_) {
      if (std::shared_ptr<void> owner = each.lock()) return owner;
    }
    return nullptr;
  }

  std::shared_ptr<Run> run_of_this_backward(const std::shared_ptr<Group>& self);

  MultiHookMode mode_;
  MultiHook callable_;
  size_t count_;
  std::vector<std::weak_ptr<void>> owners_;
  std::vector<HookHandle> members_;  // set while building
  ForkMutex mutex_;
  std::vector<std::shared_ptr<Run>> runs_;  // guarded by the mutex
};

// Ends a run together with its backward: as the backward's final callback it makes the call that is
// still due, and destroyed without that, after an error, it only forgets the run.
class EndOfRun {
 public:
  EndOfRun(const std::shared_ptr<Group>& group, std::shared_ptr<Run> run) noexcept
      : group_(group), run_(std::move(run)) {}
  EndOfRun(const EndOfRun&) = delete;
  EndOfRun& operator=(const EndOfRun&) = delete;
  ~EndOfRun() {
    if (const std::shared_ptr<Group> group = group_.lock()) group->forget(*run_);
  }
  void call() const {
    if (const std::shared_ptr<Group> group = group_.lock()) group->call(*run_);
  }

 private:
  std::weak_ptr<Group> group_;
  std::shared_ptr<Run> run_;
};

std::shared_ptr<Run> Group::run_of_this_backward(const std::shared_ptr<Group>& self) {
  const void* backward = current_backward();
  const int64_t sample = current_sample();
  {
    const std::lock_guard guard(mutex_);
    for (const auto& run : runs_) {
      if (run->backward == backward && run->sample == sample) return run;
    }
  }
  auto fresh = std::make_shared<Run>(Run{backward, sample, std::vector<Tensor>(count_), count_});
  const auto end = std::make_shared<EndOfRun>(self, fresh);
  {
    const std::lock_guard guard(mutex_);
    runs_.push_back(fresh);
  }
  queue_callback([end] { end->call(); });
  return fresh;
}

}  // namespace

HookHandle add_multi_hook(std::span<const Tensor> tensors, MultiHookMode mode, MultiHook hook,
                          std::span<const MultiHookOwner> owners) {
  TSR_CHECK(!tensors.empty(), Code::kInvalidArgument, "tensors",
            "expected at least one tensor to register a hook on, got none");
  for (size_t k = 0; k < tensors.size(); ++k) {
    TSR_CHECK(requires_grad(tensors[k]), Code::kAutograd, "tensors",
              "expected tensors that require grad to register a hook on, got one at ", k,
              " that does not");
  }
  const auto group = std::make_shared<Group>(mode, std::move(hook), tensors.size(), owners);
  try {
    for (size_t k = 0; k < tensors.size(); ++k) {
      // `owner` is destroyed after the group, which therefore never outlives all owners.
      auto member = [owner = owners.empty() ? nullptr : owners[k].owner, group,
                     k](const Tensor& grad) {
        group->arrive(group, k, grad);
        return Tensor();
      };
      group->add_member(add_tensor_hook(tensors[k], std::move(member),
                                        owners.empty() ? HostData{} : owners[k].host));
    }
  } catch (...) {
    group->remove();
    throw;
  }
  return HookHandle(group);
}

}  // namespace tsr
