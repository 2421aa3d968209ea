// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The engine with the library's own ops: gradcheck of the graphs that are hardest for an engine.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "base/trace.h"
#include "memory/allocator.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::test_with_ops {
namespace {

using testing::gradcheck;
using testing::gradgradcheck;
using testing::random_leaf;
using Inputs = std::span<const Tensor>;

// The other suites of this program install their own GradientOps.
class EngineWithOps : public ::testing::Test {
 protected:
  void SetUp() override { testing::start_up(); }
};

void expect_both(const testing::Differentiable& fn, const std::vector<Tensor>& inputs) {
  EXPECT_TRUE(gradcheck(fn, inputs));
  EXPECT_TRUE(gradgradcheck(fn, inputs));
}

TEST_F(EngineWithOps, E3_diamond) {
  expect_both(
      [](Inputs x) {
        const Tensor a = ops::exp(x[0]);
        return ops::multiply(ops::sin(a), ops::multiply(a, x[0]));
      },
      {random_leaf(std::array<int64_t, 1>{3}, 1)});
}

TEST_F(EngineWithOps, E3_tensor_used_three_times) {
  expect_both([](Inputs x) { return ops::multiply(ops::multiply(x[0], x[0]), x[0]); },
              {random_leaf(std::array<int64_t, 1>{3}, 2)});
}

TEST_F(EngineWithOps, expanded_input) {
  expect_both(
      [](Inputs x) {
        const Tensor wide = ops::broadcast_to(x[0], std::array<int64_t, 2>{3, 2});
        return ops::multiply(ops::multiply(wide, wide), x[1]);
      },
      {random_leaf(std::array<int64_t, 1>{2}, 3), random_leaf(std::array<int64_t, 2>{3, 1}, 4)});
}

TEST_F(EngineWithOps, matmul_of_transposed_views) {
  expect_both(
      [](Inputs x) { return ops::tanh(ops::matmul(ops::matrix_transpose(x[0]), x[1])); },
      {random_leaf(std::array<int64_t, 2>{3, 2}, 5), random_leaf(std::array<int64_t, 2>{3, 4}, 6)});
}

TEST_F(EngineWithOps, complex_numbers) {
  const auto leaf = [](uint32_t seed) {
    return random_leaf(std::array<int64_t, 1>{2}, seed, -1, 1, DType::kComplex128);
  };
  expect_both([](Inputs x) { return ops::multiply(ops::exp(x[0]), ops::multiply(x[0], x[1])); },
              {leaf(7), leaf(8)});
}

// ---- Every view with every in-place write, to second order ----

using View = std::function<Tensor(const Tensor&)>;
using Write = std::function<void(const Tensor& target, const Tensor& operand)>;

// For a row-major matrix of shape [3, 4].
const std::vector<std::pair<const char*, View>> kViews = {
    {"reshape",
     [](const Tensor& x) {
       return ops::reshape(x, std::array<int64_t, 2>{2, 6});
     }},
    {"transpose", [](const Tensor& x) { return ops::matrix_transpose(x); }},
    {"row",
     [](const Tensor& x) {
       return as_strided_view(x, std::array<int64_t, 1>{4}, std::array<int64_t, 1>{1}, 4);
     }},
    {"every other column",
     [](const Tensor& x) {
       return as_strided_view(x, std::array<int64_t, 2>{3, 2}, std::array<int64_t, 2>{4, 2}, 1);
     }},
    {"diagonal",
     [](const Tensor& x) {
       return as_strided_view(x, std::array<int64_t, 1>{3}, std::array<int64_t, 1>{5}, 0);
     }},
    {"one element", [](const Tensor& x) { return as_strided_view(x, DimsView{}, DimsView{}, 7); }},
    {"view of a view",
     [](const Tensor& x) {
       return ops::reshape(
           as_strided_view(x, std::array<int64_t, 2>{2, 4}, std::array<int64_t, 2>{4, 1}, 4),
           std::array<int64_t, 3>{2, 2, 2});
     }},
};

const std::vector<std::pair<const char*, Write>> kWrites = {
    {"add", [](const Tensor& t, const Tensor& w) { ops::add(t, w, ops::Out::inplace(t)); }},
    {"multiply",
     [](const Tensor& t, const Tensor& w) { ops::multiply(t, w, ops::Out::inplace(t)); }},
    {"divide", [](const Tensor& t, const Tensor& w) { ops::divide(t, w, ops::Out::inplace(t)); }},
    {"exp", [](const Tensor& t, const Tensor&) { ops::exp(t, ops::Out::inplace(t)); }},
    {"sin", [](const Tensor& t, const Tensor&) { ops::sin(t, ops::Out::inplace(t)); }},
    {"copy", [](const Tensor& t, const Tensor& w) { ops::copy_(t, w); }},
    {"fill", [](const Tensor& t, const Tensor&) { ops::fill_(t, 0.5); }},
    {"zero", [](const Tensor& t, const Tensor&) { ops::zero_(t); }},
};

TEST_F(EngineWithOps, I6_every_in_place_write_through_every_view) {
  for (const auto& [view_name, view] : kViews) {
    for (const auto& [write_name, write] : kWrites) {
      SCOPED_TRACE(std::string(write_name) + " through " + view_name);
      expect_both(
          [&view = view, &write = write](Inputs x) {
            const Tensor base = ops::multiply(x[0], 1.5);
            const Tensor before = view(base);
            const Tensor target = view(base);
            write(target, x[1]);
            return std::vector<Tensor>{ops::square(base), ops::sin(target), ops::exp(before)};
          },
          {random_leaf(std::array<int64_t, 2>{3, 4}, 11), random_leaf({}, 12, 0.5, 1.5)});
    }
  }
}

TEST_F(EngineWithOps, I7_every_in_place_write_to_a_base_with_views) {
  for (const auto& [view_name, view] : kViews) {
    for (const auto& [write_name, write] : kWrites) {
      SCOPED_TRACE(std::string(write_name) + " under " + view_name);
      expect_both(
          [&view = view, &write = write](Inputs x) {
            const Tensor base = ops::multiply(x[0], 1.5);
            const Tensor window = view(base);
            write(base, x[1]);
            return std::vector<Tensor>{ops::square(base), ops::sin(window)};
          },
          {random_leaf(std::array<int64_t, 2>{3, 4}, 13), random_leaf({}, 14, 0.5, 1.5)});
    }
  }
}

// ---- The cost of a backward ----

// Counts the launches of one kernel family while it lives. Only one may exist at a time.
class LaunchCounter {
 public:
  explicit LaunchCounter(std::string_view family) {
    family_ = family;
    count_ = 0;
    set_trace_hook(TraceListener::kTests, note, static_cast<uint32_t>(TraceKind::kLaunch));
  }
  LaunchCounter(const LaunchCounter&) = delete;
  LaunchCounter& operator=(const LaunchCounter&) = delete;
  ~LaunchCounter() { set_trace_hook(TraceListener::kTests, nullptr, 0); }
  [[nodiscard]] static int count() { return count_; }

