// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The first run with inputs of a layout, and the plan that follows from it.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "capi/handle.h"
#include "capi/program/plan.h"
#include "capi/program/runner.h"
#include "tensor/layout.h"

namespace tsr::capi::program {
namespace {

constexpr uint64_t kAlignment = 64;

// Also true for the forms of the creation functions that leave memory as it was.
bool is_uninitialised(const Symbol& symbol) {
  constexpr std::string_view kNames[] = {"tsr_empty", "tsr_empty_like", "tsr_empty_strided",
                                         "tsr_tensor_empty_strided"};
  return std::find(std::begin(kNames), std::end(kNames), symbol.name) != std::end(kNames);
}

// The out= form of an operator's functional form; null if there is none.
const Symbol* out_form_of(const Symbol& symbol) {
  if (symbol.signature == nullptr || (symbol.id >> 16 & 3) != 0) return nullptr;
  return find_symbol(symbol.id | 1 << 16);
}

}  // namespace

class Planner {
 public:
  Planner(Program& program, std::span<const Tensor> given, const Sizes& sizes)
      : program_(program), given_(given), plan_(new Plan(program)) {
    plan_->sizes_ = sizes;
  }

  std::unique_ptr<Plan> make(std::vector<Tensor>& outputs) {
    add_stored();
    add_inputs();
    observe();
    tell_versions();
    find_groups();
    for (const Named& named : program_.outputs) outputs.push_back(observed_output(named));
    if (!possible_) return nullptr;
    choose_memory();
    add_calls();
    if (!possible_) return nullptr;
    place_arena();
    finish();
    if (!plan_->on_cpu_) plan_->mark_run();
    return std::move(plan_);
  }

 private:
  using Memory = Plan::Memory;
  using Group = Plan::Group;

  Tensor& tensor(int32_t value) { return plan_->tensors_[static_cast<size_t>(value)]; }
  Group& group_of(int32_t value) {
    return plan_->groups_[static_cast<size_t>(plan_->group_of_[static_cast<size_t>(value)])];
  }

  void define(int32_t value, const Tensor& made) {
    plan_->set_slot(value, made);
    layouts_.emplace(value, std::pair(Layout::of(made), made.storage().get()));
  }

  void add_stored() {
    for (size_t i = 0; i < program_.values.size(); ++i) {
      const Tensor& stored = program_.values[i].stored;
      if (!stored.defined()) continue;
      define(static_cast<int32_t>(i), stored);
      plan_->stored_.emplace_back(stored);
    }
  }

  // A stand-in begins at the lowest element, so that its storage covers all of them.
  void add_inputs() {
    for (size_t i = 0; i < given_.size(); ++i) {
      const Tensor& from = given_[i];
      const Extent extent = from.numel() == 0 ? Extent{} : extent_of(from.sizes(), from.strides());
      auto* first = from.data_as<std::byte>();
      const uint64_t nbytes = static_cast<uint64_t>((extent.high - extent.low) * from.itemsize());
      StoragePtr storage = wrap_storage(
          from.device(), first == nullptr ? nullptr : first + extent.low * from.itemsize(), nbytes,
          nullptr, nullptr);
      storage->read_only = from.storage()->read_only;
      define(program_.inputs[i].value,
             Tensor::adopt(new TensorImpl(std::move(storage), from.dtype(), from.sizes(),
                                          from.strides(), -extent.low)));
      plan_->input_strides_.push_back(from.strides());
    }
  }

  // ---- The run ----

  void observe() {
    writes_.resize(program_.steps.size());
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      std::vector<std::pair<int32_t, uint32_t>> versions;
      for (const Argument& arg : step.args) {
        for (const int32_t value : arg.values) {
          if (value != kAbsent) versions.emplace_back(value, tensor(value).version());
        }
      }
      Prepared prepared(program_, step, *step.symbol, plan_->sizes_);
      prepared.bind(plan_->slots_);
      prepared.call(static_cast<int32_t>(i));
      for (size_t k = 0; k < step.results.size(); ++k) {
        const tsr_tensor handle = prepared.results()[k];
        if (step.results[k] != kAbsent && handle != nullptr)
          define(step.results[k], Tensor::share(reinterpret_cast<TensorImpl*>(handle)));
        release_tensor(handle);
        if (step.results[k] != kAbsent && handle != nullptr)
          check_result(program_, i, step.results[k], tensor(step.results[k]));
      }
      for (const auto& [value, version] : versions) {
        if (tensor(value).version() != version) writes_[i].push_back(value);
      }
      // The plan knows tensors by their layout when they were made.
      for (const auto& [value, version] : versions) {
        const auto& [layout, storage] = layouts_.at(value);
        const Tensor& now = tensor(value);
        possible_ = possible_ && now.storage().get() == storage && layout.fits(now);
      }
    }
  }

