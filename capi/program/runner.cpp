// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/runner.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "autograd/tensor_grad.h"
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

TensorImpl* impl_of(tsr_tensor handle) {
  return reinterpret_cast<TensorImpl*>(handle);
}

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

namespace {

// Where a size was found first.
struct Found {
  const Named* input = nullptr;
  size_t axis = 0;
};

// The number of the size that an axis is: times a factor, plus a constant. -1: it is none alone.
int32_t size_of_axis(const Integer& axis) {
  const bool is_one =
      axis.terms.size() == 1 && axis.terms[0].sizes.size() == 1 && axis.terms[0].factor > 0;
  return is_one ? axis.terms[0].sizes[0] : -1;
}

class InputCheck {
 public:
  InputCheck(const Program& program, std::span<const Tensor> given)
      : program_(program),
        given_(given),
        sizes_(program.recorded_sizes()),
        found_(program.sizes.size()) {}

  Sizes check() {
    for (size_t i = 0; i < given_.size(); ++i) check_kind(i);
    if (!program_.sizes.empty()) {
      for (size_t i = 0; i < given_.size(); ++i) find_sizes(i);
    }
    for (size_t i = 0; i < given_.size(); ++i) check_sizes(i);
    return std::move(sizes_);
  }

 private:
  [[nodiscard]] const Named& input(size_t i) const { return program_.inputs[i]; }
  [[nodiscard]] const Value& value(size_t i) const {
    return program_.values[static_cast<size_t>(input(i).value)];
  }

  void check_kind(size_t i) const {
    const Tensor& tensor = given_[i];
    if (tensor.dtype() != value(i).dtype)
      refuse_input(input(i), Code::kDType,
                   concat("expected ", value(i).dtype, ", got ", tensor.dtype()));
    if (tensor.device() != value(i).device)
      refuse_input(input(i), Code::kDevice,
                   concat("expected ", value(i).device, ", got ", tensor.device()));
    if (tensor.sizes().size() != value(i).sizes.size())
      refuse_input(input(i), Code::kShape,
                   concat("expected ", value(i).sizes.size(), " axes, shape (",
                          text_of(program_, value(i).sizes), "), got ", DimsView(tensor.sizes())));
  }

  void find_sizes(size_t i) {
    for (size_t axis = 0; axis < value(i).sizes.size(); ++axis) {
      const Integer& expected = value(i).sizes[axis];
      const int32_t number = size_of_axis(expected);
      if (number < 0 || found_[static_cast<size_t>(number)].input != nullptr) continue;
      const int64_t rest = given_[i].sizes()[axis] - expected.base;
      const int64_t factor = expected.terms[0].factor;
      if (rest % factor != 0 || rest / factor < 0) continue;  // an error, reported below
      sizes_[static_cast<size_t>(number)] = rest / factor;
      found_[static_cast<size_t>(number)] = {&input(i), axis};
    }
  }

  void check_sizes(size_t i) const {
    const auto& got = given_[i].sizes();
    const Integers& expected = value(i).sizes;
    for (size_t axis = 0; axis < expected.size(); ++axis) {
      const int64_t wanted = expected[axis].at(sizes_);
      if (got[axis] == wanted) continue;
      std::string why;
      for (const Term& term : expected[axis].terms) {
        for (const int32_t number : term.sizes) {
          const Found& found = found_[static_cast<size_t>(number)];
          if (found.input == nullptr) continue;
          why += concat(why.empty() ? "; " : ", ", program_.sizes[static_cast<size_t>(number)].name,
                        " is ", sizes_[static_cast<size_t>(number)], " at axis ", found.axis,
                        " of '", found.input->name, "'");
        }
      }
      const bool is_known = expected[axis].terms.empty() || !why.empty();
      refuse_input(input(i), Code::kShape,
                   concat("expected ", text_of(program_, expected[axis]),
                          is_known && expected[axis].is_dynamic() ? concat(" = ", wanted) : "",
                          " at axis ", axis, " of shape (", text_of(program_, expected), "), got ",
                          got[axis], " in shape ", DimsView(got), why));
    }
  }

  const Program& program_;
  std::span<const Tensor> given_;
  Sizes sizes_;
  std::vector<Found> found_;
};

}  // namespace

Sizes check_inputs(const Program& program, std::span<const Tensor> given) {
  TSR_CHECK(given.size() == program.inputs.size(), Code::kValue, "inputs", "expected ",
            program.inputs.size(), " tensors, got ", given.size());
  return InputCheck(program, given).check();
}

