// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/runner.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "capi/handle.h"

namespace tsr::capi::program {
namespace {

constexpr size_t kMostKept = 8;  // plans or lists of calls, for other layouts or sizes

[[noreturn]] void refuse_input(const Named& input, Code code, const std::string& expected) {
  throw_error(code, "inputs", __FILE__, __LINE__,
              concat("input '", input.name, "' of the program: ", expected));
}

// Results of calls whose handles this run owns; releases what is left, also after an error.
class OwnedSlots {
 public:
  explicit OwnedSlots(size_t count) : slots(count), owned_(count) {}
  OwnedSlots(const OwnedSlots&) = delete;
  OwnedSlots& operator=(const OwnedSlots&) = delete;
  ~OwnedSlots() {
    for (size_t i = 0; i < slots.size(); ++i) drop(static_cast<int32_t>(i));
  }
  void own(int32_t value, tsr_tensor handle) {
    slots[static_cast<size_t>(value)] = handle;
    owned_[static_cast<size_t>(value)] = true;
  }
  void drop(int32_t value) {
    const auto at = static_cast<size_t>(value);
    if (!owned_[at]) return;
    owned_[at] = false;
    release_tensor(slots[at]);
    slots[at] = nullptr;
  }
  Slots slots;

 private:
  std::vector<bool> owned_;
};

void set_mode(uint8_t mode) {
  GradMode now = t_grad_mode;
  now.inference = (mode & kModeInference) != 0;
  now.record = (mode & kModeGrad) != 0;
  set_grad_mode(now);
}

template <class T>
void make_room(std::vector<std::unique_ptr<T>>& list) {
  if (list.size() >= kMostKept) list.erase(list.begin());
}

}  // namespace

int64_t check_inputs(const Program& program, std::span<const Tensor> given) {
  const auto& inputs = program.inputs;
  TSR_CHECK(given.size() == inputs.size(), Code::kValue, "inputs", "expected ", inputs.size(),
            " tensors, got ", given.size());
  int64_t size = program.recorded_size;
  bool is_known = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = program.values[static_cast<size_t>(inputs[i].value)];
    const Tensor& tensor = given[i];
    if (tensor.dtype() != value.dtype)
      refuse_input(inputs[i], Code::kDType,
                   concat("expected ", value.dtype, ", got ", tensor.dtype()));
    if (tensor.device() != value.device)
      refuse_input(inputs[i], Code::kDevice,
                   concat("expected ", value.device, ", got ", tensor.device()));
    const auto& sizes = tensor.sizes();
    bool fits = sizes.size() == value.sizes.size();
    for (size_t axis = 0; fits && axis < sizes.size(); ++axis) {
      const Integer& expected = value.sizes[axis];
      if (expected.factor != 0 && !is_known) {
        const int64_t rest = sizes[axis] - expected.base;
        size = rest / expected.factor;
        fits = rest % expected.factor == 0 && size >= 0;
        is_known = true;
      }
      fits = fits && sizes[axis] == expected.at(size);
    }
    if (!fits) {
      std::string shape;
      for (const Integer& each : value.sizes) {
        if (!shape.empty()) shape += ", ";
        shape += each.factor == 0 ? concat(each.base)
                                  : concat(each.factor == 1 ? "" : concat(each.factor, "*"), "n",
                                           each.base == 0 ? "" : concat(" + ", each.base));
      }
      refuse_input(
          inputs[i], Code::kShape,
          concat("expected shape (", shape, ")",
                 is_known ? concat(" with n = ", size) : std::string(), ", got ", DimsView(sizes)));
    }
  }
  return size;
}

