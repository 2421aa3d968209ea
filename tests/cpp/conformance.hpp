// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the generated conformance tests need: the stored tensors, and comparing with them.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include "support/places.h"

namespace tessera::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The tensors of tests/conformance, read once.
inline const Tensor& stored(const char* key) {
  static const TensorMap tensors =
      load_file(tsr::testing::source_path("tests/conformance/vectors.safetensors"));
  return tensors.at(key);
}

// A tensor to call with, which nobody else sees.
inline Tensor copy(const char* key) {
  return stored(key).clone();
}

inline Tensor leaf(const char* key) {
  return copy(key).requires_grad_();
}

// A complex128 tensor from its pairs of float64.
inline Tensor complex_copy(const char* key) {
  const std::vector<double> pairs = stored(key).to_vector<double>();
  std::vector<std::complex<double>> numbers(pairs.size() / 2);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = {pairs[2 * i], pairs[2 * i + 1]};
  std::vector<int64_t> shape = stored(key).shape();
  shape.pop_back();
  return from_vector(std::move(numbers), shape);
}

struct Tolerance {
  double relative, absolute;
};

inline Tolerance tolerance_of(DType dtype) {
  if (dtype == kFloat16) return {1e-3, 1e-5};
  if (dtype == kBFloat16) return {1.6e-2, 1e-5};
  if (dtype == kFloat32 || dtype == kComplex64) return {1.3e-6, 1e-5};
  return {1e-7, 1e-7};
}

inline bool is_near(double found, double wanted, Tolerance tolerance) {
  if (found == wanted || (std::isnan(found) && std::isnan(wanted))) return true;
  return std::abs(found - wanted) <= tolerance.absolute + tolerance.relative * std::abs(wanted);
}

inline void expect_near_elements(const Tensor& found, const Tensor& wanted, Tolerance tolerance) {
  const auto a = found.to_vector<std::complex<double>>();
  const auto b = wanted.to_vector<std::complex<double>>();
  for (size_t i = 0; i < b.size(); ++i) {
    EXPECT_TRUE(is_near(a[i].real(), b[i].real(), tolerance) &&
                is_near(a[i].imag(), b[i].imag(), tolerance))
        << "element " << i << " is " << a[i] << ", expected " << b[i];
  }
}

// Dtype, shape and values: integers and bools to the bit, other numbers within the tolerance.
inline void expect_same(const Tensor& tensor, const char* key,
                        std::optional<Tolerance> given = std::nullopt) {
  SCOPED_TRACE(key);
  ASSERT_TRUE(tensor.defined());
  const Tensor found = tensor.detach();
  const bool pairs = found.dtype() == kComplex128;
  const Tensor wanted = pairs ? complex_copy(key) : stored(key);
  ASSERT_EQ(name(found.dtype()), name(wanted.dtype()));
  ASSERT_EQ(found.shape(), wanted.shape());
  if (is_floating_point(wanted.dtype()) || is_complex(wanted.dtype())) {
    expect_near_elements(found, wanted, given.value_or(tolerance_of(wanted.dtype())));
  } else {
    EXPECT_EQ(found.to_vector<int64_t>(), wanted.to_vector<int64_t>());
  }
}

// A test of the suite Conformance.
struct Case {
  const char* name;
  void (*call)();
};

class ConformanceTest : public testing::Test {
 public:
  explicit ConformanceTest(void (*call)()) : call_(call) {}
  void TestBody() override { call_(); }

 private:
  void (*call_)();
};

// Before main, as TEST does it.
template <size_t N>
bool register_cases(const Case (&cases)[N]) {
  for (const Case& one : cases) {
    testing::RegisterTest(
        "Conformance", one.name, nullptr, nullptr, __FILE__, __LINE__,
        [call = one.call]() -> testing::Test* { return new ConformanceTest(call); });
  }
  return true;
}

}  // namespace tessera::test
