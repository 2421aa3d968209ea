// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/norm.h"

#include <cmath>

#include "ops/nn/image.h"
#include "tests/ops/prelude.h"

namespace tsr::test_norm {
namespace {

const Tensor kNone;

TEST(BatchNorm, normalises_each_channel_and_moves_the_running_statistics) {
  const Tensor x = f64(Dims{2, 2, 2}, {1, 3, 10, 10, 5, 7, 10, 14});
  const Tensor mean = f64(Dims{2}, {0, 0});
  const Tensor var = f64(Dims{2}, {1, 1});
  const Tensor y = ops::batch_norm(x, mean, var, kNone, kNone, true, 0.5, 0);
  const double r = std::sqrt(5.0);  // channel 0: mean 4, biased variance 5
  const std::vector<double> got = values(y);
  EXPECT_NEAR(got[0], -3 / r, 1e-12);
  EXPECT_NEAR(got[5], 3 / r, 1e-12);
  EXPECT_EQ(values(mean), (std::vector<double>{2, 5.5}));
  EXPECT_NEAR(values(var)[0], 0.5 + 0.5 * 20 / 3, 1e-12);
}

TEST(BatchNorm, refuses_running_statistics_that_require_grad) {
  const Tensor x = f64(Dims{2, 2}, {1, 3, 10, 10});
  const Tensor mean = f64(Dims{2}, {0, 0});
  const Tensor var = f64(Dims{2}, {1, 1});
  set_requires_grad(var, true);
  const auto forward = [&] { ops::batch_norm(x, mean, var, kNone, kNone, true, 0.5, 0); };
  EXPECT_EQ(error_of(forward).code(), Code::kAutograd);
  EXPECT_EQ(values(mean), (std::vector<double>{0, 0}));
  EXPECT_EQ(values(var), (std::vector<double>{1, 1}));
}

TEST(BatchNorm, layouts_and_thread_splits_agree) {
  const Tensor row =
      ops::cast_memory(random_leaf(Dims{4, 37, 13, 11}, 1).detached(), DType::kFloat32);
  const Tensor w = ops::cast_memory(random_leaf(Dims{37}, 2).detached(), DType::kFloat32);
  const Tensor b = ops::cast_memory(random_leaf(Dims{37}, 3).detached(), DType::kFloat32);
  const Tensor last = ops::image_memory(row, true);
  const Tensor wide = ops::cast_memory(row, DType::kFloat64);
  const std::vector<double> wanted =
      values(ops::batch_norm(wide, kNone, kNone, ops::cast_memory(w, DType::kFloat64),
                             ops::cast_memory(b, DType::kFloat64), true));
  const Tensor y = ops::batch_norm(row, kNone, kNone, w, b, true);
  const Tensor z = ops::batch_norm(last, kNone, kNone, w, b, true);
  EXPECT_TRUE(ops::is_channels_last(z));
  const std::vector<double> ys = values(y);
  const std::vector<double> zs = values(z);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(ys[i], wanted[i], 1e-5);
    ASSERT_NEAR(zs[i], wanted[i], 1e-5);
  }
}

// A large mean must not hide a small variance.
TEST(BatchNorm, survives_a_mean_far_from_zero) {
  const Tensor x = test::f32(Dims{4, 1}, {10000, 10001, 10002, 10003});
  const std::vector<double> y = values(ops::batch_norm(x, kNone, kNone, kNone, kNone, true));
  EXPECT_NEAR(y[0], -1.5 / std::sqrt(1.25), 1e-4);
}

Tensor in_layout(const Tensor& x, bool last) {
  if (!last) return x;
  const Dims there{0, 2, 3, 1};
  const Dims back{0, 3, 1, 2};
  return ops::permute_dims(ops::contiguous(ops::permute_dims(x, there)), back);
}

TEST(BatchNorm, gradients_agree_with_differences) {
  const Tensor mean = f64(Dims{3}, {0.1, -0.2, 0.3});
  const Tensor var = f64(Dims{3}, {1, 0.5, 2});
  for (const bool training : {true, false}) {
    for (const bool last : {false, true}) {
      SCOPED_TRACE(::testing::Message() << training << last);
      const std::vector<Tensor> inputs{random_leaf(Dims{2, 3, 2, 2}, 1), random_leaf(Dims{3}, 2),
                                       random_leaf(Dims{3}, 3)};
      const auto fn = [&](Inputs t) {
        return ops::batch_norm(in_layout(t[0], last), training ? kNone : mean,
                               training ? kNone : var, t[1], t[2], training);
      };
      EXPECT_TRUE(gradcheck(fn, inputs));
      EXPECT_TRUE(gradgradcheck(fn, inputs));
    }
  }
  const std::vector<Tensor> plain{random_leaf(Dims{4, 3}, 1)};
  const auto alone = [](Inputs t) {
    return ops::batch_norm(t[0], kNone, kNone, kNone, kNone, true);
  };
  EXPECT_TRUE(gradcheck(alone, plain));
}

TEST(BatchNorm, only_the_bias_may_ask_for_a_gradient) {
  const Tensor x = random_leaf(Dims{4, 2}, 1).detached();
  const Tensor b = random_leaf(Dims{2}, 2);
  const Tensor y = ops::batch_norm(x, kNone, kNone, kNone, b, true);
  const auto grads = grad(std::vector<Tensor>{ops::sum(y)}, std::vector<Tensor>{b});
  EXPECT_EQ(values(grads[0]), (std::vector<double>{4, 4}));
}

TEST(BatchNorm, refuses_what_does_not_fit) {
  const Tensor x = empty(Dims{1, 3}, DType::kFloat32);
  EXPECT_EQ(error_of([&] { ops::batch_norm(x, kNone, kNone, kNone, kNone, true); }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] { ops::batch_norm(x, kNone, kNone, kNone, kNone, false); }).code(),
            Code::kInvalidArgument);
  const Tensor two = empty(Dims{2}, DType::kFloat32);
  EXPECT_EQ(error_of([&] { ops::batch_norm(x, two, two, kNone, kNone, false); }).code(),
            Code::kShape);
  const Tensor half = empty(Dims{2, 3}, DType::kFloat16);
  const Tensor three = empty(Dims{3}, DType::kFloat64);
  EXPECT_EQ(error_of([&] { ops::batch_norm(half, three, three, kNone, kNone, false); }).code(),
            Code::kDType);
}

