// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/loss.h"
#include "ops/nn/pair_loss.h"

#include <array>
#include <cmath>

#include "ops/nn/softmax.h"
#include "tests/ops/prelude.h"
#include "tests/support/effort.h"

namespace tsr::test_loss {
namespace {

const Tensor kNone;
const char* const kReductions[] = {"none", "sum", "mean"};

void expect_close(const std::vector<double>& got, const std::vector<double>& wanted,
                  double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], tolerance) << i;
}

// ---- softmax ----

TEST(Softmax, follows_the_definition_along_every_axis_and_layout) {
  // The others have axes with few neighbouring positions, which fill no register.
  for (const Dims& sizes : {Dims{5, 19, 37}, Dims{3, 70, 3}, Dims{2, 131, 5}, Dims{66, 2, 1}}) {
    SCOPED_TRACE(sizes[1]);
    const Tensor x = ops::multiply(random_leaf(sizes, 1).detached(), 20);
    const Dims swapped{2, 0, 1};
    const Dims back{1, 2, 0};
    const Tensor other = ops::permute_dims(ops::contiguous(ops::permute_dims(x, swapped)), back);
    for (int64_t axis = 0; axis < 3; ++axis) {
      const Dims axes{axis};
      const Tensor lse = ops::logsumexp(x, DimsView(axes), true);
      const std::vector<double> wanted = values(ops::subtract(x, lse));
      expect_close(values(ops::log_softmax(x, axis)), wanted, 1e-10);
      expect_close(values(ops::log_softmax(other, axis)), wanted, 1e-10);
      const Tensor single = ops::cast_memory(other, DType::kFloat32);
      expect_close(values(ops::log_softmax(single, axis - 3)), wanted, 2e-5);
      std::vector<double> shares = wanted;
      for (double& v : shares) v = std::exp(v);
      expect_close(values(ops::softmax(single, axis)), shares, 1e-6);
      expect_close(values(ops::softmax(other, axis)), shares, 1e-10);
      const Tensor bfloat = ops::cast_memory(single, DType::kBFloat16);
      const Tensor widened = ops::cast_memory(bfloat, DType::kFloat32);
      EXPECT_EQ(
          values(ops::cast_memory(ops::softmax(bfloat, axis), DType::kFloat32)),
          values(ops::cast_memory(ops::cast_memory(ops::softmax(widened, axis), DType::kBFloat16),
                                  DType::kFloat32)));
    }
  }
}

// A hidden position has a share of 0 and leaves the others alone; NaN stays in its line.
TEST(Softmax, keeps_infinities_and_nans_to_their_lines) {
  const Tensor x = ops::multiply(random_leaf(Dims{67, 3}, 1).detached(), 3);
  x.data_as<double>()[3 * 5 + 0] = -INFINITY;
  x.data_as<double>()[3 * 9 + 1] = NAN;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const std::vector<double> y =
        values(ops::cast_memory(ops::softmax(ops::cast_memory(x, dtype), 0), DType::kFloat64));
    double sums[3] = {};
    for (size_t i = 0; i < y.size(); ++i) sums[i % 3] += y[i];
    EXPECT_EQ(y[3 * 5 + 0], 0);
    EXPECT_NEAR(sums[0], 1, 1e-5);
    EXPECT_TRUE(std::isnan(sums[1]));
    EXPECT_NEAR(sums[2], 1, 1e-5);
  }
}

TEST(Softmax, knows_the_edges) {
  const Tensor x = test::f32(Dims{3, 2}, {-INFINITY, 0, -INFINITY, -INFINITY, NAN, 1});
  const std::vector<double> y = values(ops::softmax(x, 1));
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 1);
  for (size_t i = 2; i < 6; ++i) EXPECT_TRUE(std::isnan(y[i]));
  EXPECT_EQ(values(ops::softmax(f64({}, {7}), 0)), std::vector<double>{1});
  EXPECT_EQ(ops::softmax(empty(Dims{0, 3}, DType::kFloat32), 1).sizes(), (Dims{0, 3}));
  EXPECT_EQ(ops::softmax(i64(Dims{2}, {1, 1}), 0).dtype(), DType::kFloat32);
  EXPECT_EQ(ops::softmax(x, 1, DType::kBFloat16).dtype(), DType::kBFloat16);
  EXPECT_EQ(error_of([&] { ops::softmax(x, 2); }).code(), Code::kIndex);
  EXPECT_EQ(error_of([&] { ops::softmax(x, 0, DType::kInt64); }).code(), Code::kDType);
}

