// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Deterministic mode: the same bits with 1, 2, 3 and 4 threads, also with fewer processors.
#include "base/determinism.h"

#include <functional>

#include "base/parallel.h"
#include "ops/index/index.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/solve.h"
#include "ops/nn/conv.h"
#include "ops/nn/softmax.h"
#include "ops/random/random.h"
#include "ops/reduce/scan.h"
#include "tests/ops/prelude.h"
#include "tests/support/effort.h"

namespace tsr::test_determinism {
namespace {

class Determinism : public ::testing::Test {
 protected:
  void SetUp() override { set_deterministic_mode(DeterministicMode::kOn); }
  void TearDown() override {
    set_deterministic_mode(DeterministicMode::kOff);
    set_num_threads(threads_);
  }

 private:
  int32_t threads_ = num_threads();
};

Tensor random(const Dims& shape, DType dtype, uint64_t seed) {
  Generator generator(seed);
  Tensor made = ops::cast_memory(ops::randn(shape, DType::kFloat64, {}, &generator), dtype);
  set_requires_grad(made, true);
  return made;
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  const Tensor dense = ops::contiguous_memory(tensor.detached());
  std::vector<std::byte> bytes(static_cast<size_t>(dense.nbytes()));
  std::memcpy(bytes.data(), dense.data(), bytes.size());
  return bytes;
}

// The result of the function and the gradients of the leaves, bit by bit.
using Function = std::function<Tensor(Inputs)>;
std::vector<std::vector<std::byte>> run(const Function& function, const std::vector<Tensor>& in) {
  const Tensor out = function(in);
  const Tensor weight = random(out.sizes(), out.dtype(), 99).detached();
  std::vector<std::vector<std::byte>> found{bytes_of(out)};
  for (const Tensor& gradient : grad({&out, 1}, in, {&weight, 1})) {
    found.push_back(bytes_of(gradient));
  }
  return found;
}

void expect_same_bits(const Function& function, const std::vector<Tensor>& in) {
  set_num_threads(1);
  const auto alone = run(function, in);
  for (const int32_t threads : {3, 2, 4}) {
    if (kSanitized && threads != 3) continue;
    set_num_threads(threads);
    EXPECT_TRUE(run(function, in) == alone) << threads << " threads";
  }
}

constexpr int64_t kOnes[] = {1, 1};
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kFloat16};

// With a sanitizer, one dtype of each way of computation.
bool is_left_out(DType dtype) {
  return kSanitized &&
         (dtype == DType::kFloat64 || dtype == DType::kFloat16 || dtype == DType::kComplex128);
}

TEST_F(Determinism, P0_products_have_the_same_bits_for_any_number_of_threads) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kComplex64,
                            DType::kComplex128}) {
    if (is_left_out(dtype)) continue;
    SCOPED_TRACE(name(dtype));
    const Function product = [](Inputs in) { return ops::matmul(in[0], in[1]); };
    expect_same_bits(product, {random({33, 900}, dtype, 1), random({900, 515}, dtype, 2)});
    if (!kSanitized) {  // the same accesses to memory, for half a minute longer
      expect_same_bits(product, {random({330, 1100}, dtype, 1), random({1100, 70}, dtype, 2)});
      expect_same_bits(product, {random({3, 260, 300}, dtype, 1), random({3, 300, 280}, dtype, 2)});
    }
    // Few rows, a matrix and a vector.
    expect_same_bits(product, {random({4, 1500}, dtype, 1), random({1500, 900}, dtype, 2)});
    expect_same_bits(product, {random({1500, 900}, dtype, 1), random({900}, dtype, 2)});
  }
}

TEST_F(Determinism, P0_products_of_transposed_operands_have_the_same_bits) {
  const Function turned = [](Inputs in) {
    return ops::matmul(ops::matrix_transpose(in[0]), ops::matrix_transpose(in[1]));
  };
  for (const DType dtype : kFloats) {
    if (is_left_out(dtype)) continue;
    SCOPED_TRACE(name(dtype));
    expect_same_bits(turned, {random({700, 390}, dtype, 1), random({270, 700}, dtype, 2)});
  }
}