TEST(LayerNorm, normalises_the_last_axes) {
  const Dims two{2};
  const Tensor x = f64(Dims{2, 2}, {1, 3, 2, 8});
  const Tensor y = ops::layer_norm(x, two, f64(two, {2, 2}), f64(two, {0, 10}), 0);
  EXPECT_EQ(values(y), (std::vector<double>{-2, 12, -2, 12}));
}

TEST(LayerNorm, agrees_between_dtypes_on_long_rows) {
  const Dims shape{1000};
  const Tensor wide = random_leaf(Dims{300, 1000}, 1).detached();
  const Tensor w = random_leaf(shape, 2).detached();
  const std::vector<double> wanted = values(ops::layer_norm(wide, shape, w, kNone));
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const Tensor x = ops::cast_memory(wide, dtype);
    const Tensor y = ops::layer_norm(x, shape, ops::cast_memory(w, dtype), kNone);
    EXPECT_EQ(y.dtype(), dtype);
    const std::vector<double> got = values(y);
    const double tolerance = dtype == DType::kFloat32 ? 1e-5 : 5e-2;
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], tolerance);
  }
}

TEST(LayerNorm, gradients_agree_with_differences) {
  const Dims shape{2, 3};
  const std::vector<Tensor> inputs{random_leaf(Dims{3, 2, 3}, 1), random_leaf(shape, 2),
                                   random_leaf(shape, 3)};
  const auto fn = [&](Inputs t) { return ops::layer_norm(t[0], shape, t[1], t[2]); };
  EXPECT_TRUE(gradcheck(fn, inputs));
  EXPECT_TRUE(gradgradcheck(fn, inputs));
  const std::vector<Tensor> plain{random_leaf(Dims{3, 4}, 1)};
  const Dims four{4};
  const auto alone = [&](Inputs t) { return ops::layer_norm(t[0], four, kNone, kNone); };
  EXPECT_TRUE(gradcheck(alone, plain));
  EXPECT_TRUE(gradgradcheck(alone, plain));
}

