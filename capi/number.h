// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Numbers of the host language: converts the caller's tsr_number to a Scalar.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>

#include "base/scalar.h"
#include "tessera/types.h"

namespace tsr::capi {

// The kinds that an op takes, as bits.
inline constexpr uint32_t kNumberBool = 1U << TSR_NUMBER_BOOL;
inline constexpr uint32_t kNumberInteger = 1U << TSR_NUMBER_INTEGER;
inline constexpr uint32_t kNumberReal = 1U << TSR_NUMBER_REAL;
inline constexpr uint32_t kNumberComplex = 1U << TSR_NUMBER_COMPLEX;
inline constexpr uint32_t kAnyNumber = kNumberBool | kNumberInteger | kNumberReal | kNumberComplex;

// Reads an unsigned number, a kind that is allowed where integers are. Throws kInvalidArgument for
// an invalid number, kType for a kind that is not in `kinds`.
[[gnu::cold]] Scalar rare_number(const tsr_number* number, const char* arg, uint32_t kinds);

// Reads only the fields of the number's kind: callers need not set the others.
[[gnu::always_inline]] inline Scalar number_arg(const tsr_number* number, const char* arg,
                                                uint32_t kinds = kAnyNumber) {
  if (number == nullptr) [[unlikely]]
    return rare_number(number, arg, kinds);
  const auto kind = static_cast<uint32_t>(number->kind);
  if (kind > TSR_NUMBER_COMPLEX || (kinds >> kind & 1) == 0 || number->reserved != 0) [[unlikely]]
    return rare_number(number, arg, kinds);
  switch (number->kind) {
    case TSR_NUMBER_REAL:
      return number->real;
    case TSR_NUMBER_INTEGER:
      return number->integer;
    case TSR_NUMBER_COMPLEX:
      return std::complex<double>(number->real, number->imaginary);
    default:
      if ((number->integer & ~int64_t{1}) != 0) [[unlikely]]
        return rare_number(number, arg, kinds);
      return number->integer != 0;
  }
}

inline std::optional<Scalar> optional_number_arg(const tsr_number* number, const char* arg,
                                                 uint32_t kinds = kAnyNumber) {
  if (number == nullptr) return std::nullopt;
  return number_arg(number, arg, kinds);
}

}  // namespace tsr::capi
