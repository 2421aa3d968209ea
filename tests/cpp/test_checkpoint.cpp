// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Checkpoints, the library's saved-tensor hooks, deterministic mode.
#include <cmath>
#include <filesystem>
#include <string>

#include "support.hpp"

namespace tessera::test::test_checkpoint {
namespace {

using Inputs = std::vector<Tensor>;

Tensor block(const Inputs& in) {
  return dropout(in[0].exp(), 0.5) * in[1];
}

TEST(Checkpoint, P1_gradients_and_random_numbers_are_those_of_the_plain_call) {
  Tensor x = leaf({0.1, 0.2, 0.3, 0.4}), w = leaf({1, 2, 3, 4});
  Generator::default_generator().seed(5);
  block({x, w}).sum().backward();
  const Numbers plain = numbers(x.grad()), plain_w = numbers(w.grad());
  for (const bool early : {true, false}) {
    x.set_grad({});
    w.set_grad({});
    Generator::default_generator().seed(5);
    CheckpointOptions options;
    options.early_stop = early;
    int runs = 0;
    const auto counted = [&](const Inputs& in) {
      ++runs;
      return block(in);
    };
    const Tensor y = checkpoint(counted, {x, w}, options);
    EXPECT_EQ(runs, 1);
    y.sum().backward();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(numbers(x.grad()), plain);
    EXPECT_EQ(numbers(w.grad()), plain_w);
  }
}

TEST(Checkpoint, P1_can_be_nested_and_differentiated_twice) {
  Tensor x = leaf({2});
  const auto cube = [](const Inputs& in) { return in[0] * in[0] * in[0]; };
  const Tensor y = checkpoint([&](const Inputs& in) { return checkpoint(cube, {in[0]}) * 2; }, {x});
  BackwardOptions options;
  options.create_graph = true;
  const Tensor first = grad(y.sum(), x, {}, options)[0];
  expect_near(first, {24});
  expect_near(grad(first.sum(), x)[0], {24});
}

TEST(Checkpoint, P1_exceptions_of_the_second_run_and_of_different_runs_come_out) {
  Tensor x = leaf({2});
  int runs = 0;
  const Tensor y = checkpoint(
      [&](const Inputs& in) {
        if (++runs == 2) throw std::runtime_error("second run");
        return in[0].exp();
      },
      {x});
  EXPECT_THROW(y.sum().backward(), std::runtime_error);
  runs = 0;
  const Tensor z = checkpoint(
      [&](const Inputs& in) { return ++runs == 1 ? in[0].exp() : in[0].to(kFloat32).exp(); }, {x});
  EXPECT_THROW(z.sum().backward(), AutogradError);
}

TEST(SavedTensors, P1_files_go_with_the_graph) {
  const auto folder = std::filesystem::temp_directory_path() / "tessera_test_saved";
  std::filesystem::create_directories(folder);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  Tensor x = leaf({1, 2});
  {
    Tensor y;
    {
      const SaveToDisk hooks(folder.string(), 0);
      y = (x * 2).exp();
    }
    EXPECT_EQ(files(), 1);
    y.sum().backward();
    EXPECT_EQ(files(), 0);
  }
  expect_near(x.grad(), {2 * std::exp(2.0), 2 * std::exp(4.0)}, 1e-12);
  std::filesystem::remove(folder);
  EXPECT_THROW(const SaveToDisk guard("/no/such/folder"), FileError);
}

TEST(SavedTensors, P1_copies_may_be_written_to_and_hooks_forbidden) {
  Tensor x = leaf({1, 2});
  Tensor y;
  {
    const SaveCopies hooks;
    y = x.exp();
  }
  const Numbers powers = numbers(y);
  y.detach().zero_();
  y.sum().backward();
  expect_near(x.grad(), powers, 1e-12);
  {
    const SaveOnDevice hooks;  // it is there already, so the check remains
    y = x.exp();
  }
  y.detach().zero_();
  EXPECT_THROW(y.sum().backward(), AutogradError);
  const NoSavedTensorHooks none("no hooks here");
  EXPECT_THROW(SaveCopies(), AutogradError);
}

TEST(Determinism, P0_the_mode_is_set_and_found) {
  EXPECT_EQ(set_deterministic_mode(DeterministicMode::kOn), DeterministicMode::kOff);
  EXPECT_EQ(deterministic_mode(), DeterministicMode::kOn);
  EXPECT_TRUE(std::isnan(numbers(empty({1}, kFloat64))[0]));
  EXPECT_THROW(require_deterministic("mine"), NotSupportedError);
  EXPECT_TRUE(set_deterministic_fill(false));
  EXPECT_FALSE(deterministic_fill());
  EXPECT_FALSE(set_deterministic_fill(true));
  EXPECT_EQ(set_deterministic_mode(DeterministicMode::kOff), DeterministicMode::kOn);
  EXPECT_NO_THROW(require_deterministic("mine"));
  EXPECT_NE(nondeterministic_kernels().find("\"gemm\""), std::string::npos);
}

}  // namespace
}  // namespace tessera::test::test_checkpoint
