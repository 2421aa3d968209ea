// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Launches that are kept to be made again without the op that planned them.
//
// Note [Kept launches]
// A plan is plain data, so the copy of a plan is a launch that can be repeated as long as the
// memory that it names stays where it is. While a thread has a LaunchKeeper, every launch of it is
// offered. Plans whose only pointers are the elements of tensors are kept (visit_addresses); of
// others the keeper only learns that they were there. A number in the host's memory is copied with
// the plan, and so is the list of an optimizer's tensors.
//
// A launch is all that a run repeats. What decides on the host from elements, or runs code of the
// host, says so with note_host_decision: another run could decide otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernel/generated/families.h"

namespace tsr::kernel {

// The seed and the offset of a launch that draws random numbers.
struct Draw {
  uint64_t* seed = nullptr;
  uint64_t* offset = nullptr;
};

class KeptLaunch {
 public:
  KeptLaunch() = default;
  KeptLaunch(const KeptLaunch&) = delete;
  KeptLaunch& operator=(const KeptLaunch&) = delete;
  virtual ~KeptLaunch() = default;
  virtual Status run() = 0;
  // The addresses that the plan names, by number; null ones too.
  [[nodiscard]] virtual int32_t count() = 0;
  [[nodiscard]] virtual void* address(int32_t at) = 0;
  virtual void set_address(int32_t at, void* address) = 0;
  // Where the launch takes its random numbers from; null if it takes none.
  [[nodiscard]] virtual Draw draw() noexcept = 0;
};

class LaunchKeeper {
 public:
  LaunchKeeper() = default;
  LaunchKeeper(const LaunchKeeper&) = delete;
  LaunchKeeper& operator=(const LaunchKeeper&) = delete;
  virtual ~LaunchKeeper() = default;
  // Null: a launch that cannot be kept.
  virtual void take(std::unique_ptr<KeptLaunch> launch) = 0;
  // `what` names what decided, as text that lasts.
  virtual void take_decision(const char* what) noexcept = 0;
};
extern constinit thread_local LaunchKeeper* t_launch_keeper;

inline void note_host_decision(const char* what) noexcept {
  if (t_launch_keeper != nullptr) [[unlikely]]
    t_launch_keeper->take_decision(what);
}

// ---- The addresses of the plans that can be kept ----

template <class Visit>
void visit_addresses(ElementwisePlan& plan, const Visit& visit) {
  for (int32_t i = 0; i < plan.operands; ++i) {
    if ((plan.host_operands >> i & 1U) == 0) visit(plan.data[i]);
  }
}
template <class Visit>
void visit_addresses(DualPlan& plan, const Visit& visit) {
  for (void*& operand : plan.operands) visit(operand);
  for (void*& tangent : plan.tangents) visit(tangent);
  visit(plan.value);
  visit(plan.tangent);
}
template <class Visit>
void visit_addresses(ReducePlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.output);
}
template <class Visit>
void visit_addresses(SoftmaxPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.saved);
  visit(plan.output);
}
template <class Visit>
void visit_addresses(GemmPlan& plan, const Visit& visit) {
  visit(plan.a);
  visit(plan.b);
  visit(plan.c);
}
template <class Visit>
void visit_addresses(ScanPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.output);
  visit(plan.positions);
}
template <class Visit>
void visit_addresses(IndexPlan& plan, const Visit& visit) {
  visit_addresses(plan.walk, visit);
}
template <class Visit>
void visit_addresses(RandomPlan& plan, const Visit& visit) {
  visit(plan.output);
  visit(plan.probabilities);
  visit(plan.counts);
}
template <class Visit>
void visit_addresses(SequencePlan& plan, const Visit& visit) {
  visit(plan.output);
}
template <class Visit>
void visit_addresses(TrianglePlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.output);
}
template <class Visit>
void visit_addresses(ConvPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.weight);
  visit(plan.bias);
  visit(plan.output);
}
template <class Visit>
void visit_addresses(PoolPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.output);
  visit(plan.positions);
}
template <class Visit>
void visit_addresses(NormPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.weight);
  visit(plan.bias);
  visit(plan.mean);
  visit(plan.rstd);
  visit(plan.running_mean);
  visit(plan.running_var);
  visit(plan.output);
  visit(plan.grad_input);
  visit(plan.grad_weight);
  visit(plan.grad_bias);
  visit(plan.tangent_input);
  visit(plan.tangent_weight);
  visit(plan.tangent_bias);
  visit(plan.tangent_output);
}
template <class Visit>
void visit_addresses(ClassLossPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.target);
  visit(plan.weight);
  visit(plan.lse);
  visit(plan.loss);
  visit(plan.weights);
  visit(plan.grad);
  visit(plan.grad_input);
}
template <class Visit>
void visit_addresses(AttentionPlan& plan, const Visit& visit) {
  for (AttentionMatrix* matrix :
       {&plan.query, &plan.key, &plan.value, &plan.mask, &plan.output, &plan.grad, &plan.grad_query,
        &plan.grad_key, &plan.grad_value, &plan.tangent_query, &plan.tangent_key,
        &plan.tangent_value, &plan.tangent_output})
    visit(matrix->data);
  visit(plan.lse);
}
template <class Visit>
void visit_addresses(PackedPlan& plan, const Visit& visit) {
  visit(plan.matrix);
  visit(plan.packed);
  visit(plan.left);
  visit(plan.out);
}
template <class Visit>
void visit_addresses(LinearPlan& plan, const Visit& visit) {
  visit(plan.input);
  visit(plan.weight);
  visit(plan.bias);
  visit(plan.output);
}
template <class Visit>
void visit_addresses(GatesPlan& plan, const Visit& visit) {
  visit(plan.gates);
  visit(plan.product);
  visit(plan.bias);
  visit(plan.h);
  visit(plan.c);
  visit(plan.y);
  visit(plan.h_before);
  visit(plan.c_before);
  visit(plan.grad_y);
  visit(plan.grad_h);
  visit(plan.grad_c);
  visit(plan.grad_gates);
  visit(plan.grad_product);
}
// Only of a plan whose slots are its own.
template <class Visit>
void visit_addresses(OptimPlan& plan, const Visit& visit) {
  for (int64_t i = 0; i < plan.count; ++i) {
    auto& slot = const_cast<OptimSlot&>(plan.slots[i]);
    visit(slot.parameter);
    visit(slot.gradient);
    visit(slot.state0);
    visit(slot.state1);
    visit(slot.state2);
  }
  visit(plan.norm);
  visit(plan.factor);
  visit(plan.found);
}

