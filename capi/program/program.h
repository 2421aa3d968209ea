// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Program: recorded calls of the ABI as data.
//
// Note [Programs]
// A program is a list of calls over numbered values. A value is a tensor object, not its elements:
// a call may write into one, and a run makes the calls in their order, so that writes happen where
// they did. Values come from the inputs of a run, are stored with the program (parameters by name,
// constants), or are results of calls. Every integer is `base` plus products of the program's
// dynamic sizes with factors; in a single recording it is `base` alone.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/fork_mutex.h"
#include "base/generator.h"
#include "base/intrusive_ptr.h"
#include "capi/tables.h"
#include "optim/optimizer.h"
#include "tensor/tensor.h"

namespace tsr::capi::program {

inline constexpr auto kProgramTag = static_cast<ObjectTag>(0x54535047U);
inline constexpr int32_t kAbsent = -1;  // no value

// `factor` times sizes of the program, by their numbers in ascending order.
struct Term {
  int64_t factor = 0;
  std::vector<int32_t> sizes;
  friend bool operator==(const Term&, const Term&) = default;
};

using Sizes = std::vector<int64_t>;

struct Integer {
  int64_t base = 0;
  std::vector<Term> terms = {};
  // Wraps: a file may hold any numbers.
  [[nodiscard]] int64_t at(const Sizes& sizes) const;
  [[nodiscard]] bool is_dynamic() const noexcept { return !terms.empty(); }
  // The first size times a factor, plus a constant: what files of format 1 can say.
  [[nodiscard]] bool is_simple() const noexcept {
    return terms.size() == 1 && terms[0].sizes == std::vector<int32_t>{0};
  }
  friend bool operator==(const Integer&, const Integer&) = default;
};
using Integers = std::vector<Integer>;

// An argument of a call: a tsr_value whose handles are numbers.
struct Argument {
  tsr_value_kind kind = TSR_VALUE_NONE;
  int32_t n = 0;                // of a device: its index; of a generator or optimizer: its number
  Integer integer;              // of a bool, integer, dtype or device
  double real = 0;              // of a real or complex number
  double imaginary = 0;         // of a complex number
  std::vector<int32_t> values;  // of a tensor or a list of them
  Integers integers;
  std::vector<double> reals;
  std::string text;
};

// Bits of Step::mode: the state of the thread that recorded.
inline constexpr uint8_t kModeGrad = 1;
inline constexpr uint8_t kModeInference = 2;

struct Step {
  const Symbol* symbol = nullptr;
  std::vector<Argument> args;
  std::vector<int32_t> results;  // values, kAbsent for one that nobody wants
  uint8_t mode = kModeGrad;
};

enum class Source : uint8_t { kInput, kParameter, kConstant, kResult };

struct Value {
  Source source = Source::kResult;
  std::string name;  // empty for results that are no outputs
  DType dtype = DType::kFloat32;
  Device device;
  Integers sizes;
  Tensor stored;  // of parameters and constants
};

struct Named {
  std::string name;
  int32_t value;
};

// A size that every run may choose.
struct DynamicSize {
  std::string name;
  int64_t recorded = 0;  // in the first recording
};

class Runner;

class Program final : public Object {
 public:
  Program();
  static void destroy(Program* program) noexcept;

  std::vector<Value> values;
  std::vector<Named> inputs;
  std::vector<Named> outputs;
  std::vector<Step> steps;
  std::vector<IntrusivePtr<optim::Optimizer>> optimizers;
  std::vector<IntrusivePtr<Generator>> generators;
  std::vector<DynamicSize> sizes;
  bool trains = false;  // runs with autograd; else without, on planned memory

  // Throws kAbi, naming the function, unless a run can make every call: arguments of the kinds that
  // the function takes, values that exist at that time. Sets `trains`.
  void check();
  // The values of this name; kAbsent.
  [[nodiscard]] int32_t find(std::string_view name) const noexcept;
  [[nodiscard]] Sizes recorded_sizes() const;
  [[nodiscard]] std::vector<Tensor> run(std::span<const Tensor> given);
  // Waits for the runs of other threads; kValue if this thread is running the program, as a hook of
  // a training step may ask.
  [[nodiscard]] std::unique_lock<ForkMutex> lock();

  std::unique_ptr<Runner> runner;

 private:
  ~Program();
  void check_sizes() const;

  // What it holds counts as given out, so that runs may call the ABI with it: after check().
  bool handed_out_ = false;

  ForkMutex mutex_;                            // of a run
  std::atomic<std::thread::id> running_on_{};  // the thread that holds it
};

using ProgramPtr = IntrusivePtr<Program>;

// ---- What a recording does with a function ----

enum class Policy : uint8_t {
  kRecord,
  kIgnore,     // has no effect on values
  kHostData,   // its result holds what the host gave: a constant
  kHostRead,   // gives elements to the host
  kHostWrite,  // writes elements that come from the host
  kRefuse
};
[[nodiscard]] Policy policy_of(const Symbol& symbol) noexcept;

// The letters of the arguments of a function that may be recorded, then of its results.
[[nodiscard]] std::string_view letters_of(const Symbol& symbol) noexcept;
using Caller = tsr_status (*)(AnyFunction function, tsr_value* values);
[[nodiscard]] Caller caller_of(const Symbol& symbol) noexcept;
// Whether a program with such a call needs autograd.
[[nodiscard]] bool is_training_call(const Symbol& symbol) noexcept;
// Whether the shape of a result depends on elements.
[[nodiscard]] bool has_data_dependent_shape(const Symbol& symbol) noexcept;

// The form of an operator's function, from its number.
[[nodiscard]] inline bool is_out_form(const Symbol& symbol) {
  return symbol.signature != nullptr && (symbol.id >> 16 & 3) == 1;
}
[[nodiscard]] inline bool is_inplace_form(const Symbol& symbol) {
  return symbol.signature != nullptr && (symbol.id >> 16 & 3) == 2;
}
[[nodiscard]] inline size_t count_results(std::string_view letters) {
  const auto first = letters.find_first_of("PQ");
  return first == std::string_view::npos ? 0 : letters.size() - first;
}

// ---- Files ----

void save(Program& program, const std::string& path);
[[nodiscard]] std::string to_bytes(Program& program);
[[nodiscard]] ProgramPtr load(const std::string& path);
[[nodiscard]] ProgramPtr from_bytes(std::string_view bytes);
[[nodiscard]] std::string describe(Program& program);
[[nodiscard]] std::string to_text(Program& program);

// `names` of the sizes that differ, in the order of the inputs' axes; empty: n, or n0, n1 ...
[[nodiscard]] ProgramPtr unify(std::span<Program* const> programs,
                               std::span<const std::string> names);

// "n", "2*n+1", "batch*length": for texts.
[[nodiscard]] std::string text_of(const Program& program, const Integer& number);
[[nodiscard]] std::string text_of(const Program& program, const Integers& numbers);

}  // namespace tsr::capi::program
