// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/program.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "capi/autocast.h"
#include "capi/handle.h"
#include "capi/program/runner.h"

namespace tsr::capi::program {
namespace {

// A run is the library's own work: nothing of it belongs to the caller's scope, and its casts were
// recorded.
class Quietly {
 public:
  Quietly() : scope_(std::exchange(t_scope, nullptr)), autocast_(autocast_state()) {
    if (autocast_.on()) set_autocast_state({});
  }
  Quietly(const Quietly&) = delete;
  Quietly& operator=(const Quietly&) = delete;
  ~Quietly() {
    t_scope = scope_;
    if (!autocast_.on()) return;
    try {
      set_autocast_state(autocast_);
    } catch (...) {  // it was on before, so the thread is prepared
    }
  }

 private:
  ScopeObject* scope_;
  AutocastState autocast_;
};

class RunningHere {
 public:
  explicit RunningHere(std::atomic<std::thread::id>& on) : on_(on) {
    on_.store(std::this_thread::get_id());
  }
  RunningHere(const RunningHere&) = delete;
  RunningHere& operator=(const RunningHere&) = delete;
  ~RunningHere() { on_.store({}); }

 private:
  std::atomic<std::thread::id>& on_;
};

tsr_value sample_of(const Argument& argument, const Sizes& sizes) {
  return make_value(argument.kind, argument.n, argument.integer.at(sizes), 0, 0, nullptr);
}

template <class... Pieces>
[[noreturn]] void refuse(size_t step, const Symbol& symbol, const Pieces&... pieces) {
  throw_error(Code::kAbi, nullptr, __FILE__, __LINE__,
              concat("call ", step, " of the program, ", symbol.name, ": ", pieces...));
}

// Goes through a program in the order of its calls, and throws at the first one that cannot be
// made.
class Checker {
 public:
  explicit Checker(const Program& program)
      : program_(program), sizes_(program.recorded_sizes()), exists_(program.values.size()) {
    for (size_t i = 0; i < exists_.size(); ++i) exists_[i] = program.values[i].stored.defined();
  }

  void check_input(const Named& input) {
    TSR_CHECK(is_value(input.value), Code::kAbi, nullptr, "input '", input.name, "' has no value");
    exists_[static_cast<size_t>(input.value)] = true;
  }

  void check_step(size_t number) {
    const Step& step = program_.steps[number];
    const Symbol& symbol = *step.symbol;
    const std::string_view letters = letters_of(symbol);
    const size_t n_places = count_results(letters);
    if (caller_of(symbol) == nullptr) refuse(number, symbol, "a function that no program calls");
    if (step.args.size() != letters.size() - n_places)
      refuse(number, symbol, "expected ", letters.size() - n_places, " arguments, got ",
             step.args.size());
    const bool has_list = n_places > 0 && letters.back() == arg_type::kPlaces;
    if (!has_list && step.results.size() != n_places)
      refuse(number, symbol, "expected ", n_places, " results, got ", step.results.size());
    for (size_t k = 0; k < step.args.size(); ++k) check_argument(number, k, letters[k]);
    // Only the list of tsr_grad has no count of its own: it is as long as that of its inputs.
    if (symbol.signature == nullptr && has_list &&
        step.results.size() != step.args[2].values.size())
      refuse(number, symbol, "expected a result for each input");
    for (const int32_t value : step.results) {
      if (value == kAbsent) continue;
      if (!is_value(value) || exists_[static_cast<size_t>(value)])
        refuse(number, symbol, "its result is value ", value, ", which is taken");
      exists_[static_cast<size_t>(value)] = true;
    }
  }

  void check_output(const Named& output) const {
    TSR_CHECK(exists(output.value), Code::kAbi, nullptr, "output '", output.name, "' has no value");
  }

 private:
  void check_argument(size_t number, size_t k, char letter) const {
    const Symbol& symbol = *program_.steps[number].symbol;
    const Argument& arg = program_.steps[number].args[k];
    const tsr_value sample = sample_of(arg, sizes_);
    const bool is_optimizer = letter == arg_type::kOther;
    const bool good = is_optimizer ? arg.kind == TSR_VALUE_POINTER
                                   : fits(letter, sample) && fits_width(letter, sample);
    if (!good)
      refuse(number, symbol, "argument ", k, " is of another kind than the function takes");
    if (is_optimizer && !is_place_in(program_.optimizers, arg.n))
      refuse(number, symbol, "there is no optimizer ", arg.n);
    if (arg.kind == TSR_VALUE_GENERATOR && !is_place_in(program_.generators, arg.n))
      refuse(number, symbol, "there is no generator ", arg.n);
    if (arg.kind == TSR_VALUE_TENSOR && arg.values.size() != 1)
      refuse(number, symbol, "argument ", k, " is not one tensor");
    for (const int32_t value : arg.values) {
      const bool may_be_absent = arg.kind == TSR_VALUE_TENSORS;
      if (value == kAbsent && may_be_absent) continue;
      if (!exists(value))
        refuse(number, symbol, "argument ", k, " is value ", value, ", which does not exist yet");
    }
  }

