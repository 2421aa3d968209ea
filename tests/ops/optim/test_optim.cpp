// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/optim/optim.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/tensor_grad.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/shape.h"
#include "support/gradcheck.h"
#include "tests/ops/tensors.h"

namespace tsr::test_optim {
namespace {

using test::error_of;
using test::f32;
using test::values;
using testing::random_leaf;
using List = std::vector<Tensor>;

struct Options {
  double weight_decay;
  bool amsgrad, decoupled, maximize;
};

// The update of PyTorch 1.13, for one number.
struct Reference {
  double p, m = 0, v = 0, v_max = 0;

  void adam(double g, int step, const Options& o) {
    const double lr = 0.1, b1 = 0.9, b2 = 0.99, eps = 1e-3;
    if (o.maximize) g = -g;
    if (o.decoupled)
      p *= 1 - lr * o.weight_decay;
    else
      g += o.weight_decay * p;
    m = m * b1 + g * (1 - b1);
    v = v * b2 + g * g * (1 - b2);
    v_max = std::max(v_max, v);
    const double c1 = 1 - std::pow(b1, step);
    const double c2 = 1 - std::pow(b2, step);
    p -= lr / c1 * m / (std::sqrt(o.amsgrad ? v_max : v) / std::sqrt(c2) + eps);
  }
};

List leaves(DType dtype) {
  List list{random_leaf(Dims{3, 5}, 1), random_leaf(Dims{7}, 2), random_leaf(Dims{}, 3),
            random_leaf(Dims{0}, 4), random_leaf(Dims{40, 3}, 5)};
  for (Tensor& t : list) {
    t = ops::cast_memory(t.detached(), dtype).detached();
    set_requires_grad(t, true);
  }
  return list;
}
List zeros_of(const List& like) {
  List list;
  for (const Tensor& t : like) {
    list.push_back(empty_strided(t.sizes(), t.strides(), t.dtype()));
    ops::fill_memory(list.back(), 0);
  }
  return list;
}

TEST(Adam, follows_the_update_rule_over_a_list) {
  const Options kOptions[] = {{0, false, false, false},
                              {0.1, false, false, false},
                              {0.1, true, false, true},
                              {0.1, false, true, false},
                              {0, true, true, false}};
  const std::pair<DType, double> kDTypes[] = {
      {DType::kFloat64, 1e-12}, {DType::kFloat32, 1e-5}, {DType::kBFloat16, 3e-2}};
  for (const Options& o : kOptions) {
    for (const auto& [dtype, tolerance] : kDTypes) {
      const List params = leaves(dtype);
      const List first = zeros_of(params);
      const List second = zeros_of(params);
      const List third = o.amsgrad ? zeros_of(params) : List{};
      std::vector<Reference> wanted;
      for (const Tensor& t : params) {
        for (const double p : values(t)) wanted.push_back({p});
      }
      for (int step = 1; step <= 3; ++step) {
        List grads;
        size_t i = 0;
        for (const Tensor& t : params) {
          const auto seed = static_cast<uint32_t>(10 * step) + static_cast<uint32_t>(grads.size());
          grads.push_back(ops::cast_memory(random_leaf(t.sizes(), seed).detached(), dtype));
          for (const double g : values(grads.back())) wanted[i++].adam(g, step, o);
        }
        (o.decoupled ? ops::adamw_step : ops::adam_step)(params, grads, first, second, third, step,
                                                         0.1, 0.9, 0.99, 1e-3, o.weight_decay,
                                                         o.maximize);
      }
      size_t i = 0;
      for (const Tensor& t : params) {
        EXPECT_TRUE(requires_grad(t));
        for (const double p : values(t)) ASSERT_NEAR(p, wanted[i++].p, tolerance) << name(dtype);
      }
    }
  }
}

TEST(Sgd, follows_the_update_rule) {
  for (const bool nesterov : {false, true}) {
    const List p{f32(Dims{1}, {1})};
    const List buffer{f32(Dims{1}, {NAN})};
    const double dampening = nesterov ? 0 : 0.25;
    double wanted = 1;
    double moved = 0;
    for (int step = 0; step < 3; ++step) {
      const double g = 1.0 + step;
      ops::sgd_step(p, List{f32(Dims{1}, {static_cast<float>(g)})}, buffer, 0.1, 0.9, dampening,
                    0.01, nesterov, true, step == 0);
      const double d = -g + 0.01 * wanted;
      moved = step == 0 ? d : 0.9 * moved + (1 - dampening) * d;
      wanted -= 0.1 * (nesterov ? d + 0.9 * moved : moved);
    }
    EXPECT_NEAR(values(p[0])[0], wanted, 1e-5);
  }
  const List plain{f32(Dims{2}, {1, 2})};
  ops::sgd_step(plain, List{f32(Dims{2}, {1, 1})}, {}, 0.5);
  EXPECT_EQ(values(plain[0]), (std::vector<double>{0.5, 1.5}));
}

TEST(Optim, takes_any_memory_order_and_counts_the_write) {
  const Tensor base = random_leaf(Dims{3, 4}, 1).detached();
  const List params{ops::matrix_transpose(base)};
  const std::vector<double> before = values(params[0]);
  const Tensor g = random_leaf(Dims{4, 3}, 2).detached();
  const uint32_t version = params[0].version();
  ops::sgd_step(params, List{g}, {}, 1);
  EXPECT_GT(params[0].version(), version);
  const std::vector<double> after = values(params[0]);
  const std::vector<double> slope = values(g);
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i], before[i] - slope[i]);
}

