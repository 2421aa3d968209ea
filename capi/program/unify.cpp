// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One program from recordings with different sizes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "base/error.h"
#include "capi/program/bytes.h"
#include "capi/program/program.h"
#include "ops/create/copy.h"

namespace tsr::capi::program {
namespace {

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw_error(Code::kValue, "programs", __FILE__, __LINE__,
              concat("the recordings cannot be one program: ", pieces...));
}

// ---- The sizes ----

// One number in each recording.
using Numbers = std::vector<int64_t>;

bool differ(const Numbers& numbers) {
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](int64_t number) { return number != numbers[0]; });
}

// Whether `numbers` are `known` times a whole number, plus a constant. Two recordings cannot tell a
// factor from another size.
bool follows(const Numbers& numbers, const Numbers& known) {
  const size_t count = numbers.size();
  for (size_t i = 1; i < count; ++i) {
    const int64_t by = known[i] - known[0];
    if (by == 0) continue;
    const int64_t rise = numbers[i] - numbers[0];
    if (rise % by != 0 || (count == 2 && rise != by)) return false;
    const int64_t factor = rise / by;
    for (size_t k = 0; k < count; ++k) {
      if (numbers[k] - numbers[0] != factor * (known[k] - known[0])) return false;
    }
    return factor > 0 && (count > 2 || numbers == known);
  }
  return false;
}

// The sizes of inputs that differ, in the order of the inputs' axes.
std::vector<Numbers> find_sizes(std::span<Program* const> programs) {
  const Program& first = *programs[0];
  std::vector<Numbers> found;
  for (size_t i = 0; i < first.inputs.size(); ++i) {
    const auto sizes_of = [&](const Program* program) -> const Integers& {
      return program->values[static_cast<size_t>(program->inputs[i].value)].sizes;
    };
    for (const Program* program : programs) {
      if (sizes_of(program).size() != sizes_of(&first).size())
        refuse("input '", first.inputs[i].name, "' has another number of axes");
    }
    for (size_t axis = 0; axis < sizes_of(&first).size(); ++axis) {
      Numbers sizes;
      for (const Program* program : programs) sizes.push_back(sizes_of(program)[axis].base);
      const bool is_known = std::any_of(
          found.begin(), found.end(), [&](const Numbers& known) { return follows(sizes, known); });
      if (differ(sizes) && !is_known) found.push_back(std::move(sizes));
    }
  }
  if (found.empty()) refuse("no size of an input differs");
  return found;
}

// ---- Rules ----

// Products of sizes that a number may follow, simple ones first.
std::vector<std::vector<int32_t>> products(int32_t sizes) {
  std::vector<std::vector<int32_t>> found;
  for (int32_t a = 0; a < sizes; ++a) found.push_back({a});
  for (int32_t a = 0; a < sizes; ++a) {
    for (int32_t b = a; b < sizes; ++b) found.push_back({a, b});
  }
  for (int32_t a = 0; a < sizes; ++a) {
    for (int32_t b = a; b < sizes; ++b) {
      for (int32_t c = b; c < sizes; ++c) found.push_back({a, b, c});
    }
  }
  return found;
}

// Solves rows of [coefficients | result] of whole numbers; empty if there is no single solution in
// whole numbers.
std::vector<int64_t> solve(std::vector<std::vector<double>> rows, size_t unknowns) {
  for (size_t column = 0; column < unknowns; ++column) {
    const auto better = [&](const auto& a, const auto& b) {
      return std::fabs(a[column]) < std::fabs(b[column]);
    };
    const auto pivot =
        std::max_element(rows.begin() + static_cast<ptrdiff_t>(column), rows.end(), better);
    if (pivot == rows.end() || std::fabs((*pivot)[column]) < 1e-9) return {};
    std::iter_swap(pivot, rows.begin() + static_cast<ptrdiff_t>(column));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i == column) continue;
      const double by = rows[i][column] / rows[column][column];
      for (size_t k = column; k <= unknowns; ++k) rows[i][k] -= by * rows[column][k];
    }
  }
  std::vector<int64_t> found;
  for (size_t i = 0; i < unknowns; ++i) {
    const double value = rows[i][unknowns] / rows[i][i];
    if (!(std::fabs(value) < 9e15)) return {};
    found.push_back(std::llround(value));
  }
  return found;
}