TEST(Softmax, gradients_agree_with_differences) {
  const std::vector<Tensor> inputs{random_leaf(Dims{2, 3, 4}, 1)};
  for (const int64_t axis : {0, 1, 2}) {
    for (const bool log : {false, true}) {
      const auto fn = [&](Inputs t) {
        const Tensor x = ops::matrix_transpose(t[0]);
        return log ? ops::log_softmax(x, axis) : ops::softmax(x, axis);
      };
      EXPECT_TRUE(gradcheck(fn, inputs));
      EXPECT_TRUE(gradgradcheck(fn, inputs));
    }
  }
  const std::vector<Tensor> narrow{random_leaf(Dims{36, 3}, 1)};
  for (const bool log : {false, true}) {
    const auto fn = [&](Inputs t) {
      return log ? ops::log_softmax(t[0], 0) : ops::softmax(t[0], 0);
    };
    EXPECT_TRUE(gradcheck(fn, narrow));
  }
}

// ---- classification ----

struct ClassCase {
  const char* name;
  Dims sizes;
  bool weighted;
  double smoothing;
};
const ClassCase kClassCases[] = {
    {"rows", {5, 4}, false, 0},
    {"weighted rows", {5, 4}, true, 0},
    {"images", {2, 3, 2, 3}, false, 0},
    {"weighted images", {2, 3, 2, 3}, true, 0.1},
    {"one sample", {4}, false, 0},
    {"many rows", {150, 3}, true, 0},
    {"long rows", {3, 900}, false, 0.1},
    {"smoothed", {5, 4}, false, 0.3},
    {"smoothed, weighted", {5, 4}, true, 0.3},
};

Tensor targets_for(const ClassCase& c) {
  Dims sizes = c.sizes;
  const int64_t classes = sizes[sizes.size() == 1 ? 0 : 1];
  sizes.erase(sizes.size() == 1 ? 0 : 1);
  const Tensor target = empty(sizes, DType::kInt64);
  for (int64_t i = 0; i < target.numel(); ++i) {
    target.data_as<int64_t>()[i] = i % 4 == 3 ? -100 : (i * 7 + 1) % classes;
  }
  return target;
}
Tensor weight_for(const ClassCase& c) {
  const int64_t classes = c.sizes[c.sizes.size() == 1 ? 0 : 1];
  return c.weighted ? ops::add(random_leaf(Dims{classes}, 5).detached(), 1.5) : Tensor();
}

// The definition with log_softmax, element by element.
std::vector<double> reference(const ClassCase& c, const Tensor& x, const std::string& reduction) {
  const bool single = c.sizes.size() == 1;
  const std::vector<double> logp = values(ops::log_softmax(x, single ? 0 : 1));
  const std::vector<int64_t> target = values<int64_t>(targets_for(c));
  const Tensor w = weight_for(c);
  const auto classes = static_cast<size_t>(c.sizes[single ? 0 : 1]);
  const std::vector<double> weight = w.defined() ? values(w) : std::vector<double>(classes, 1.0);
  const size_t positions = target.size();
  const size_t inner = single ? 1 : positions / static_cast<size_t>(c.sizes[0]);
  std::vector<double> loss(positions, 0);
  double total = 0;
  double weights = 0;
  for (size_t p = 0; p < positions; ++p) {
    if (target[p] == -100) continue;
    const size_t base = p / inner * classes * inner + p % inner;
    const auto t = static_cast<size_t>(target[p]);
    double smooth = 0;
    for (size_t k = 0; k < classes; ++k) smooth -= weight[k] * logp[base + k * inner];
    loss[p] = (1 - c.smoothing) * -weight[t] * logp[base + t * inner] +
              c.smoothing / static_cast<double>(classes) * smooth;
    total += loss[p];
    weights += weight[t];
  }
  if (reduction == "none") return loss;
  return {reduction == "sum" ? total : total / weights};
}

