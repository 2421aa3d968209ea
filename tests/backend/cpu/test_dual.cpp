// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pointwise ops with their tangents in one pass: the same elements as the kernels of the value and
// of the tangent alone. The library's path is tested in Python (test_forward_pointwise.py).
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "arrays.h"
#include "base/error.h"

namespace tsr::test::test_dual {
namespace {

using kernel::BinaryOp;
using kernel::DualPlan;
using kernel::UnaryOp;

constexpr auto kMissing = static_cast<kernel::Status>(Code::kNotImplemented);

// The arrays a, b, their tangents, and the outputs.
struct Arrays {
  Arrays(DType dtype, int64_t count)
      : a(dtype, {count}),
        b(dtype, {count}),
        t(dtype, {count}),
        u(dtype, {count}),
        value(dtype, {count}),
        tangent(dtype, {count}),
        wanted(dtype, {count}) {
    uint32_t seed = 0;
    for (Array* each : {&a, &b, &t, &u}) each->randomize(0.5, 1, ++seed);
  }
  [[nodiscard]] DualPlan plan(int operands) const {
    DualPlan plan{};
    plan.numel = a.numel();
    plan.dtype = a.dtype();
    plan.operands[0] = a.data();
    plan.tangents[0] = t.data();
    if (operands == 2) {
      plan.operands[1] = b.data();
      plan.tangents[1] = u.data();
    }
    plan.value = value.data();
    plan.tangent = tangent.data();
    return plan;
  }
  Array a, b, t, u, value, tangent, wanted;
};

void expect_same(const Array& found, const Array& wanted) {
  const auto nbytes = static_cast<size_t>(found.numel() * itemsize(found.dtype()));
  EXPECT_EQ(std::memcmp(found.data(), wanted.data(), nbytes), 0) << name(found.dtype());
}

TEST(Dual, a_function_is_that_of_its_own_kernel) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const int64_t count : {1, 5, 1024, 5000, 70000}) {
      const Arrays on(dtype, count);
      for (const bool reads_value : {false, true}) {
        DualPlan plan = on.plan(1);
        plan.derivative = reads_value ? BinaryOp::kTanhGrad : BinaryOp::kSinGrad;
        plan.reads_value = reads_value ? 1 : 0;
        const UnaryOp op = reads_value ? UnaryOp::kTanh : UnaryOp::kSin;
        ASSERT_EQ(kernels().dual_unary(op, plan), kernel::kOk) << last_error();
        ASSERT_EQ(kernels().unary(op, elementwise({&on.wanted, &on.a})), kernel::kOk);
        expect_same(on.value, on.wanted);
        const Array& saved = reads_value ? on.value : on.a;
        ASSERT_EQ(kernels().binary(plan.derivative, elementwise({&on.wanted, &on.t, &saved})),
                  kernel::kOk);
        expect_same(on.tangent, on.wanted);
      }
    }
  }
}

TEST(Dual, a_product_is_that_of_its_own_kernels) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kComplex64}) {
    for (const int64_t count : {1, 5, 1024, 5000, 70000}) {
      const Arrays on(dtype, count);
      DualPlan plan = on.plan(2);
      ASSERT_EQ(kernels().dual_binary(BinaryOp::kMultiply, plan), kernel::kOk) << last_error();
      ASSERT_EQ(kernels().binary(BinaryOp::kMultiply, elementwise({&on.wanted, &on.a, &on.b})),
                kernel::kOk);
      expect_same(on.value, on.wanted);
      ASSERT_EQ(kernels().sum_of_products(elementwise({&on.wanted, &on.t, &on.b, &on.a, &on.u})),
                kernel::kOk);
      expect_same(on.tangent, on.wanted);
      plan.tangents[0] = nullptr;
      ASSERT_EQ(kernels().dual_binary(BinaryOp::kMultiply, plan), kernel::kOk) << last_error();
      ASSERT_EQ(kernels().binary(BinaryOp::kMultiply, elementwise({&on.wanted, &on.u, &on.a})),
                kernel::kOk);
      expect_same(on.tangent, on.wanted);
    }
  }
}

TEST(Dual, what_has_no_rows_is_not_implemented) {
  const Arrays shorts(DType::kFloat16, 4);
  DualPlan plan = shorts.plan(1);
  plan.derivative = BinaryOp::kSinGrad;
  EXPECT_EQ(kernels().dual_unary(UnaryOp::kSin, plan), kMissing);
  const Arrays floats(DType::kFloat32, 4);
  EXPECT_EQ(kernels().dual_binary(BinaryOp::kMaximum, floats.plan(2)), kMissing);
  DualPlan lone = floats.plan(2);
  lone.tangents[1] = nullptr;
  EXPECT_EQ(kernels().dual_binary(BinaryOp::kAdd, lone), kMissing);
  const Arrays pairs(DType::kComplex64, 4);
  EXPECT_EQ(kernels().dual_binary(BinaryOp::kMultiply, pairs.plan(1)), kMissing);
}

}  // namespace
}  // namespace tsr::test::test_dual
