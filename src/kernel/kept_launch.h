// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Launches that are kept to be made again without the op that planned them.
//
// Note [Kept launches]
// A plan is plain data, so the copy of a plan is a launch that can be repeated as long as the
// memory that it names stays where it is. While a thread has a LaunchKeeper, every launch of it is
// offered. Plans whose only pointers are the elements of tensors are kept (visit_addresses); of
// others the keeper only learns that they were there. A number in the host's memory is copied with
// the plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>

#include "kernel/generated/families.h"

namespace tsr::kernel {

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
};

class LaunchKeeper {
 public:
  LaunchKeeper() = default;
  LaunchKeeper(const LaunchKeeper&) = delete;
  LaunchKeeper& operator=(const LaunchKeeper&) = delete;
  virtual ~LaunchKeeper() = default;
  // Null: a launch that cannot be kept.
  virtual void take(std::unique_ptr<KeptLaunch> launch) = 0;
};
extern constinit thread_local LaunchKeeper* t_launch_keeper;

// ---- The addresses of the plans that can be kept ----

template <class Visit>
void visit_addresses(ElementwisePlan& plan, const Visit& visit) {
  for (int32_t i = 0; i < plan.operands; ++i) {
    if ((plan.host_operands >> i & 1U) == 0) visit(plan.data[i]);
  }
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

 private:
  Entry entry_;
  std::tuple<Ops...> ops_;
  Plan plan_;
  Parameter numbers_[std::is_same_v<Plan, ElementwisePlan> ? kMaxOperands : 1];
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
