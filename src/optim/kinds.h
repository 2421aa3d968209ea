// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The kinds of optimizers: one row for each, with its options, its states and its update.
#pragma once

#include <array>
#include <span>

#include "kernel/optim.h"
#include "tensor/tensor.h"

namespace tsr::optim {

// capi/schema lists these values too; a test compares both.
enum class Kind : int32_t {
  kSgd = 1,
  kAdam = 2,
  kAdamw = 3,
  kRmsprop = 4,
  kAdagrad = 5,
  kAdadelta = 6,
  kAdamax = 7,
  kNadam = 8,
  kRadam = 9,
  kLamb = 10,
  kLion = 11,
  kMuon = 12,
  kRprop = 13,
  kAsgd = 14,
};

enum class Option : uint8_t {
  kLr,
  kBeta1,
  kBeta2,
  kEps,
  kWeightDecay,
  kMomentum,
  kDampening,
  kAlpha,
  kRho,
  kLrDecay,
  kInitialAccumulatorValue,
  kMomentumDecay,
  kEtaminus,
  kEtaplus,
  kStepSizeMin,
  kStepSizeMax,
  kLambd,
  kT0,
  kNsSteps,
  kNesterov,
  kAmsgrad,
  kCentered,
  kDecoupledWeightDecay,
  kMaximize,
  kNone
};
inline constexpr auto kOptionCount = static_cast<size_t>(Option::kNone);

// The range of an option. Every option is stored as a double: a count is a whole number, a flag 0
// or 1.
struct OptionRow {
  enum class Form : uint8_t { kNumber, kCount, kFlag };
  const char* name;
  Form form;
  double least;
  double most;
  bool below;         // `most` itself is out of range
  const char* range;  // for the error
};
const OptionRow& row_of(Option option) noexcept;

struct KindRow;

// The options of one group. Options that the kind does not use are 0.
class Options {
 public:
  // The defaults of a kind: PyTorch's if PyTorch has the kind. Throws kInvalidArgument for an
  // unknown kind.
  explicit Options(Kind kind);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const KindRow& row() const noexcept;
  [[nodiscard]] double get(Option option) const noexcept {
    return values_[static_cast<size_t>(option)];
  }
  [[nodiscard]] bool is_set(Option option) const noexcept { return get(option) != 0; }
  void set(Option option, double value) noexcept { values_[static_cast<size_t>(option)] = value; }
  // Throws kValue, with kind and option in the message, for an option that is out of range or that
  // the kind does not use.
  void check() const;

 private:
  Kind kind_;
  std::array<double, kOptionCount> values_{};
};

struct Default {
  Option option;
  double value;
};

struct StateRow {
  const char* name = nullptr;        // null: no more states
  Option needed_by = Option::kNone;  // exists only if this option is not 0; kNone: always
  Option starts_as = Option::kNone;  // the option whose value it starts with; kNone: 0
  [[nodiscard]] bool kept(const Options& options) const noexcept {
    return name != nullptr && (needed_by == Option::kNone || options.is_set(needed_by));
  }
};
inline constexpr size_t kMaxStates = 3;

// Parameters that are updated together: of the same group and at the same step.
struct Batch {
  const Options& options;
  int64_t step;             // 1 at the first step
  bool fresh;               // the states were made for this step
  double momentum_product;  // NAdam; includes this step
  std::span<const Tensor> params, grads;
  std::array<std::span<const Tensor>, kMaxStates> states;  // empty if the state does not exist
};

// ---- Updates. Grad mode is off; the lists have been checked. ----

// One call of the step kernel for all parameters.
void update_fused(const KindRow& row, const Batch& batch);
void update_lamb(const KindRow& row, const Batch& batch);
void update_muon(const KindRow& row, const Batch& batch);

struct KindRow {
  Kind kind;
  const char* name;  // in files and errors
  std::span<const Default> options;
  std::array<StateRow, kMaxStates> states;
  kernel::OptimOp step;  // kCount: none
  void (*update)(const KindRow& row, const Batch& batch) = update_fused;
  bool matrices = false;  // only takes parameters of two dimensions
};
// Throws kInvalidArgument for an unknown kind.
const KindRow& row_of(Kind kind);

// The plan of a batch for the step kernel, with its numbers.
kernel::OptimPlan plan_of(const KindRow& row, const Batch& batch);

}  // namespace tsr::optim
