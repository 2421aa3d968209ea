// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Powers of exponents that need no logarithm, and clipping by tensors.
#include <cmath>
#include <limits>

#include "ops/pointwise/ternary.h"
#include "tests/ops/prelude.h"

namespace tsr::test_powers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSimple[] = {2, 3, 1, 0.5, -0.5, -1};

template <class T>
std::vector<T> bases() {
  std::vector<T> found = {T(0), -T(0), T(kInfinity), -T(kInfinity), T(kNaN), T(-1.5)};
  for (int i = 0; i < 100; ++i) found.push_back(std::exp(T(i - 50) / T(3)) * (i % 5 == 4 ? -1 : 1));
  return found;
}

// Equal, both NaN, and zeros with one sign.
template <class T>
bool same(T a, T b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

template <class T>
class Powers : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Powers, Floats);

TYPED_TEST(Powers, of_simple_exponents_are_those_of_the_mathematics_library) {
  const std::vector<TypeParam> x = bases<TypeParam>();
  const Tensor base = tensor(Dims{static_cast<int64_t>(x.size())}, x);
  for (const double exponent : kSimple) {
    const auto found = values<TypeParam>(ops::pow(base, exponent));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto wanted = static_cast<TypeParam>(
          std::pow(static_cast<long double>(x[i]), static_cast<long double>(exponent)));
      if (!std::isfinite(wanted) || wanted == 0) {
        EXPECT_TRUE(same(found[i], wanted)) << x[i] << " to " << exponent << ": " << found[i];
      } else {
        EXPECT_NEAR(found[i] / wanted, 1, 2 * std::numeric_limits<TypeParam>::epsilon())
            << x[i] << " to " << exponent;
      }
    }
  }
}

TYPED_TEST(Powers, have_one_value_whatever_the_exponents_beside_them) {
  const std::vector<TypeParam> x = bases<TypeParam>();
  const auto count = static_cast<int64_t>(x.size());
  const Tensor base = tensor(Dims{count}, x);
  for (const double exponent : kSimple) {
    const auto alone = values<TypeParam>(ops::pow(base, exponent));
    std::vector<TypeParam> mixed(x.size(), static_cast<TypeParam>(exponent));
    for (size_t i = 0; i < mixed.size(); i += 3) mixed[i] = TypeParam(2.25);
    const auto found = values<TypeParam>(ops::pow(base, tensor(Dims{count}, mixed)));
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % 3 == 0) continue;
      EXPECT_TRUE(same(found[i], alone[i])) << x[i] << " to " << exponent << ": " << found[i];
    }
  }
}

TEST(Clip, by_tensors_gives_nan_where_a_limit_is_nan_with_and_without_a_gradient) {
  const Tensor low = f64(Dims{4}, {0, kNaN, 0, 0});
  const Tensor high = f64(Dims{4}, {1, 1, kNaN, 1});
  for (const bool grad : {false, true}) {
    Tensor input = f64(Dims{4}, {-2, 0.5, 0.5, kNaN});
    if (grad) set_requires_grad(input, true);
    const Numbers found = values(ops::clip(input, low, high));
    EXPECT_EQ(found[0], 0) << grad;
    for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(found[i])) << i << " " << grad;
  }
}

}  // namespace
}  // namespace tsr::test_powers
