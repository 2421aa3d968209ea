// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Half and BFloat16: 16-bit storage types. Arithmetic is done in float and rounded once, to nearest
// even.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace tsr {

// IEEE 754 binary16.
struct Half {
  uint16_t bits;

  Half() = default;
  TSR_HD explicit Half(float value) : bits(from_float(value)) {}
  TSR_HD explicit operator float() const { return to_float(bits); }

  // Adding 0.5 lets the float adder align and round a denormal; other numbers are rounded as
  // integers (after F. Giesen, "Float to half conversion done quick").
  TSR_HD static uint16_t from_float(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    const uint32_t sign = word & 0x80000000U;
    const uint32_t magnitude = word ^ sign;
    const auto high_sign = static_cast<uint16_t>(sign >> 16);
    if (magnitude >= 0x47800000U) {  // not below 65536: infinity, or a quiet NaN
      return static_cast<uint16_t>(high_sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U));
    }
    if (magnitude < 0x38800000U) {  // a denormal or zero: aligned by adding 0.5
      const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<uint16_t>(high_sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000U));
    }
    const uint32_t odd = (magnitude >> 13) & 1U;
    return static_cast<uint16_t>(high_sign | ((magnitude + 0xc8000fffU + odd) >> 13));
  }

  // A multiplication by 2^112 makes denormals normal.
  TSR_HD static float to_float(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
    const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffU) << 13;
    if (magnitude >= 0x0f800000U) return std::bit_cast<float>(sign | (magnitude + 0x70000000U));
    const float scaled = std::bit_cast<float>(magnitude) * std::bit_cast<float>(0x77800000U);
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
  }
};

// The upper half of an IEEE 754 binary32.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  TSR_HD explicit BFloat16(float value) : bits(from_float(value)) {}
  TSR_HD explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  TSR_HD static uint16_t from_float(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>((word >> 16) | 0x0040U);
    return static_cast<uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace tsr
