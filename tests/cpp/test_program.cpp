// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs: recording a closure, files, dynamic sizes, refusals.
#include <cstdio>
#include <stdexcept>

#include "support.hpp"
#include "support/places.h"

namespace test_program {

using namespace tessera;
using namespace tessera::test;

namespace {

using Tensors = std::vector<Tensor>;

TEST(Program, P17_of_a_file_computes_what_the_closure_did) {
  const Tensor weight = tensor({1.0, 2.0}, kFloat32);
  const Program program = Program::record({ones({2}, kFloat32)},
                                          [&](const Tensors& x) {
                                            return Tensors{x[0] * weight, x[0] + x[0]};
                                          },
                                          {{"weight", weight}});
  const std::string path = temporary("closure.program");
  program.save(path);
  const Program loaded = Program::load(path);
  std::remove(path.c_str());
  for (int round = 0; round < 3; ++round) {
    const Tensors y = loaded.run({tensor({3.0, 4.0}, kFloat32)});
    ASSERT_EQ(y.size(), 2U);
    EXPECT_EQ(numbers(y[0]), (Numbers{3, 8}));
    EXPECT_EQ(numbers(y[1]), (Numbers{6, 8}));
  }
  EXPECT_EQ(numbers(loaded.tensor("weight")), (Numbers{1, 2}));
  EXPECT_NE(loaded.text().find("weight"), std::string::npos);
  EXPECT_NE(program.describe().find("\"calls\""), std::string::npos);
}

TEST(Program, P17_of_several_sizes_takes_every_size) {
  std::vector<Program> programs;
  for (const int64_t n : {2, 3, 5}) {
    programs.push_back(Program::record({ones({n, 2}, kFloat32)}, [n](const Tensors& x) {
      return Tensors{x[0].reshape({2 * n}).sum()};
    }));
  }
  const Program program = Program::from_bytes(Program::unify(programs).to_bytes());
  EXPECT_EQ(numbers(program.run({ones({7, 2}, kFloat32)})[0]), Numbers{14});
  EXPECT_THROW(program.run({ones({7, 3}, kFloat32)}), ShapeError);
}

TEST(Program, P17_of_named_sizes_takes_every_pair_of_them) {
  std::vector<Program> programs;
  const std::vector<std::pair<int64_t, int64_t>> sizes = {{2, 5}, {3, 5}, {2, 6}, {3, 6}, {4, 9}};
  for (const auto& [batch, length] : sizes) {
    const int64_t all = batch * length;
    programs.push_back(Program::record({ones({batch, length}, kFloat32)}, [all](const Tensors& x) {
      return Tensors{x[0].reshape({all}).sum()};
    }));
  }
  const Program program = Program::unify(programs, {"batch", "length"});
  EXPECT_EQ(numbers(program.run({ones({7, 3}, kFloat32)})[0]), Numbers{21});
  EXPECT_NE(program.text().find("for any batch, length"), std::string::npos) << program.text();
  EXPECT_THROW(Program::unify(programs, {"batch"}), InvalidValueError);
}

TEST(Program, P17_refuses_a_read_and_ends_with_the_closure) {
  const auto read = [](const Tensors& x) { return Tensors{x[0] * x[0].item<double>()}; };
  EXPECT_THROW(Program::record({ones({1}, kFloat32)}, read), NotSupportedError);
  EXPECT_EQ(tsr_program_recording(), 0);
  const auto broken = [](const Tensors&) -> Tensors { throw std::runtime_error("no"); };
  EXPECT_THROW(Program::record({ones({1}, kFloat32)}, broken), std::runtime_error);
  EXPECT_EQ(tsr_program_recording(), 0);
  EXPECT_EQ(ones({1}, kFloat32).item<double>(), 1);
}

TEST(Program, P17_of_another_language_gives_its_outputs) {
  const std::string folder = tsr::testing::source_path("tests/conformance/programs");
  const TensorMap expected = load_file(folder + "/mlp.safetensors");
  const Program program = Program::load(folder + "/mlp.program");
  for (int round = 0; round < 3; ++round)
    expect_near(program.run({expected.at("x")})[0], numbers(expected.at("y")));
}

TEST(Program, P17_a_training_step_of_another_language_gives_its_losses) {
  const std::string folder = tsr::testing::source_path("tests/conformance/programs");
  const TensorMap expected = load_file(folder + "/step.safetensors");
  const Program program = Program::load(folder + "/step.program");
  for (const double loss : numbers(expected.at("losses")))
    expect_near(program.run({expected.at("x"), expected.at("y")})[0], {loss});
}

}  // namespace
}  // namespace test_program