  // The calls raised the versions of stand-ins; the caller's tensors have storages of their own.
  void tell_versions() {
    for (size_t i = 0; i < given_.size(); ++i) {
      if (tensor(program_.inputs[i].value).version() > 0) given_[i].bump_version();
    }
  }

  // ---- Groups ----

  void add_to_group(int32_t value, const Group& fresh) {
    const auto [found, is_new] =
        by_storage_.try_emplace(tensor(value).storage().get(), plan_->groups_.size());
    if (is_new) {
      plan_->groups_.push_back(fresh);
      Group& group = plan_->groups_.back();
      group.device = tensor(value).device();
      group.nbytes = tensor(value).storage()->nbytes;
    }
    plan_->groups_[found->second].values.push_back(value);
    plan_->group_of_[static_cast<size_t>(value)] = static_cast<int32_t>(found->second);
    fresh_.push_back(is_new);
  }

  void find_groups() {
    for (size_t i = 0; i < program_.values.size(); ++i) {
      if (!program_.values[i].stored.defined()) continue;
      Group group;
      group.memory = Memory::kStored;
      add_to_group(static_cast<int32_t>(i), group);
    }
    for (size_t i = 0; i < given_.size(); ++i) {
      Group group;
      group.memory = Memory::kInput;
      group.input = static_cast<int32_t>(i);
      add_to_group(program_.inputs[i].value, group);
    }
    is_fresh_.resize(program_.steps.size());
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      int32_t n_fresh = 0, n_alias = 0;
      for (const int32_t value : program_.steps[i].results) {
        if (value == kAbsent || !tensor(value).defined()) continue;
        Group group;
        group.first = group.last = static_cast<int32_t>(i);
        add_to_group(value, group);
        (fresh_.back() ? n_fresh : n_alias) += 1;
      }
      possible_ = possible_ && (n_fresh == 0 || n_alias == 0);
      is_fresh_[i] = n_fresh > 0;
    }
    for (const auto& values : writes_) {
      for (const int32_t value : values) group_of(value).written = true;
    }
  }

  Tensor observed_output(const Named& named) {
    const Memory memory = group_of(named.value).memory;
    if (memory == Memory::kInput || memory == Memory::kStored) return plan_->output(named, given_);
    return tensor(named.value);
  }

  // Whether every result of a step can be memory of the plan.
  bool can_be_placed(const Step& step) {
    const bool uninitialised = is_uninitialised(*step.symbol);
    if (!uninitialised && out_form_of(*step.symbol) == nullptr) return false;
    return std::all_of(step.results.begin(), step.results.end(), [&](int32_t value) {
      if (value == kAbsent || !tensor(value).defined()) return false;
      const Tensor& made = tensor(value);
      return made.offset() == 0 && made.numel() > 0 && group_of(value).values.front() == value &&
             is_dense(made.sizes(), made.strides()) && !made.has(kInferenceFlag);
    });
  }

  void choose_memory() {
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      if (!is_fresh_[i] || !can_be_placed(step)) continue;
      for (const int32_t value : step.results) group_of(value).memory = Memory::kArena;
    }
    for (const Named& named : program_.outputs) {
      Group& group = group_of(named.value);
      if (group.memory == Memory::kArena) group.memory = Memory::kOutput;
    }
    for (const Group& group : plan_->groups_) {
      if (plan_->on_cpu_ && !group.device.is_cpu()) plan_->device_ = group.device;
      plan_->on_cpu_ = plan_->on_cpu_ && group.device.is_cpu();
    }
  }

  // ---- Calls ----

  void add_calls() {
    std::vector<int32_t> last(program_.values.size(), kAbsent);
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      const auto at = static_cast<int32_t>(plan_->calls_.size());
      bool any_given = false;
      for (const int32_t value : step.results) {
        if (value == kAbsent || !tensor(value).defined()) continue;
        any_given = any_given || group_of(value).memory == Memory::kFresh;
      }
      const bool has_results = !step.results.empty();
      const bool is_placed = has_results && is_fresh_[i] && !any_given;
      const bool is_view = has_results && !is_fresh_[i] && !any_given;
      if (is_view && writes_[i].empty()) continue;
      if (is_view || (is_placed && is_uninitialised(*step.symbol))) {
        possible_ = possible_ && !is_view;  // writes and returns what it wrote
        continue;
      }
      Plan::Call call;
      call.number = static_cast<int32_t>(i);
      const Symbol& symbol = is_placed ? *out_form_of(*step.symbol) : *step.symbol;
      call.prepared = std::make_unique<Prepared>(program_, step, symbol, plan_->sizes_);
      call.gives = any_given;
      plan_->calls_.push_back(std::move(call));
      const auto use = [&](int32_t value) {
        if (value == kAbsent || plan_->group_of_[static_cast<size_t>(value)] < 0) return;
        last[static_cast<size_t>(value)] = at;
        Group& group = group_of(value);
        group.last = std::max(group.last, static_cast<int32_t>(i));
      };
      for (const Argument& arg : step.args) {
        std::for_each(arg.values.begin(), arg.values.end(), use);
      }
      std::for_each(step.results.begin(), step.results.end(), use);
    }
    for (const Named& named : program_.outputs) last[static_cast<size_t>(named.value)] = INT32_MAX;
    for (size_t i = 0; i < last.size(); ++i) {
      const auto value = static_cast<int32_t>(i);
      if (plan_->group_of_[i] >= 0 && group_of(value).memory == Memory::kFresh)
        plan_->given_.emplace_back(last[i] == kAbsent ? INT32_MAX : last[i], value);
    }
    std::sort(plan_->given_.begin(), plan_->given_.end());
  }

  // ---- Memory ----

  // Larger groups first, each at the lowest place that no group of the same time takes.
  void place_arena() {
    std::map<std::pair<DeviceType, int32_t>, std::vector<Group*>> by_device;
    for (Group& group : plan_->groups_) {
      if (group.memory != Memory::kArena) continue;
      by_device[{group.device.type, group.device.index}].push_back(&group);
    }
    for (auto& [device, list] : by_device) {
      std::stable_sort(list.begin(), list.end(),
                       [](const Group* a, const Group* b) { return a->nbytes > b->nbytes; });
      std::vector<Group*> placed;  // by offset
      uint64_t end = 0;
      for (Group* group : list) {
        uint64_t at = 0;
        for (const Group* other : placed) {
          if (other->last < group->first || group->last < other->first) continue;
          if (at + group->nbytes <= other->offset) break;
          at = std::max(at, round_up(other->offset + other->nbytes));
        }
        group->offset = at;
        end = std::max(end, at + group->nbytes);
        placed.insert(
            std::upper_bound(placed.begin(), placed.end(), group,
                             [](const Group* a, const Group* b) { return a->offset < b->offset; }),
            group);
      }
      if (end == 0) continue;
      plan_->arena_bytes_ += end;
      plan_->arenas_.push_back(allocate_storage(list.front()->device, end));
      for (Group* group : list) settle(*group, plan_->arenas_.back());
    }
  }

  static uint64_t round_up(uint64_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

  void settle(const Group& group, const StoragePtr& arena) {
    const StoragePtr storage =
        wrap_storage(group.device, static_cast<std::byte*>(arena->data) + group.offset,
                     group.nbytes, nullptr, nullptr);
    for (const int32_t value : group.values) {
      const Tensor old = tensor(value);
      plan_->set_slot(value, Tensor::adopt(new TensorImpl(storage, old.dtype(), old.sizes(),
                                                          old.strides(), old.offset())));
    }
  }

  void finish() {
    std::vector<bool> moves(program_.values.size());
    for (size_t i = 0; i < moves.size(); ++i) {
      if (plan_->group_of_[i] < 0) continue;
      const Memory memory = group_of(static_cast<int32_t>(i)).memory;
      moves[i] = memory == Memory::kOutput || memory == Memory::kFresh;
      if (memory == Memory::kFresh) {  // new in every run
        take_back(plan_->tensors_[i].impl());
        plan_->tensors_[i].reset();
        plan_->slots_[i] = nullptr;
      }
    }
    for (Plan::Call& call : plan_->calls_) {
      call.prepared->bind(plan_->slots_);
      call.prepared->keep_moving(moves);
    }
    for (size_t i = 0; i < plan_->groups_.size(); ++i) {
      const Group& group = plan_->groups_[i];
      if (group.memory == Memory::kOutput) {
        plan_->output_groups_.push_back(i);
        for (const int32_t value : group.values)
          plan_->output_layouts_.emplace_back(value, Layout::of(tensor(value)));
      }
      if (group.memory == Memory::kStored && group.written)
        plan_->written_stored_.push_back(group.values.front());
      if (group.memory == Memory::kInput && group.written)
        plan_->written_inputs_.push_back(group.input);
    }
    plan_->moving_.resize(plan_->groups_.size());
    plan_->moved_to_.resize(plan_->groups_.size());
    plan_->output_data_.resize(plan_->groups_.size());
  }

  Program& program_;
  std::span<const Tensor> given_;
  std::unique_ptr<Plan> plan_;
  std::unordered_map<int32_t, std::pair<Layout, const Storage*>> layouts_;
  std::vector<std::vector<int32_t>> writes_;  // by step
  std::unordered_map<const Storage*, size_t> by_storage_;
  std::vector<bool> fresh_;     // of the values in the order in which groups were found
  std::vector<bool> is_fresh_;  // of the steps
  bool possible_ = true;
};

std::unique_ptr<Plan> Plan::make(Program& program, std::span<const Tensor> given,
                                 const Sizes& sizes, std::vector<Tensor>& outputs) {
  return Planner(program, given, sizes).make(outputs);
}

}  // namespace tsr::capi::program
