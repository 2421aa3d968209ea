// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arguments of tsr_call that are wrong: what must be refused, and what must at least be survived.
#pragma once

#include <string>
#include <vector>

#include "capi/abi_support.h"

namespace tsr::test {

// An argument or a result of a call by number.
struct Argument {
  std::string name, type;  // of the schema; scalar where the function takes a number for a tensor
  tsr_value value;         // a good one
  bool extremes;           // false: the ends of the range are legal and costly
  std::vector<std::string> numbers;  // the kinds of numbers that a scalar takes
};

inline constexpr tsr_status kSurvives = -2;  // beside kAnyError: success is an answer, too
struct WrongValue {
  tsr_value value;
  tsr_status expected;
};
// `results` is the number of results of the call, of which a caller need not want each.
std::vector<WrongValue> wrong_values(const Argument& argument, size_t results);

inline tsr_value value_of(tsr_value_kind kind, int64_t integer = 0, const void* pointer = nullptr,
                          size_t n = 0, double real = 0, double imaginary = 0) {
  return {kind, static_cast<int32_t>(n), integer, real, imaginary, pointer};
}

}  // namespace tsr::test
