// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random programs of ops, views and in-place writes. Either the first and second derivatives are
// right, or the backward reports that a saved tensor was overwritten. No node may leak.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "autograd/engine.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/shape.h"
#include "support/effort.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::test_random_programs {
namespace {

using testing::gradcheck;
using testing::gradgradcheck;
using testing::random_leaf;
using Inputs = std::span<const Tensor>;

// One program, which runs the same steps at each call.
class Program {
 public:
  explicit Program(uint32_t seed) : seed_(seed) {}

  std::vector<Tensor> operator()(Inputs inputs) const {
    std::mt19937 random(seed_);
    std::vector<Tensor> made{ops::multiply(inputs[0], 1.25), ops::sin(inputs[1])};
    const auto steps = 3 + pick(random, 8);
    for (uint32_t i = 0; i < steps; ++i) step(random, made);
    // Several outputs, some of which are views of the same memory.
    return {made.back(), made[pick(random, made.size())], ops::square(made[0])};
  }

 private:
  static uint32_t pick(std::mt19937& random, size_t count) {
    return static_cast<uint32_t>(random() % count);
  }

  static Tensor window(std::mt19937& random, const Tensor& from) {
    if (pick(random, 3) == 0) return ops::matrix_transpose(from);
    // Half of the rows or columns, as a 2 x 2 matrix.
    const auto row = static_cast<int64_t>(pick(random, static_cast<size_t>(from.size(0)) - 1));
    const auto column = static_cast<int64_t>(pick(random, static_cast<size_t>(from.size(1)) - 1));
    return as_strided_view(from, std::array<int64_t, 2>{2, 2}, from.strides(),
                           from.offset() + row * from.stride(0) + column * from.stride(1));
  }

  // A tensor that broadcasts to the shape of `target` and shares no memory with it.
  static Tensor operand(std::mt19937& random, const std::vector<Tensor>& made,
                        const Tensor& target) {
    const Tensor& other = made[pick(random, made.size())];
    if (other.sizes() == target.sizes() && other.storage() != target.storage()) return other;
    return as_strided_view(ops::sin(other), DimsView{}, DimsView{}, 0);
  }

  static void write(std::mt19937& random, const std::vector<Tensor>& made, const Tensor& target) {
    const ops::Out out = ops::Out::inplace(target);
    const Tensor other = operand(random, made, target);
    switch (pick(random, 6)) {
      case 0:
        ops::add(target, other, out);
        break;
      case 1:
        ops::multiply(target, other, out);
        break;
      case 2:
        ops::sin(target, out);
        break;
      case 3:
        ops::sigmoid(target, out);
        break;
      case 4:
        ops::copy_(target, other);
        break;
      default:
        ops::multiply(target, 0.75, out);
        break;
    }
  }

  static void step(std::mt19937& random, std::vector<Tensor>& made) {
    const Tensor from = made[pick(random, made.size())];
    switch (pick(random, 5)) {
      case 0:
        made.push_back(ops::sin(from));
        break;
      case 1:
        made.push_back(ops::multiply(from, operand(random, made, from)));
        break;
      case 2:
        made.push_back(window(random, from));
        break;
      default:
        write(random, made, from);
        break;
    }
  }

  uint32_t seed_;
};

// Whether the program's first or second backward reports that a saved tensor was overwritten.
bool overwrites_what_it_saved(const Program& program, const std::vector<Tensor>& inputs) {
  const BackwardOptions keep{.create_graph = true};
  try {
    for (const Tensor& output : program(inputs)) {
      const std::array weight{random_leaf(output.sizes(), 99)};
      for (const Tensor& first : grad(std::array{output}, inputs, weight, keep, true)) {
        if (!first.defined() || !first.requires_grad()) continue;
        const std::array again{random_leaf(first.sizes(), 98)};
        grad(std::array{first}, inputs, again, keep, true);
      }
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kAutograd) << error.message();
    EXPECT_NE(error.message().find("in-place operation"), std::string::npos) << error.message();
    return true;
  }
  return false;
}

TEST(RandomPrograms, are_differentiated_rightly_or_refused) {
  testing::start_up();
  const int64_t before = live_nodes();
  int checked = 0;
  constexpr uint32_t kPrograms = effort(400U, 120U);
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const Program program(seed);
    const std::vector<Tensor> inputs{random_leaf(std::array<int64_t, 2>{3, 3}, 2 * seed),
                                     random_leaf(std::array<int64_t, 2>{3, 3}, 2 * seed + 1)};
    if (overwrites_what_it_saved(program, inputs)) continue;
    ++checked;
    EXPECT_TRUE(gradcheck(program, inputs));
    EXPECT_TRUE(gradgradcheck(program, inputs));
    if (HasFailure()) break;
  }
  EXPECT_EQ(live_nodes(), before);
  EXPECT_GT(checked, static_cast<int>(kPrograms / 4));
}

}  // namespace
}  // namespace tsr::test_random_programs