  [[nodiscard]] static bool is_place_in(const auto& list, int32_t place) {
    return place >= 0 && static_cast<size_t>(place) < list.size();
  }
  [[nodiscard]] bool is_value(int32_t value) const { return is_place_in(program_.values, value); }
  [[nodiscard]] bool exists(int32_t value) const {
    return is_value(value) && exists_[static_cast<size_t>(value)];
  }

  const Program& program_;
  const Sizes sizes_;
  std::vector<bool> exists_;
};

}  // namespace

int64_t Integer::at(const Sizes& sizes) const {
  auto sum = static_cast<uint64_t>(base);
  for (const Term& term : terms) {
    auto product = static_cast<uint64_t>(term.factor);
    for (const int32_t size : term.sizes)
      product *= static_cast<uint64_t>(sizes[static_cast<size_t>(size)]);
    sum += product;
  }
  return static_cast<int64_t>(sum);
}

Program::Program() : Object(kProgramTag) {}
Program::~Program() {
  runner.reset();
  if (!handed_out_) return;
  for (const auto& optimizer : optimizers) take_back(optimizer.get());
  for (const auto& generator : generators) take_back(generator.get());
  for (const Value& value : values) {
    if (value.stored.defined()) take_back(value.stored.impl());
  }
}
void Program::destroy(Program* program) noexcept {
  program->tag = ObjectTag::kDead;
  delete program;
}

int32_t Program::find(std::string_view name) const noexcept {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == name && values[i].source != Source::kResult)
      return static_cast<int32_t>(i);
  }
  return kAbsent;
}

Sizes Program::recorded_sizes() const {
  Sizes found;
  for (const DynamicSize& size : sizes) found.push_back(size.recorded);
  return found;
}

// A run finds each size at an axis that is the size alone, times a factor plus a constant.
void Program::check_sizes() const {
  const auto has_size = [](const Integer& axis, int32_t number) {
    return axis.terms.size() == 1 && axis.terms[0].factor > 0 &&
           axis.terms[0].sizes == std::vector<int32_t>{number};
  };
  for (size_t k = 0; k < sizes.size(); ++k) {
    const bool found = std::any_of(inputs.begin(), inputs.end(), [&](const Named& input) {
      const Integers& axes = values[static_cast<size_t>(input.value)].sizes;
      return std::any_of(axes.begin(), axes.end(), [&](const Integer& axis) {
        return has_size(axis, static_cast<int32_t>(k));
      });
    });
    TSR_CHECK(found, Code::kAbi, nullptr, "no axis of an input has the dynamic size '",
              sizes[k].name, "'");
  }
}

void Program::check() {
  check_sizes();
  Checker checker(*this);
  for (const Named& input : inputs) checker.check_input(input);
  for (size_t i = 0; i < steps.size(); ++i) {
    checker.check_step(i);
    trains = trains || is_training_call(*steps[i].symbol);
  }
  for (const Named& output : outputs) checker.check_output(output);
  handed_out_ = true;
  for (const auto& optimizer : optimizers) hand_out(optimizer.get());
  for (const auto& generator : generators) hand_out(generator.get());
  for (const Value& value : values) {
    if (value.stored.defined()) hand_out(value.stored.impl());
  }
}

std::unique_lock<ForkMutex> Program::lock() {
  TSR_CHECK(running_on_.load() != std::this_thread::get_id(), Code::kValue, "program",
            "this thread is running the program already");
  return std::unique_lock(mutex_);
}

std::vector<Tensor> Program::run(std::span<const Tensor> given) {
  const auto held = lock();
  const RunningHere here(running_on_);
  const Quietly quietly;
  if (runner == nullptr) runner = std::make_unique<Runner>(*this);
  return runner->run(given);
}

}  // namespace tsr::capi::program