TEST(CrossEntropy, follows_the_definition) {
  for (const ClassCase& c : kClassCases) {
    for (const char* reduction : kReductions) {
      SCOPED_TRACE(std::string(c.name) + " " + reduction);
      const Tensor x = random_leaf(c.sizes, 1, -3, 3).detached();
      const std::vector<double> wanted = reference(c, x, reduction);
      const auto run = [&](DType dtype) {
        const Tensor w = weight_for(c);
        return ops::cross_entropy(ops::cast_memory(x, dtype), targets_for(c),
                                  w.defined() ? ops::cast_memory(w, dtype) : w, -100, reduction,
                                  c.smoothing);
      };
      expect_close(values(run(DType::kFloat64)), wanted, 1e-12);
      expect_close(values(run(DType::kFloat32)), wanted, 1e-5);
      EXPECT_EQ(run(DType::kBFloat16).dtype(), DType::kBFloat16);
      if (c.smoothing != 0) continue;
      const Tensor logp = ops::log_softmax(x, c.sizes.size() == 1 ? 0 : 1);
      expect_close(values(ops::nll_loss(logp, targets_for(c), weight_for(c), -100, reduction)),
                   wanted, 1e-12);
    }
  }
}

TEST(CrossEntropy, gradients_agree_with_differences) {
  for (const ClassCase& c : kClassCases) {
    for (const char* reduction : kReductions) {
      if (kSanitized && reduction != kReductions[0]) continue;
      SCOPED_TRACE(std::string(c.name) + " " + reduction);
      const std::vector<Tensor> inputs{random_leaf(c.sizes, 1)};
      const auto fn = [&](Inputs t) {
        return ops::cross_entropy(t[0], targets_for(c), weight_for(c), -100, reduction,
                                  c.smoothing);
      };
      EXPECT_TRUE(gradcheck(fn, inputs));
      EXPECT_TRUE(gradgradcheck(fn, inputs));
      const auto nll = [&](Inputs t) {
        return ops::nll_loss(t[0], targets_for(c), weight_for(c), -100, reduction);
      };
      EXPECT_TRUE(gradcheck(nll, inputs));
      EXPECT_TRUE(gradgradcheck(nll, inputs));
    }
  }
}

TEST(CrossEntropy, takes_probabilities) {
  const Tensor goal = ops::softmax(random_leaf(Dims{3, 4}, 2).detached(), 1);
  const std::vector<Tensor> inputs{random_leaf(Dims{3, 4}, 1)};
  const auto fn = [&](Inputs t) {
    return ops::cross_entropy(t[0], goal, kNone, -100, "mean", 0.2);
  };
  EXPECT_TRUE(gradcheck(fn, inputs));
  // The same distribution as class numbers.
  const Tensor classes = i64(Dims{2}, {1, 0});
  const Tensor sure = f64(Dims{2, 2}, {0, 1, 1, 0});
  const Tensor x = random_leaf(Dims{2, 2}, 3).detached();
  EXPECT_NEAR(values(ops::cross_entropy(x, sure, kNone))[0],
              values(ops::cross_entropy(x, classes, kNone))[0], 1e-12);
}

TEST(CrossEntropy, rounds_probabilities_of_16_bits_once) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const char* reduction : kReductions) {
      const auto rounded = [dtype](double step, int64_t n, int64_t m) {
        std::vector<double> numbers(static_cast<size_t>(n * m));
        for (size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = std::fabs(std::sin(step * static_cast<double>(i) + 1));
        return ops::astype(f64(Dims{n, m}, numbers), dtype);
      };
      const Tensor x = rounded(3.7, 4, 40), target = rounded(1.3, 4, 40);
      const Tensor weight = ops::reshape(rounded(0.9, 40, 1), Dims{40});
      const auto loss_and_gradient = [&](DType compute) {
        const Tensor leaf = ops::astype(x, compute, true);
        set_requires_grad(leaf, true);
        const Tensor loss = ops::cross_entropy(leaf, ops::astype(target, compute),
                                               ops::astype(weight, compute), -100, reduction, 0.1);
        backward(std::array{ops::sum(loss)});
        return std::pair(ops::astype(loss.detached(), dtype), ops::astype(grad_of(leaf), dtype));
      };
      const auto [loss, gradient] = loss_and_gradient(dtype);
      const auto [wanted, wanted_gradient] = loss_and_gradient(DType::kFloat32);
      EXPECT_EQ(values(loss), values(wanted)) << reduction;
      EXPECT_EQ(values(gradient), values(wanted_gradient)) << reduction;
    }
  }
}