class Unifier {
 public:
  Unifier(std::span<Program* const> programs, std::span<const std::string> names)
      : programs_(programs), sizes_(find_sizes(programs)) {
    const size_t count = sizes_.size();
    TSR_CHECK(names.empty() || names.size() == count, Code::kValue, "names", "expected ", count,
              " names, one for each size that differs, got ", names.size());
    for (size_t k = 0; k < count; ++k)
      names_.push_back(!names.empty() ? names[k] : count == 1 ? "n" : concat("n", k));
    for (size_t k = 0; k < count; ++k) {
      TSR_CHECK(std::count(names_.begin(), names_.end(), names_[k]) == 1, Code::kValue, "names",
                "expected names that differ, got '", names_[k], "' twice");
    }
    // A number that follows one size alone is confirmed by a third recording, if there is one.
    const size_t enough = count == 1 ? 2 : count + 2;
    if (programs.size() < enough)
      refuse("expected ", enough, " recordings for ", count, " sizes that differ, got ",
             programs.size());
    std::set<Numbers> different;
    for (size_t i = 0; i < programs.size(); ++i) different.insert(sizes_at(i));
    if (different.size() != programs.size())
      refuse("two recordings have the same size ", sizes_[0][0]);
    if (solve_linear(Numbers(programs.size(), 0)).empty())
      refuse("the sizes ", joined_names(), " do not change independently of each other");
    products_ = products(static_cast<int32_t>(count));
    // Without a recording more than it has unknowns, any rule would hold.
    if (programs.size() < 3) products_.resize(count);
  }

  // The rule that gives the numbers of all recordings.
  template <class Where>
  Integer rule(const Numbers& numbers, const Where& where) const {
    if (!differ(numbers)) return {numbers[0]};
    for (const std::vector<int32_t>& product : products_) {
      const Integer found = one_product(numbers, product);
      if (found.is_dynamic()) return found;
    }
    for (const bool crossed : {false, true}) {
      const Integer found = sum_of_products(numbers, crossed);
      if (found.is_dynamic()) return found;
    }
    std::string all;
    for (size_t i = 0; i < numbers.size(); ++i)
      all += concat(i == 0                    ? ""
                    : i + 1 == numbers.size() ? " and "
                                              : ", ",
                    numbers[i], " at ", text_of_sizes(i));
    refuse(where(), " is ", all, ", which no sum of products of the sizes gives");
  }

  template <class Get, class Where>
  Integers rules(const Get& get, const Where& where) const {
    const size_t count = get(*programs_[0]).size();
    Integers found;
    for (const Program* program : programs_) {
      if (get(*program).size() != count) refuse(where(), " has another length");
    }
    for (size_t i = 0; i < count; ++i) {
      Numbers numbers;
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
    for (size_t k = 0; k < sizes_.size(); ++k) made->sizes.push_back({names_[k], sizes_[k][0]});
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
  [[nodiscard]] Sizes sizes_at(size_t recording) const {
    Sizes found;
    for (const Numbers& size : sizes_) found.push_back(size[recording]);
    return found;
  }
  [[nodiscard]] std::string joined_names() const {
    std::string text;
    for (const std::string& name : names_) text += concat(text.empty() ? "" : ", ", name);
    return text;
  }
  [[nodiscard]] std::string text_of_sizes(size_t recording) const {
    std::string text;
    for (size_t k = 0; k < names_.size(); ++k)
      text += concat(k == 0 ? "" : ", ", names_[k], " = ", sizes_[k][recording]);
    return text;
  }

  [[nodiscard]] bool gives(const Integer& number, const Numbers& numbers) const {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (number.at(sizes_at(i)) != numbers[i]) return false;
    }
    return true;
  }

  // A factor times one product, plus a constant; without terms if the numbers do not follow it.
  [[nodiscard]] Integer one_product(const Numbers& numbers,
                                    const std::vector<int32_t>& product) const {
    const Integer alone{0, {{1, product}}};
    const int64_t first = alone.at(sizes_at(0));
    for (size_t i = 1; i < numbers.size(); ++i) {
      const int64_t by = alone.at(sizes_at(i)) - first;
      if (by == 0) continue;
      const int64_t rise = numbers[i] - numbers[0];
      if (rise == 0 || rise % by != 0) return {};
      const int64_t factor = rise / by;
      Integer found{numbers[0], {{factor, product}}};
      found.base -= Integer{0, found.terms}.at(sizes_at(0));
      return gives(found, numbers) ? found : Integer{};
    }
    return {};
  }

  // The products of a sum: every size, and every pair of different ones.
  [[nodiscard]] std::vector<std::vector<int32_t>> summands(bool crossed) const {
    const auto count = static_cast<int32_t>(sizes_.size());
    std::vector<std::vector<int32_t>> found;
    for (int32_t a = 0; a < count; ++a) found.push_back({a});
    for (int32_t a = 0; a < count && crossed; ++a) {
      for (int32_t b = a + 1; b < count; ++b) found.push_back({a, b});
    }
    return found;
  }

  [[nodiscard]] std::vector<int64_t> solve_for(
      const Numbers& numbers, const std::vector<std::vector<int32_t>>& terms) const {
    std::vector<std::vector<double>> rows;
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::vector<double> row{1};
      for (const auto& term : terms)
        row.push_back(static_cast<double>(Integer{0, {{1, term}}}.at(sizes_at(i))));
      row.push_back(static_cast<double>(numbers[i]));
      rows.push_back(std::move(row));
    }
    return solve(std::move(rows), terms.size() + 1);
  }
  [[nodiscard]] std::vector<int64_t> solve_linear(const Numbers& numbers) const {
    return solve_for(numbers, summands(false));
  }