 private:
  static void note(const TraceEvent& event, void**) noexcept {
    if (event.phase == TracePhase::kBegin && family_ == event.family) ++count_;
  }
  static inline std::string_view family_;
  static inline std::atomic<int> count_{0};
};

TEST_F(EngineWithOps, A3_frozen_weight_costs_no_product) {
  const Tensor x = random_leaf(std::array<int64_t, 2>{3, 4}, 15);
  const Tensor weight = random_leaf(std::array<int64_t, 2>{4, 5}, 16);
  for (const bool frozen : {false, true}) {
    set_requires_grad(weight, !frozen);
    const Tensor y = ops::sum(ops::matmul(x, weight));
    const LaunchCounter products("gemm");
    backward(std::array{y});
    EXPECT_EQ(products.count(), frozen ? 1 : 2);
  }
}

TEST_F(EngineWithOps, A17_peak_of_backward_is_the_forwards_and_a_little) {
  constexpr int64_t kElements = 1 << 14;
  constexpr int kLayers = 20;
  constexpr int64_t kBytes = kElements * 8;
  Allocator& allocator = allocator_for(Device{});
  const auto allocated = [&] { return allocator.stats().allocated_bytes.all; };
  const Tensor x = random_leaf(std::array{kElements}, 17);
  const int64_t before = allocated().current;
  Tensor y = x;
  for (int i = 0; i < kLayers; ++i) y = ops::sin(y);
  y = ops::sum(y);
  const int64_t forward = allocated().current - before;
  EXPECT_NEAR(static_cast<double>(forward), static_cast<double>(kBytes * (kLayers - 1)),
              static_cast<double>(2 * kBytes));
  allocator.reset_peak();
  backward(std::array{y});
  EXPECT_LE(allocated().peak - before, forward + 4 * kBytes);
  y.reset();
  EXPECT_LE(allocated().current - before, kBytes + 4096);  // the gradient of x
}

TEST_F(EngineWithOps, E14_sum_of_three_gradients_needs_no_memory_of_its_own) {
  const Tensor x = random_leaf(std::array<int64_t, 1>{1 << 14}, 18);
  const Tensor y = ops::sin(x);
  const Tensor z =
      ops::add(ops::add(ops::multiply(y, 2), ops::multiply(y, 3)), ops::multiply(y, 4));
  Allocator& allocator = allocator_for(Device{});
  const Tensor weight = ops::ones(z.sizes(), DType::kFloat64);
  const int64_t before = allocator.stats().allocated_bytes.all.allocated;
  backward(std::array{z}, std::array{weight});
  const int64_t made = allocator.stats().allocated_bytes.all.allocated - before;
  // Three products, and cos with its product; the two sums are accumulated into the first product.
  EXPECT_LE(made, 5 * (1 << 14) * 8 + 4096);
}

TEST_F(EngineWithOps, gradcheck_finds_a_wrong_derivative) {
  const auto wrong = [](Inputs x) {
    Tensor y = ops::multiply(x[0], 2).detached();
    if (needs_grad(x[0])) {
      record(y, "WrongBackward", {x[0]}, {},
             [](Backward& ctx) { ctx.set(0, ops::multiply(ctx.grad(), 2.01)); });
    }
    return y;
  };
  EXPECT_FALSE(gradcheck(wrong, {random_leaf(std::array<int64_t, 1>{2}, 9)}));
}

TEST_F(EngineWithOps, gradcheck_finds_a_gradient_that_is_not_differentiable) {
  const auto wrong = [](Inputs x) {
    const NoGrad guard;
    Tensor y = ops::square(x[0]);
    const EnableGrad again;
    if (needs_grad(x[0])) {
      record(y, "WrongBackward", {x[0]}, {save_input(x[0])}, [](Backward& ctx) {
        ctx.set(0, ops::multiply(ctx.grad(), ops::multiply(ctx.saved(0), 2).detached()));
      });
    }
    return y;
  };
  const std::vector<Tensor> inputs{random_leaf(std::array<int64_t, 1>{2}, 9)};
  EXPECT_FALSE(gradgradcheck(wrong, inputs));
}

}  // namespace
}  // namespace tsr::test_with_ops
