// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Row A17 of docs/features.md: what a backward keeps in memory while it runs, for chains of layers
// of many kinds. The bounds are the same for every number of layers.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "autograd/custom_function.h"
#include "autograd/engine.h"
#include "autograd/hooks.h"
#include "autograd/tensor_grad.h"
#include "memory/allocator.h"
#include "ops/create/create.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "support/gradcheck.h"
#include "support/start_up.h"

namespace tsr::test_rows_memory {
namespace {

constexpr int64_t kSide = 64;
constexpr int64_t kBytes = kSide * kSide * 8;  // of one tensor of a chain
// The gradient that comes in, the one that goes out, and two temporaries of a derivative.
constexpr int64_t kRoom = 4 * kBytes + 4096;

struct Layer {
  const char* name;
  std::function<Tensor(const Tensor& x)> run;
  int64_t kept;  // tensors of kBytes that one layer keeps for its backward
};
std::ostream& operator<<(std::ostream& out, const Layer& layer) {
  return out << layer.name;
}

class SquareFunction final : public CustomFunction {
 public:
  void backward(CustomNode& node, std::span<const Tensor> grads,
                std::span<Tensor> results) override {
    results[0] = ops::multiply(ops::multiply(grads[0], 2), node.saved(0));
  }
};

Tensor custom_square(const Tensor& x) {
  const auto node =
      CustomNode::create("SquareBackward", std::array{x}, std::make_unique<SquareFunction>());
  Tensor y;
  {
    const NoGrad guard;
    y = ops::square(x);
  }
  node->save(std::array{x});
  node->attach(std::array{y});
  return y;
}

const std::vector<Layer> kLayers = {
    {"saves_its_input", [](const Tensor& x) { return ops::sin(x); }, 1},
    {"saves_its_output", [](const Tensor& x) { return ops::tanh(x); }, 1},
    {"written_in_place",
     [](const Tensor& x) {
       const Tensor y = ops::multiply(x, 0.5);
       ops::sigmoid(y, ops::Out::inplace(y));
       return y;
     },
     1},
    {"written_through_a_view",
     [](const Tensor& x) {
       const Tensor y = ops::multiply(x, 0.5);
       const Tensor part = ops::narrow(y, 0, 0, kSide / 2);
       ops::multiply(part, 2, ops::Out::inplace(part));
       return ops::sin(y);
     },
     1},
    {"views",
     [](const Tensor& x) {
       const Tensor turned = ops::matrix_transpose(ops::sin(x));
       return ops::select(ops::expand_dims(turned, 0), 0, 0);
     },
     1},
    {"custom_function", [](const Tensor& x) { return custom_square(x); }, 1},
    {"keeps_nothing", [](const Tensor& x) { return ops::multiply(x, 0.5); }, 0},
};

Allocator& memory() {
  return allocator_for(Device{});
}
int64_t allocated() {
  return memory().stats().allocated_bytes.all.current;
}

class ChainMemory : public ::testing::TestWithParam<Layer> {
 protected:
  void SetUp() override {
    testing::start_up();
    x_ = testing::random_leaf(std::array{kSide, kSide}, 1, 0.1, 0.9);
    start_ = allocated();
  }
  [[nodiscard]] int64_t in_use() const { return allocated() - start_; }
  [[nodiscard]] int64_t peak() const { return memory().stats().allocated_bytes.all.peak - start_; }
  // The sum of a chain of layers; every layer's result is visited.
  Tensor chain(int layers, const std::function<void(const Tensor&)>& visit = {}) {
    Tensor y = x_;
    for (int i = 0; i < layers; ++i) {
      y = GetParam().run(y);
      if (visit) visit(y);
    }
    return ops::sum(y);
  }

  Tensor x_;
  int64_t start_ = 0;
};

TEST_P(ChainMemory, A17_peak_of_backward_is_the_forwards_and_a_constant) {
  for (const int layers : {5, 20, 80}) {
    SCOPED_TRACE(layers);
    set_grad(x_, {});
    Tensor y = chain(layers);
    const int64_t forward = in_use();
    EXPECT_GE(forward, (layers - 2) * GetParam().kept * kBytes);
    EXPECT_LE(forward, (layers + 2) * (GetParam().kept * kBytes + 4096) + kBytes);
    memory().reset_peak();
    backward(std::array{y});
    EXPECT_LE(peak(), forward + kRoom);
    y.reset();
    EXPECT_LE(in_use(), kBytes + 4096);  // the gradient of x
  }
}

TEST_P(ChainMemory, A17_layers_are_freed_one_by_one_as_backward_passes_them) {
  constexpr int kCount = 20;
  std::vector<int64_t> seen;
  const Tensor y = chain(kCount, [&](const Tensor& result) {
    add_tensor_hook(result, [&](const Tensor&) {
      seen.push_back(in_use());
      return Tensor();
    });
  });
  const int64_t forward = in_use();
  backward(std::array{y});
  ASSERT_EQ(seen.size(), static_cast<size_t>(kCount));
  for (int passed = 0; passed < kCount; ++passed) {
    EXPECT_LE(seen[static_cast<size_t>(passed)],
              forward - passed * GetParam().kept * kBytes + kRoom);
  }
}

TEST_P(ChainMemory, A17_retained_graph_keeps_what_the_forward_kept_and_no_more) {
  for (const int layers : {5, 40}) {
    SCOPED_TRACE(layers);
    set_grad(x_, {});
    Tensor y = chain(layers);
    const int64_t forward = in_use();
    for (int round = 0; round < 3; ++round) {
      memory().reset_peak();
      backward(std::array{y}, {}, {.retain_graph = true});
      EXPECT_LE(peak(), forward + kBytes + kRoom);
      EXPECT_LE(in_use(), forward + kBytes + 4096);
    }
    backward(std::array{y});
    EXPECT_LE(in_use(), 2 * kBytes + layers * 1024 + 4096);
    y.reset();
    EXPECT_LE(in_use(), kBytes + 4096);
  }
}

TEST_P(ChainMemory, A14_graph_is_freed_at_once_with_its_output) {
  for (const int layers : {5, 80}) {
    Tensor y = chain(layers);
    EXPECT_GE(in_use(), (layers - 2) * GetParam().kept * kBytes);
    y.reset();
    EXPECT_EQ(in_use(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, ChainMemory, ::testing::ValuesIn(kLayers),
                         [](const auto& layer) { return std::string(layer.param.name); });

}  // namespace
}  // namespace tsr::test_rows_memory