TEST(LayerNorm, takes_empty_input_and_refuses_what_does_not_fit) {
  const Dims three{3};
  EXPECT_EQ(ops::layer_norm(empty(Dims{0, 3}, DType::kFloat32), three, kNone, kNone).sizes(),
            (Dims{0, 3}));
  const Tensor x = empty(Dims{2, 4}, DType::kFloat32);
  EXPECT_EQ(error_of([&] { ops::layer_norm(x, three, kNone, kNone); }).code(), Code::kShape);
  const Dims four{4};
  const Tensor w = empty(three, DType::kFloat32);
  EXPECT_EQ(error_of([&] { ops::layer_norm(x, four, w, kNone); }).code(), Code::kShape);
}

// A model of 16-bit floats keeps the parameters of its normalisations in float32.
TEST(Norm, takes_float32_parameters_for_16_bit_input) {
  const Tensor numbers = test::f64(Dims{4, 3}, {0.5, 1, -2, 3, 4, 1, -1, 0.25, 2, 1.5, -0.5, 7});
  for (const DType half : {DType::kFloat16, DType::kBFloat16}) {
    for (const bool wide : {true, false}) {
      const DType parameter = wide ? DType::kFloat32 : half;
      const Tensor x = ops::astype(numbers, half, true);
      const Tensor w = ops::astype(test::f64(Dims{3}, {1, 2, 0.5}), parameter, true);
      const Tensor b = ops::astype(test::f64(Dims{3}, {0.25, -1, 3}), parameter, true);
      const Tensor mean = test::f32(Dims{3}, {0, 0, 0});
      const Tensor var = test::f32(Dims{3}, {1, 1, 1});
      for (const Tensor* leaf : {&x, &w, &b}) set_requires_grad(*leaf, true);
      const auto reference = [&](const Tensor& t) {
        return ops::astype(t.detached(), DType::kFloat64);
      };
      const Tensor rx = reference(x);
      const Tensor rw = reference(w);
      const Tensor rb = reference(b);
      for (const Tensor* leaf : {&rx, &rw, &rb}) set_requires_grad(*leaf, true);
      const bool batch = half == DType::kFloat16;
      const Tensor none;
      const Tensor y = batch ? ops::batch_norm(x, mean, var, w, b, true, 0.1, 1e-5)
                             : ops::layer_norm(x, Dims{3}, w, b, 1e-5);
      const Tensor ry = batch ? ops::batch_norm(rx, none, none, rw, rb, true, 0.1, 1e-5)
                              : ops::layer_norm(rx, Dims{3}, rw, rb, 1e-5);
      EXPECT_EQ(y.dtype(), half);
      EXPECT_EQ(mean.dtype(), DType::kFloat32);
      backward(std::array{ops::sum(ops::multiply(y, y))});
      backward(std::array{ops::sum(ops::multiply(ry, ry))});
      EXPECT_EQ(grad_of(w).dtype(), parameter);
      EXPECT_EQ(grad_of(x).dtype(), half);
      const double tolerance = half == DType::kFloat16 ? 4e-3 : 3e-2;
      const auto close = [&](const Tensor& found, const Tensor& wanted) {
        const std::vector<double> one = test::values(found);
        const std::vector<double> two = test::values(wanted);
        ASSERT_EQ(one.size(), two.size());
        for (size_t i = 0; i < one.size(); ++i)
          EXPECT_NEAR(one[i], two[i], tolerance * (1 + std::abs(two[i]))) << i;
      };
      close(y.detached(), ry.detached());
      close(grad_of(w), grad_of(rw));
      close(grad_of(b), grad_of(rb));
    }
  }
  const Tensor x = ops::astype(numbers, DType::kFloat16);
  const Tensor wrong = test::f64(Dims{3}, {1, 2, 3});
  const Error error = test::error_of([&] { ops::layer_norm(x, Dims{3}, wrong, Tensor(), 1e-5); });
  EXPECT_EQ(error.code(), Code::kDType);
  EXPECT_NE(error.message().find("float16 or float32"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace tsr::test_norm
