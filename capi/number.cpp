// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/number.h"

#include <string>

#include "base/error.h"
#include "capi/handle.h"

namespace tsr::capi {
namespace {

constexpr const char* kKindNames[] = {"", "bool", "integer", "real", "complex", "unsigned"};

// "bool, integer, real"
std::string names_of(uint32_t kinds) {
  std::string names;
  for (uint32_t kind = TSR_NUMBER_BOOL; kind <= TSR_NUMBER_COMPLEX; ++kind) {
    if ((kinds >> kind & 1) != 0)
      names += (names.empty() ? "" : ", ") + std::string(kKindNames[kind]);
  }
  return names;
}

[[noreturn]] void fail_number(const tsr_number* number, const char* arg, uint32_t kinds) {
  if (number == nullptr) fail_handle(nullptr, "number", arg);
  if (number->kind < TSR_NUMBER_BOOL || number->kind > TSR_NUMBER_UNSIGNED) {
    fail_argument(Code::kInvalidArgument, arg, "a number of a kind TSR_NUMBER_", number->kind);
  }
  if (number->reserved != 0) {
    fail_argument(Code::kInvalidArgument, arg, "a number whose field reserved is 0",
                  number->reserved);
  }
  TSR_CHECK((kinds >> number->kind & 1) != 0, Code::kType, arg, "expected a number of the kind ",
            names_of(kinds), ", got ", kKindNames[number->kind]);
  fail_argument(Code::kInvalidArgument, arg, "a bool number whose field integer is 0 or 1",
                number->integer);
}

}  // namespace

Scalar rare_number(const tsr_number* number, const char* arg, uint32_t kinds) {
  const bool is_unsigned = number != nullptr && number->kind == TSR_NUMBER_UNSIGNED;
  if (is_unsigned && number->reserved == 0 && (kinds & kNumberInteger) != 0)
    return Scalar::from_unsigned(static_cast<uint64_t>(number->integer));
  fail_number(number, arg, kinds);
}

}  // namespace tsr::capi