TEST(CrossEntropy, knows_the_edges) {
  const Tensor x = random_leaf(Dims{2, 3}, 1).detached();
  const Tensor ignored = i64(Dims{2}, {-100, -100});
  EXPECT_TRUE(std::isnan(values(ops::cross_entropy(x, ignored, kNone))[0]));
  EXPECT_EQ(values(ops::cross_entropy(x, ignored, kNone, -100, "sum"))[0], 0);
  const Error range = error_of([&] { ops::cross_entropy(x, i64(Dims{2}, {0, 5}), kNone); });
  EXPECT_EQ(range.code(), Code::kIndex);
  EXPECT_NE(range.message().find("got 5"), std::string::npos);
  EXPECT_EQ(error_of([&] {
              ops::cross_entropy(x, i64(Dims{3}, {0, 1, 2}), kNone);
            }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] {
              ops::cross_entropy(x, test::f32(Dims{2}, {0, 1}), kNone);
            }).code(),
            Code::kDType);
  EXPECT_EQ(error_of([&] { ops::cross_entropy(x, ignored, kNone, -100, "max"); }).code(),
            Code::kValue);
  EXPECT_EQ(error_of([&] { ops::cross_entropy(x, ignored, kNone, -100, "mean", 2); }).code(),
            Code::kValue);
}

// ---- regression and binary ----

TEST(Losses, gradients_agree_with_differences) {
  const Tensor weight = ops::add(random_leaf(Dims{3}, 4).detached(), 2);
  const Tensor pos_weight = ops::add(random_leaf(Dims{3}, 5).detached(), 2);
  const std::vector<Tensor> inputs{random_leaf(Dims{2, 3}, 1), random_leaf(Dims{2, 3}, 2, 0, 1)};
  for (const char* reduction : kReductions) {
    const auto mse = [&](Inputs t) { return ops::mse_loss(t[0], t[1], reduction); };
    EXPECT_TRUE(gradcheck(mse, inputs));
    EXPECT_TRUE(gradgradcheck(mse, inputs));
    for (const bool weighted : {false, true}) {
      const auto bce = [&](Inputs t) {
        return ops::binary_cross_entropy_with_logits(t[0], t[1], weighted ? weight : kNone,
                                                     weighted ? pos_weight : kNone, reduction);
      };
      EXPECT_TRUE(gradcheck(bce, inputs));
      EXPECT_TRUE(gradgradcheck(bce, inputs));
    }
  }
}

TEST(Losses, weights_of_positives_have_a_gradient_whatever_they_broadcast_over) {
  const Dims shapes[] = {{2, 3}, {3}, {2, 1}, {}};
  for (const Dims& shape : shapes) {
    const std::vector<Tensor> inputs{random_leaf(Dims{2, 3}, 1), random_leaf(Dims{2, 3}, 2, 0, 1),
                                     random_leaf(shape, 3, 0.5, 2)};
    for (const char* reduction : kReductions) {
      SCOPED_TRACE(concat(shape, " ", reduction));
      const auto bce = [&](Inputs t) {
        return ops::binary_cross_entropy_with_logits(t[0], t[1], kNone, t[2], reduction);
      };
      EXPECT_TRUE(gradcheck(bce, inputs));
      EXPECT_TRUE(gradgradcheck(bce, inputs));
      // The weights alone.
      const auto of_weights = [&](Inputs t) {
        return ops::binary_cross_entropy_with_logits(inputs[0].detached(), inputs[1].detached(),
                                                     kNone, t[0], reduction);
      };
      EXPECT_TRUE(gradcheck(of_weights, {inputs[2]}));
    }
  }
}

