// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Prepared: a step of a program as the arguments of its trampoline, resolved once.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "capi/program/program.h"

namespace tsr::capi::program {

using Slots = std::vector<tsr_tensor>;

// The arguments point into the object, so it does not move.
class Prepared {
 public:
  // `sizes` are the dynamic sizes; `symbol` is that of the step or its out= form.
  Prepared(const Program& program, const Step& step, const Symbol& symbol, const Sizes& sizes);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // Fills in the handles of the arguments. In the out= form the destinations are those of the
  // results.
  void bind(const Slots& slots) noexcept;
  // The same for values that move from run to run.
  void keep_moving(const std::vector<bool>& moves);
  void rebind(const Slots& slots) noexcept;

  // Calls the function; results are handles that the caller owns. Throws the error of the call.
  void call(int32_t number);
  [[nodiscard]] std::span<const tsr_tensor> results() const noexcept { return results_; }
  [[nodiscard]] const Step& step() const noexcept { return step_; }

 private:
  struct Place {
    int32_t value;
    tsr_tensor* list;  // null: the handle is the pointer of an argument
    size_t at;         // in the list, or of the argument
  };
  void put(const Place& place, const Slots& slots) noexcept;
  void add_tensor(int32_t value, size_t at);
  void add_list(const std::vector<int32_t>& values, tsr_value& target);
  [[noreturn]] void fail(int32_t number, tsr_status status) const;

  const Step& step_;
  Caller call_;
  AnyFunction function_;
  const char* name_;
  bool has_list_result_ = false;
  std::vector<tsr_value> values_;
  std::vector<Place> places_;
  std::vector<Place> moving_;
  std::vector<std::unique_ptr<tsr_tensor[]>> lists_;
  std::vector<std::unique_ptr<int64_t[]>> numbers_;
  std::vector<tsr_tensor> results_;
};

}  // namespace tsr::capi::program
