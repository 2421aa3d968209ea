// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One program from recordings with different sizes.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "capi/program/program.h"

namespace tsr::capi::program {
namespace {

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw_error(Code::kValue, "programs", __FILE__, __LINE__,
              concat("the recordings cannot be one program: ", pieces...));
}

// The sizes of the recordings that differ: all of one kind.
std::vector<int64_t> dynamic_sizes(std::span<Program* const> programs) {
  const Program& first = *programs[0];
  std::set<std::vector<int64_t>> found;
  for (size_t i = 0; i < first.inputs.size(); ++i) {
    const auto& sizes_of = [&](const Program* program) -> const Integers& {
      return program->values[static_cast<size_t>(program->inputs[i].value)].sizes;
    };
    for (size_t axis = 0; axis < sizes_of(&first).size(); ++axis) {
      std::vector<int64_t> sizes;
      for (const Program* program : programs) {
        if (sizes_of(program).size() != sizes_of(&first).size())
          refuse("input '", first.inputs[i].name, "' has another number of axes");
        sizes.push_back(sizes_of(program)[axis].base);
      }
      if (std::any_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size != sizes[0]; }))
        found.insert(std::move(sizes));
    }
  }
  if (found.empty()) refuse("no size of an input differs");
  if (found.size() > 1)
    refuse("expected one size that differs, in all inputs that have it, got ", found.size());
  const std::vector<int64_t>& sizes = *found.begin();
  if (std::set<int64_t>(sizes.begin(), sizes.end()).size() != sizes.size())
    refuse("two recordings have the same size ", sizes[0]);
  return sizes;
}

class Unifier {
 public:
  explicit Unifier(std::span<Program* const> programs)
      : programs_(programs), sizes_(dynamic_sizes(programs)) {}

  // The rule that gives the numbers of all recordings.
  template <class Where>
  Integer rule(const std::vector<int64_t>& numbers, const Where& where) const {
    const int64_t by = sizes_[1] - sizes_[0];
    const int64_t rise = numbers[1] - numbers[0];
    const Integer found{numbers[0] - rise / by * sizes_[0], rise / by};
    bool holds = rise % by == 0;
    for (size_t i = 0; i < numbers.size(); ++i) holds = holds && found.at(sizes_[i]) == numbers[i];
    if (!holds)
      refuse(where(), " is ", numbers[0], " at size ", sizes_[0], " and ", numbers[1], " at size ",
             sizes_[1],
             numbers.size() > 2 ? concat(" and ", numbers[2], " at size ", sizes_[2]) : "",
             ", which is no multiple of the size plus a constant");
    return found;
  }

  template <class Get, class Where>
  Integers rules(const Get& get, const Where& where) const {
    const size_t count = get(*programs_[0]).size();
    Integers found;
    for (const Program* program : programs_) {
      if (get(*program).size() != count) refuse(where(), " has another length");
    }
    for (size_t i = 0; i < count; ++i) {
      std::vector<int64_t> numbers;
      for (const Program* program : programs_) numbers.push_back(get(*program)[i].base);
      found.push_back(rule(numbers, where));
    }
    return found;
  }

  ProgramPtr make() {
    const Program& first = *programs_[0];
    auto made = ProgramPtr::adopt(new Program);
    made->values = first.values;
    made->inputs = first.inputs;
    made->outputs = first.outputs;
    made->steps = first.steps;
    made->optimizers = first.optimizers;
    made->generators = first.generators;
    made->dynamic = true;
    made->recorded_size = sizes_[0];
    for (const Program* program : programs_) compare(*program);
    for (const auto* list : {&first.inputs, &first.outputs}) {
      for (const Named& named : *list) {
        const auto at = static_cast<size_t>(named.value);
        made->values[at].sizes = rules(
            [&](const Program& program) -> const Integers& { return program.values[at].sizes; },
            [&] { return concat("a size of '", named.name, "'"); });
      }
    }
    for (size_t i = 0; i < first.steps.size(); ++i) unify_step(*made, i);
    made->check();
    return made;
  }

 private:
  void compare(const Program& other) const {
    const Program& first = *programs_[0];
    if (other.dynamic) refuse("one has a dynamic size already");
    if (other.steps.size() != first.steps.size())
      refuse("expected ", first.steps.size(), " calls, got ", other.steps.size());
    if (other.values.size() != first.values.size() || other.inputs.size() != first.inputs.size() ||
        other.outputs.size() != first.outputs.size())
      refuse("they have different tensors");
    for (size_t i = 0; i < first.outputs.size(); ++i) {
      if (other.outputs[i].value != first.outputs[i].value) refuse("their outputs differ");
    }
    for (size_t i = 0; i < first.values.size(); ++i) {
      const Value& a = first.values[i];
      const Value& b = other.values[i];
      const bool same_kind = a.source == b.source && a.dtype == b.dtype && a.device == b.device;
      const bool same_tensor = !a.stored.defined() || a.stored.is_same(b.stored) ||
                               (b.stored.defined() && a.source == Source::kConstant &&
                                a.stored.sizes() == b.stored.sizes());
      if (!same_kind || !same_tensor)
        refuse("'", a.name.empty() ? concat("value ", i) : a.name,
               "' differs; only inputs may have a dynamic size");
    }
  }

  void unify_step(Program& made, size_t at) const {
    const Step& first = programs_[0]->steps[at];
    Step& step = made.steps[at];
    const auto where = [&](size_t k) {
      const CallInfo& info = *first.symbol->info;
      const char* name = static_cast<int32_t>(k) < info.n ? info.args[k].name : "dst";
      return concat("`", name, "` of call ", at, ", ", first.symbol->name, ",");
    };
    for (const Program* program : programs_) {
      const Step& other = program->steps[at];
      if (other.symbol != first.symbol || other.results != first.results ||
          other.mode != first.mode)
        refuse("call ", at, " is ", first.symbol->name, " and ", other.symbol->name);
      for (size_t k = 0; k < first.args.size(); ++k) {
        const Argument& a = first.args[k];
        const Argument& b = other.args[k];
        const bool same = a.kind == b.kind && a.n == b.n && a.values == b.values &&
                          a.text == b.text && a.reals == b.reals && a.real == b.real &&
                          a.imaginary == b.imaginary;
        if (!same) refuse(where(k), " differs and is no integer");
      }
    }
    for (size_t k = 0; k < first.args.size(); ++k) {
      std::vector<int64_t> numbers;
      for (const Program* program : programs_)
        numbers.push_back(program->steps[at].args[k].integer.base);
      step.args[k].integer = rule(numbers, [&] { return where(k); });
      step.args[k].integers = rules(
          [&](const Program& program) -> const Integers& {
            return program.steps[at].args[k].integers;
          },
          [&] { return where(k); });
    }
  }

  std::span<Program* const> programs_;
  std::vector<int64_t> sizes_;
};

}  // namespace

ProgramPtr unify(std::span<Program* const> programs) {
  TSR_CHECK(programs.size() >= 2, Code::kValue, "programs", "expected at least two, got ",
            programs.size());
  for (const Program* program : programs) {
    if (program->inputs.size() != programs[0]->inputs.size()) refuse("their inputs differ");
  }
  return Unifier(programs).make();
}

}  // namespace tsr::capi::program