Runner::Runner(Program& program) : program_(program), dead_after_(program.steps.size()) {
  can_plan_ = !program.trains;
  std::vector<int32_t> last(program.values.size(), kAbsent);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    // Indexing by positions has the shape of the positions.
    const bool is_indexing = std::string_view(step.symbol->info->name) == "getitem";
    const bool by_mask = std::any_of(step.args.begin(), step.args.end(), [&](const Argument& arg) {
      return std::any_of(arg.values.begin(), arg.values.end(), [&](int32_t value) {
        return value != kAbsent && program.values[static_cast<size_t>(value)].dtype == DType::kBool;
      });
    });
    can_plan_ = can_plan_ && !(has_data_dependent_shape(*step.symbol) && (by_mask || !is_indexing));
    for (const int32_t value : step.results) {
      if (value != kAbsent) last[static_cast<size_t>(value)] = static_cast<int32_t>(i);
    }
    for (const Argument& arg : step.args) {
      for (const int32_t value : arg.values) {
        const bool is_result = value != kAbsent &&
                               program.values[static_cast<size_t>(value)].source == Source::kResult;
        if (is_result) last[static_cast<size_t>(value)] = static_cast<int32_t>(i);
      }
    }
  }
  for (const Named& output : program.outputs) last[static_cast<size_t>(output.value)] = kAbsent;
  for (size_t value = 0; value < last.size(); ++value) {
    if (last[value] != kAbsent)
      dead_after_[static_cast<size_t>(last[value])].push_back(static_cast<int32_t>(value));
  }
}

Runner::Calls& Runner::calls_for(int64_t size) {
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const auto& calls) { return calls->size == size; });
  if (found != calls_.end()) {
    std::rotate(found, found + 1, calls_.end());
    return *calls_.back();
  }
  make_room(calls_);
  auto fresh = std::make_unique<Calls>();
  fresh->size = size;
  for (const Step& step : program_.steps) {
    fresh->steps.push_back(std::make_unique<Prepared>(program_, step, *step.symbol, size));
  }
  calls_.push_back(std::move(fresh));
  return *calls_.back();
}

std::vector<Tensor> Runner::run_calls(std::span<const Tensor> given, int64_t size) {
  Calls& calls = calls_for(size);
  OwnedSlots owned(program_.values.size());
  for (size_t i = 0; i < program_.values.size(); ++i) {
    if (program_.values[i].stored.defined())
      owned.slots[i] = reinterpret_cast<tsr_tensor>(program_.values[i].stored.impl());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    owned.slots[static_cast<size_t>(program_.inputs[i].value)] =
        reinterpret_cast<tsr_tensor>(given[i].impl());
  }
  const GradModeScope restored(t_grad_mode);
  uint8_t mode = 0xff;
  for (size_t i = 0; i < calls.steps.size(); ++i) {
    Prepared& step = *calls.steps[i];
    const uint8_t wanted = program_.trains ? step.step().mode : uint8_t{0};
    if (wanted != mode) set_mode(mode = wanted);
    step.bind(owned.slots);
    step.call(static_cast<int32_t>(i));
    const auto& results = step.step().results;
    for (size_t k = 0; k < results.size(); ++k) {
      if (results[k] != kAbsent) {
        owned.own(results[k], step.results()[k]);
      } else {
        release_tensor(step.results()[k]);
      }
    }
    for (const int32_t value : dead_after_[i]) owned.drop(value);
  }
  std::vector<Tensor> outputs;
  for (const Named& output : program_.outputs) {
    auto* impl = reinterpret_cast<TensorImpl*>(owned.slots[static_cast<size_t>(output.value)]);
    outputs.push_back(Tensor::share(impl));
  }
  return outputs;
}

std::vector<Tensor> Runner::run(std::span<const Tensor> given) {
  const int64_t size = check_inputs(program_, given);
  last_ = nullptr;
  if (!can_plan_) return run_calls(given, size);
  const NoGrad no_grad;
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const auto& plan) { return plan->fits(given, size); });
  if (found != plans_.end()) {
    if (found + 1 != plans_.end()) std::rotate(found, found + 1, plans_.end());
    last_ = plans_.back().get();
    return plans_.back()->run(given);
  }
  make_room(plans_);
  std::vector<Tensor> outputs;
  auto plan = Plan::make(program_, given, size, outputs);
  if (plan == nullptr) {
    can_plan_ = false;
  } else {
    plans_.push_back(std::move(plan));
    last_ = plans_.back().get();
  }
  return outputs;
}

}  // namespace tsr::capi::program