TEST_F(Determinism, P0_linear_and_its_gradients_have_the_same_bits) {
  const Function linear = [](Inputs in) { return ops::linear(in[0], in[1], in[2]); };
  for (const DType dtype : kFloats) {
    if (is_left_out(dtype)) continue;
    SCOPED_TRACE(name(dtype));
    expect_same_bits(linear, {random({300, 700}, dtype, 1), random({257, 700}, dtype, 2),
                              random({257}, dtype, 3)});
    expect_same_bits(linear, {random({9, 40, 128}, dtype, 1), random({512, 128}, dtype, 2),
                              random({512}, dtype, 3)});
  }
}

TEST_F(Determinism, P0_convolutions_and_their_gradients_have_the_same_bits) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    if (is_left_out(dtype)) continue;
    SCOPED_TRACE(name(dtype));
    const Function same = [](Inputs in) {
      return ops::conv2d(in[0], in[1], in[2], {}, DimsView(kOnes));
    };
    expect_same_bits(same, {random({7, 16, 24, 24}, dtype, 1), random({32, 16, 3, 3}, dtype, 2),
                            random({32}, dtype, 3)});
    const Function points = [](Inputs in) { return ops::conv2d(in[0], in[1], in[2]); };
    expect_same_bits(points, {random({5, 64, 20, 20}, dtype, 1), random({48, 64, 1, 1}, dtype, 2),
                              random({48}, dtype, 3)});
    const Function depthwise = [](Inputs in) {
      return ops::conv2d(in[0], in[1], in[2], {}, {}, {}, 32);
    };
    expect_same_bits(depthwise, {random({5, 32, 20, 20}, dtype, 1), random({32, 1, 3, 3}, dtype, 2),
                                 random({32}, dtype, 3)});
  }
}

TEST_F(Determinism, P0_factorizations_have_the_same_bits) {
  const Function solve = [](Inputs in) { return ops::solve(in[0], in[1]); };
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    if (is_left_out(dtype)) continue;
    SCOPED_TRACE(name(dtype));
    expect_same_bits(solve, {random({600, 600}, dtype, 1), random({600, 8}, dtype, 2)});
  }
}

// What does not need the mode: no kernel of our own divides its sums by the number of threads.
TEST_F(Determinism, P0_sums_and_scattered_gradients_have_the_same_bits) {
  const Tensor rows = ops::cast_memory(
      ops::multiply(ops::rand(Dims{50000}, DType::kFloat64, {}, nullptr), 97), DType::kInt64);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    if (is_left_out(dtype)) continue;
    SCOPED_TRACE(name(dtype));
    const Function sum = [](Inputs in) { return ops::sum(in[0]); };
    expect_same_bits(sum, {random({300000}, dtype, 1)});
    const Function running = [](Inputs in) { return ops::cumulative_sum(in[0], 0); };
    expect_same_bits(running, {random({40000, 3}, dtype, 1)});
    const Function weights = [](Inputs in) { return ops::softmax(in[0], 1); };
    expect_same_bits(weights, {random({400, 700}, dtype, 1)});
    const Function lookup = [&](Inputs in) { return ops::embedding(rows, in[0]); };
    expect_same_bits(lookup, {random({97, 5}, dtype, 1)});
  }
}

// The products in tiles against whole ones.
TEST_F(Determinism, P0_products_in_tiles_are_right) {
  const Tensor a = random({301, 257}, DType::kFloat64, 1);
  const Tensor b = random({257, 530}, DType::kFloat64, 2);
  const NoGrad guard;
  const Numbers tiled = values(ops::matmul(a, b));
  set_deterministic_mode(DeterministicMode::kOff);
  const Numbers whole = values(ops::matmul(a, b));
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(tiled[i], whole[i], 1e-11);
}

}  // namespace
}  // namespace tsr::test_determinism