TEST(Optim, mixes_dtypes_in_one_list) {
  const List params{f32(Dims{1}, {1}), test::f64(Dims{1}, {2}), f32(Dims{1}, {3})};
  const List grads{f32(Dims{1}, {1}), test::f64(Dims{1}, {1}), f32(Dims{1}, {1})};
  ops::sgd_step(params, grads, {}, 1);
  EXPECT_EQ(values(params[0])[0], 0);
  EXPECT_EQ(values(params[1])[0], 1);
  EXPECT_EQ(values(params[2])[0], 2);
}

TEST(Optim, refuses_lists_that_do_not_fit) {
  const List params{f32(Dims{2}, {1, 2})};
  const List grads{f32(Dims{3}, {1, 2, 3})};
  EXPECT_EQ(error_of([&] { ops::sgd_step(params, {}, {}, 1); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(error_of([&] { ops::sgd_step(params, grads, {}, 1); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::sgd_step(params, params, {}, 1, 0.9); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(error_of([&] { ops::sgd_step(params, params, {}, 1, 0, 0, 0, true); }).code(),
            Code::kValue);
  EXPECT_EQ(error_of([&] { ops::adam_step(params, params, params, params, {}, 0, 1); }).code(),
            Code::kValue);
  const List whole{test::i64(Dims{1}, {1})};
  EXPECT_EQ(error_of([&] { ops::sgd_step(whole, whole, {}, 1); }).code(), Code::kDType);
}

TEST(Optim, writes_unrecorded_to_leaves_and_to_nothing_else_that_requires_grad) {
  const Tensor leaf = test::f32(Dims{1}, {1});
  set_requires_grad(leaf, true);
  const List grads{f32(Dims{1}, {1})};
  ops::sgd_step(List{leaf}, grads, {}, 1);
  EXPECT_EQ(values(leaf)[0], 0);
  const List computed{ops::multiply(leaf, 2)};
  EXPECT_EQ(error_of([&] { ops::sgd_step(computed, grads, {}, 1); }).code(), Code::kAutograd);
  const List params{f32(Dims{1}, {1})};
  EXPECT_EQ(error_of([&] { ops::sgd_step(params, grads, List{leaf}, 1, 0.9); }).code(),
            Code::kAutograd);
  EXPECT_EQ(error_of([&] { ops::adam_step(params, grads, grads, List{leaf}, {}, 1, 1); }).code(),
            Code::kAutograd);
  EXPECT_EQ(values(params[0])[0], 1);
  const NoGrad pause;
  ops::sgd_step(params, grads, List{leaf}, 1, 0.9);
  EXPECT_EQ(values(params[0])[0], 0);
}

TEST(ClipNorm, scales_only_what_is_too_long_and_returns_the_norm) {
  List tensors{f32(Dims{2}, {3, 0}), f32(Dims{1}, {-4})};
  EXPECT_EQ(values(ops::clip_norm(tensors, 10))[0], 5);
  EXPECT_EQ(values(tensors[1])[0], -4);
  EXPECT_EQ(values(ops::clip_norm(tensors, 1, INFINITY))[0], 4);
  EXPECT_NEAR(values(tensors[0])[0], 0.75, 1e-6);
  EXPECT_NEAR(values(ops::clip_norm(tensors, 100, 1))[0], 1.75, 1e-6);
  EXPECT_NEAR(values(ops::clip_norm(tensors, 100, 3))[0], std::cbrt(0.75 * 0.75 * 0.75 + 1), 1e-5);
  EXPECT_EQ(values(ops::clip_norm(List{}, 1))[0], 0);
  tensors.push_back(test::f64(Dims{1}, {12}));
  EXPECT_EQ(ops::clip_norm(tensors, 100).dtype(), DType::kFloat64);
}

TEST(ClipNorm, refuses_tensors_that_require_grad_and_leaves_all_as_they_are) {
  const Tensor leaf = f32(Dims{1}, {3});
  set_requires_grad(leaf, true);
  const List tensors{f32(Dims{1}, {4}), leaf};
  EXPECT_EQ(error_of([&] { ops::clip_norm(tensors, 1); }).code(), Code::kAutograd);
  EXPECT_EQ(error_of([&] { ops::clip_norm(List{ops::multiply(leaf, 2)}, 1); }).code(),
            Code::kAutograd);
  EXPECT_EQ(values(tensors[0])[0], 4);
  const NoGrad pause;
  EXPECT_EQ(values(ops::clip_norm(tensors, 1))[0], 5);
  EXPECT_NEAR(values(leaf)[0], 0.6, 1e-5);
}

TEST(ClipNorm, refuses_what_is_no_norm) {
  const List tensors{f32(Dims{1}, {NAN})};
  const auto refused = [&](double max_norm, double norm_type, bool strict) {
    return error_of([&] { ops::clip_norm(tensors, max_norm, norm_type, strict); }).code();
  };
  EXPECT_EQ(refused(-1, 2, false), Code::kValue);
  EXPECT_EQ(refused(NAN, 2, false), Code::kValue);
  EXPECT_EQ(refused(1, NAN, false), Code::kValue);
  EXPECT_EQ(refused(1, 2, true), Code::kValue);
  EXPECT_TRUE(std::isnan(values(ops::clip_norm(tensors, 1))[0]));
}

Tensor holding(float value, float gradient) {
  Tensor leaf = f32(Dims{1}, {value});
  set_requires_grad(leaf, true);
  set_grad(leaf, f32(Dims{1}, {gradient}));
  return leaf;
}

TEST(ClipGradNorm, scales_gradients_and_leaves_parameters) {
  const List params{holding(30, 3), f32(Dims{1}, {7}), holding(40, -4)};
  EXPECT_EQ(values(ops::clip_grad_norm(params, 1))[0], 5);
  EXPECT_NEAR(values(grad_of(params[0]))[0], 0.6, 1e-5);
  EXPECT_NEAR(values(grad_of(params[2]))[0], -0.8, 1e-5);
  EXPECT_EQ(values(params[0])[0], 30);
  EXPECT_EQ(values(params[1])[0], 7);
  EXPECT_EQ(params[0].version(), 0);
}

TEST(ClipGradNorm, counts_a_parameter_once) {
  const Tensor one = holding(1, 3);
  const Tensor other = holding(1, 4);
  EXPECT_EQ(values(ops::clip_grad_norm(List{one, other, one, one, other}, 10))[0], 5);
  EXPECT_NEAR(values(ops::clip_grad_norm(List{one, one}, 1))[0], 3, 1e-6);
  EXPECT_NEAR(values(grad_of(one))[0], 1, 1e-5);
}

TEST(ClipGradNorm, clips_gradients_that_were_recorded) {
  const Tensor leaf = holding(1, 0);
  const Tensor grad = ops::multiply(leaf, 3);  // as with create_graph
  set_grad(leaf, grad);
  ops::clip_grad_norm(List{leaf}, 1);
  EXPECT_NEAR(values(grad)[0], 1, 1e-5);
  ops::clip_grad_value(List{leaf}, 0.5);
  EXPECT_EQ(values(grad)[0], 0.5);
  set_grad(leaf, {});  // its history refers to the leaf that holds it
}

TEST(ClipGradValue, clips_each_element_of_the_gradients) {
  const List params{holding(30, 3), f32(Dims{1}, {7}), holding(40, -4)};
  ops::clip_grad_value(params, 3.5);
  EXPECT_EQ(values(grad_of(params[0]))[0], 3);
  EXPECT_EQ(values(grad_of(params[2]))[0], -3.5);
  EXPECT_EQ(values(params[2])[0], 40);
  EXPECT_EQ(error_of([&] { ops::clip_grad_value(params, NAN); }).code(), Code::kValue);
}

}  // namespace
}  // namespace tsr::test_optim