  [[nodiscard]] Integer sum_of_products(const Numbers& numbers, bool crossed) const {
    const auto terms = summands(crossed);
    if (numbers.size() <= terms.size() + 1) return {};  // nothing would confirm it
    const std::vector<int64_t> factors = solve_for(numbers, terms);
    if (factors.empty()) return {};
    Integer found{factors[0], {}};
    for (size_t i = 0; i < terms.size(); ++i) {
      if (factors[i + 1] != 0) found.terms.push_back({factors[i + 1], terms[i]});
    }
    return gives(found, numbers) ? found : Integer{};
  }

  static Tensor on_host(const Tensor& tensor) {
    const Tensor host = empty(tensor.sizes(), tensor.dtype(), Device{});
    ops::copy_memory(host, tensor.detached());
    return host;
  }
  // The same object, or made anew in each recording with the same contents.
  static bool same_stored(const Value& a, const Value& b) {
    if (!a.stored.defined() || a.stored.is_same(b.stored)) return true;
    if (!b.stored.defined() || a.source != Source::kConstant) return false;
    if (a.stored.sizes() != b.stored.sizes() || a.stored.dtype() != b.stored.dtype()) return false;
    const Tensor left = on_host(a.stored), right = on_host(b.stored);
    return left.numel() == 0 ||
           std::memcmp(left.data(), right.data(), static_cast<size_t>(left.nbytes())) == 0;
  }

  // A nan is the same argument as the same nan.
  static bool same_bits(std::span<const double> a, std::span<const double> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
      return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
    });
  }

  void compare(const Program& other) const {
    const Program& first = *programs_[0];
    if (!other.sizes.empty()) refuse("one has a dynamic size already");
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
      if (!same_kind || !same_stored(a, b))
        refuse("'", a.name.empty() ? concat("value ", i) : a.name,
               "' differs; only inputs may depend on a dynamic size");
    }
  }

  void unify_step(Program& made, size_t at) const {
    const Step& first = programs_[0]->steps[at];
    Step& step = made.steps[at];
    const std::string_view letters = letters_of(*first.symbol);
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
        const bool may_follow = a.kind == TSR_VALUE_INT && required(letters[k]) != arg_type::kEnum;
        const bool same = a.kind == b.kind && a.n == b.n && a.values == b.values &&
                          a.text == b.text && same_bits(a.reals, b.reals) &&
                          same_bits({&a.real, 1}, {&b.real, 1}) &&
                          same_bits({&a.imaginary, 1}, {&b.imaginary, 1}) &&
                          (may_follow || a.integer.base == b.integer.base);
        if (!same) refuse(where(k), " differs and is no integer");
      }
    }
    for (size_t k = 0; k < first.args.size(); ++k) {
      Numbers numbers;
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
  std::vector<Numbers> sizes_;
  std::vector<std::string> names_;
  std::vector<std::vector<int32_t>> products_;
};

}  // namespace

ProgramPtr unify(std::span<Program* const> programs, std::span<const std::string> names) {
  TSR_CHECK(programs.size() >= 2, Code::kValue, "programs", "expected at least two, got ",
            programs.size());
  for (const Program* program : programs) {
    if (program->inputs.size() != programs[0]->inputs.size()) refuse("their inputs differ");
  }
  return Unifier(programs, names).make();
}

}  // namespace tsr::capi::program
