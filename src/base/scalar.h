// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Scalar: a number of the host language, with its kind; the only operand that is weak in promotion.
// An integer from 2^63 on keeps its 64 bits, and its value also as a double, which is 0 for others.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "base/dtype.h"

namespace tsr {

class Scalar {
 public:
  constexpr Scalar(bool value) : category_(Category::kBool), integer_(value ? 1 : 0) {}
  constexpr Scalar(int64_t value) : category_(Category::kIntegral), integer_(value) {}
  constexpr Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}
  constexpr Scalar(double value) : category_(Category::kFloating), real_(value) {}
  constexpr Scalar(std::complex<double> value)
      : category_(Category::kComplex), real_(value.real()), imag_(value.imag()) {}

  static constexpr Scalar from_unsigned(uint64_t value) {
    Scalar made(static_cast<int64_t>(value));
    if (made.integer_ < 0) made.real_ = static_cast<double>(value);
    return made;
  }

  [[nodiscard]] constexpr Category category() const { return category_; }
  // An integer that only uint64 can hold.
  [[nodiscard]] constexpr bool is_large() const {
    return category_ == Category::kIntegral && real_ != 0;
  }

  // The value as a C++ type; complex to real keeps the real part (the op layer refuses it before).
  template <class T>
  [[nodiscard]] T to() const {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      using Real = typename T::value_type;
      return T(static_cast<Real>(real()), static_cast<Real>(imag_));
    } else if constexpr (std::is_same_v<T, bool>) {
      return category_ <= Category::kIntegral ? integer_ != 0 : (real_ != 0 || imag_ != 0);
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(to<float>());
    } else if constexpr (std::is_floating_point_v<T>) {
      if (category_ > Category::kIntegral) return static_cast<T>(real_);
      // Not by way of a double: an integer is rounded once.
      return is_large() ? static_cast<T>(static_cast<uint64_t>(integer_))
                        : static_cast<T>(integer_);
    } else {
      if (category_ <= Category::kIntegral) return static_cast<T>(integer_);
      if constexpr (std::is_same_v<T, uint64_t>) {
        if (real_ >= 0x1p63) return static_cast<T>(real_);
      }
      return static_cast<T>(static_cast<int64_t>(real_));
    }
  }

  // Writes the value as one element of `dtype` (at most 16 bytes) to `dst`.
  void store(DType dtype, void* dst) const;

 private:
  [[nodiscard]] constexpr double real() const {
    return category_ <= Category::kIntegral && real_ == 0 ? static_cast<double>(integer_) : real_;
  }

  Category category_;
  int64_t integer_ = 0;
  double real_ = 0;
  double imag_ = 0;
};

void append_text(std::string& out, const Scalar& value);

}  // namespace tsr