TEST(Losses, refuse_weights_of_class_numbers_that_require_grad) {
  const Tensor scores = f64(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor target = i64(Dims{2}, {0, 1});
  const Tensor weight = f64(Dims{3}, {1, 2, 3});
  set_requires_grad(weight, true);
  for (const bool cross : {true, false}) {
    const Error error = error_of([&] {
      if (cross) {
        ops::cross_entropy(scores, target, weight, -100, "mean", 0);
      } else {
        ops::nll_loss(scores, target, weight, -100, "mean");
      }
    });
    EXPECT_EQ(error.code(), Code::kNotImplemented);
    EXPECT_STREQ(error.arg(), "weight");
  }
  const NoGrad pause;
  EXPECT_EQ(ops::nll_loss(scores, target, weight).numel(), 1);
}

TEST(Losses, gaussian_nll_limits_large_negative_variances) {
  const Tensor x = f32(Dims{2}, {1, 1});
  const Tensor var = f32(Dims{2}, {-1e8F, -3e38F});
  set_requires_grad(var, true);
  const Tensor loss = ops::gaussian_nll_loss(x, f32(Dims{2}, {1, 2}), var, false, 0.5, "none");
  expect_close(values(loss.detached()), {0.5 * std::log(0.5), 0.5 * std::log(0.5) + 1}, 1e-6);
  backward(std::array{ops::sum(loss)});
  expect_close(values(grad_of(var)), {1, 1 - 2}, 1e-5);
}

TEST(Losses, multilabel_margin_takes_an_infinite_score_beside_rows_with_fewer_labels) {
  const Tensor x = f64(Dims{2, 3}, {-INFINITY, 0.5, 1, 0, 2, 3});
  set_requires_grad(x, true);
  const Tensor target = i64(Dims{2, 3}, {1, -1, -1, 1, 2, -1});
  const Tensor loss = ops::multilabel_margin_loss(x, target, "none");
  // Only class 2 of row 0 is too close to its label: by 1.5, of 3 classes.
  expect_close(values(loss.detached()), {0.5, 0}, 1e-12);
  backward(std::array{ops::sum(loss)});
  expect_close(values(grad_of(x)), {0, -1.0 / 3, 1.0 / 3, 0, 0, 0}, 1e-12);
}

TEST(Losses, logits_far_out_do_not_overflow) {
  const Tensor x = test::f32(Dims{2}, {1000, -1000});
  const Tensor t = test::f32(Dims{2}, {0, 0});
  EXPECT_EQ(values(ops::binary_cross_entropy_with_logits(x, t, kNone, kNone, "none")),
            (std::vector<double>{1000, 0}));
}

TEST(Loss, softmax_of_nothing_takes_any_strides) {
  const Tensor none =
      make_view(test::f32(Dims{16}, std::vector<float>(16)), Dims{2, 0}, Dims{-8, 1}, 12);
  for (const bool log : {false, true}) {
    const Tensor x = none.detached();
    set_requires_grad(x, true);
    const Tensor y = log ? ops::log_softmax(x, -1) : ops::softmax(x, -1);
    EXPECT_EQ(y.sizes(), (Dims{2, 0}));
    backward(std::array{ops::sum(y)});
    EXPECT_EQ(grad_of(x).sizes(), (Dims{2, 0}));
  }
}

TEST(Losses, of_different_shapes_are_refused) {
  const Error error = test::error_of([] {
    ops::mse_loss(test::f32(Dims{4, 1}, {1, 2, 3, 4}), test::f32(Dims{4}, {1, 2, 3, 4}), "mean");
  });
  EXPECT_EQ(error.code(), Code::kShape);
  EXPECT_STREQ(error.arg(), "target");
}

TEST(Losses, say_that_class_numbers_are_integers) {
  const Tensor scores = test::f32(Dims{2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor target = test::f32(Dims{2}, {0, 1});
  for (const bool cross : {true, false}) {
    const Error error = test::error_of([&] {
      if (cross) {
        ops::cross_entropy(scores, target, Tensor(), -100, "mean", 0);
      } else {
        ops::nll_loss(scores, target, Tensor(), -100, "mean");
      }
    });
    EXPECT_EQ(error.code(), Code::kDType);
    EXPECT_NE(error.message().find("class numbers must be integers"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace tsr::test_loss