void check_result(const Program& program, size_t step, int32_t value, const Tensor& made) {
  const Value& recorded = program.values[static_cast<size_t>(value)];
  if (made.dtype() == recorded.dtype && made.device() == recorded.device) [[likely]]
    return;
  const bool is_dtype = made.dtype() != recorded.dtype;
  throw_error(
      is_dtype ? Code::kDType : Code::kDevice, nullptr, __FILE__, __LINE__,
      concat("call ", step, " of the program, ", program.steps[step].symbol->name, ": expected ",
             recorded.dtype, " on ", recorded.device, " as in the recording, got ", made.dtype(),
             " on ", made.device(), "; the default dtype or device is not that of the recording"));
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

Runner::Calls& Runner::calls_for(const Sizes& sizes) {
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const auto& calls) { return calls->sizes == sizes; });
  if (found != calls_.end()) {
    std::rotate(found, found + 1, calls_.end());
    return *calls_.back();
  }
  make_room(calls_);
  auto fresh = std::make_unique<Calls>();
  fresh->sizes = sizes;
  for (const Step& step : program_.steps) {
    fresh->steps.push_back(std::make_unique<Prepared>(program_, step, *step.symbol, sizes));
  }
  calls_.push_back(std::move(fresh));
  return *calls_.back();
}

std::vector<Tensor> Runner::run_calls(std::span<const Tensor> given, const Sizes& sizes,
                                      StepWatcher* watcher) {
  Calls& calls = calls_for(sizes);
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
    if (watcher != nullptr) watcher->before_step(i);
    step.call(static_cast<int32_t>(i));
    const auto& results = step.step().results;
    for (size_t k = 0; k < results.size(); ++k) {
      if (results[k] != kAbsent) {
        owned.own(results[k], step.results()[k]);
      } else {
        release_tensor(step.results()[k]);
      }
    }
    for (const int32_t value : results) {
      auto* made = value == kAbsent ? nullptr : impl_of(owned.slots[static_cast<size_t>(value)]);
      if (made != nullptr) check_result(program_, i, value, Tensor::share(made));
    }
    if (watcher != nullptr) watcher->after_step(i, owned.slots);
    for (const int32_t value : dead_after_[i]) owned.drop(value);
  }
  std::vector<Tensor> outputs;
  for (const Named& output : program_.outputs) {
    const auto at = static_cast<size_t>(output.value);
    Tensor tensor = Tensor::share(impl_of(owned.slots[at]));
    // What a run computes has no history, however the run is made.
    const bool is_computed = program_.values[at].source == Source::kResult;
    outputs.push_back(is_computed && requires_grad(tensor) ? tensor.detached() : std::move(tensor));
  }
  return outputs;
}

std::vector<Tensor> Runner::train(std::span<const Tensor> given, const Sizes& sizes) {
  const auto found = std::find_if(replays_.begin(), replays_.end(),
                                  [&](const auto& replay) { return replay->fits(given, sizes); });
  if (found == replays_.end()) {
    make_room(replays_);
    replays_.push_back(std::make_unique<Replay>(program_, given, sizes));
  } else {
    std::rotate(found, found + 1, replays_.end());
  }
  last_replay_ = replays_.back().get();
  return replays_.back()->run(
      given, [&](StepWatcher* watcher) { return run_calls(given, sizes, watcher); });
}

std::vector<Tensor> Runner::run(std::span<const Tensor> given) {
  const Sizes sizes = check_inputs(program_, given);
  last_ = nullptr;
  last_replay_ = nullptr;
  if (program_.trains) return train(given, sizes);
  if (!can_plan_) return run_calls(given, sizes, nullptr);
  // Also outside of the caller's inference mode: the plan's tensors outlive it.
  const GradModeScope restored(t_grad_mode);
  set_mode(0);
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const auto& plan) { return plan->fits(given, sizes); });
  if (found != plans_.end()) {
    if (found + 1 != plans_.end()) std::rotate(found, found + 1, plans_.end());
    last_ = plans_.back().get();
    return plans_.back()->run(given);
  }
  make_room(plans_);
  std::vector<Tensor> outputs;
  auto plan = Plan::make(program_, given, sizes, outputs);
  if (plan == nullptr) {
    can_plan_ = false;
  } else {
    plans_.push_back(std::move(plan));
    last_ = plans_.back().get();
  }
  return outputs;
}

}  // namespace tsr::capi::program