inline Draw draw_of(RandomPlan& plan) noexcept {
  return {&plan.seed, &plan.offset};
}
inline Draw draw_of(AttentionPlan& plan) noexcept {
  return plan.dropout > 0 ? Draw{&plan.seed, &plan.offset} : Draw{};
}
template <class Plan>
Draw draw_of(Plan&) noexcept {
  return {};
}

struct IgnoreAddress {
  template <class Pointer>
  void operator()(Pointer*&) const {}
};
template <class T>
inline constexpr bool kIsKept = requires(T& plan) {
  visit_addresses(plan, IgnoreAddress());
};

template <class Entry, class Plan, class... Ops>
class KeptLaunchOf final : public KeptLaunch {
 public:
  KeptLaunchOf(Entry entry, const Plan& plan, Ops... ops)
      : entry_(entry), ops_(ops...), plan_(plan) {
    if constexpr (std::is_same_v<Plan, ElementwisePlan>) {
      for (int32_t i = 0; i < plan_.operands; ++i) {
        if ((plan_.host_operands >> i & 1U) == 0) continue;
        std::memcpy(numbers_[i].bytes, plan_.data[i],
                    static_cast<size_t>(itemsize(plan.dtypes[i])));
        plan_.data[i] = numbers_[i].bytes;
      }
    }
    if constexpr (std::is_same_v<Plan, OptimPlan>) {
      slots_.assign(plan.slots, plan.slots + plan.count);
      plan_.slots = slots_.data();
    }
  }
  Status run() override {
    return std::apply([this](Ops... ops) { return entry_(ops..., plan_); }, ops_);
  }
  [[nodiscard]] int32_t count() override {
    int32_t number = 0;
    visit_addresses(plan_, [&](auto*&) { ++number; });
    return number;
  }
  [[nodiscard]] void* address(int32_t at) override {
    void* found = nullptr;
    visit_addresses(plan_, [&](auto*& each) {
      if (at-- == 0) found = const_cast<void*>(static_cast<const void*>(each));
    });
    return found;
  }
  void set_address(int32_t at, void* address) override {
    visit_addresses(plan_, [&]<class T>(T*& each) {
      if (at-- == 0) each = static_cast<T*>(address);
    });
  }
  [[nodiscard]] Draw draw() noexcept override { return draw_of(plan_); }

 private:
  Entry entry_;
  std::tuple<Ops...> ops_;
  Plan plan_;
  Parameter numbers_[std::is_same_v<Plan, ElementwisePlan> ? kMaxOperands : 1];
  std::vector<OptimSlot> slots_;  // of an OptimPlan
};

template <class Entry, class Plan>
[[gnu::cold]] void offer_launch(Entry entry, const Plan& plan) {
  if (t_launch_keeper == nullptr) return;
  if constexpr (kIsKept<Plan>) {
    t_launch_keeper->take(std::make_unique<KeptLaunchOf<Entry, Plan>>(entry, plan));
  } else {
    t_launch_keeper->take(nullptr);
  }
}
template <class Entry, class Op, class Plan>
[[gnu::cold]] void offer_launch(Entry entry, Op op, const Plan& plan) {
  if (t_launch_keeper == nullptr) return;
  if constexpr (kIsKept<Plan>) {
    t_launch_keeper->take(std::make_unique<KeptLaunchOf<Entry, Plan, Op>>(entry, plan, op));
  } else {
    t_launch_keeper->take(nullptr);
  }
}

}  // namespace tsr::kernel
