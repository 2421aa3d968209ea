// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs on a device that keeps graphs: the simulated one.
#include <string>
#include <vector>

#include "capi/program_support.h"
#include "support/places.h"

namespace test_program_device {

using namespace tsr::test;

namespace {

constexpr tsr_device_type kDevice = TSR_DEVICE_SIMULATED;

class ProgramOnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ok(tsr_plugin_load(tsr::testing::simulated_backend().c_str(), -1));
  }
  static Tensor there(std::vector<double> values) {
    const Tensor here = vector(std::move(values));
    Tensor copy;
    ok(tsr_to(here, kDevice, 0, -1, 1, 0, copy.slot()));
    return copy;
  }
  static std::vector<double> numbers(tsr_tensor tensor) {
    Tensor here;
    ok(tsr_to(tensor, TSR_DEVICE_CPU, 0, -1, 1, 0, here.slot()));
    return literal_of(here).real;
  }
  // (x + w) (x + w) x, with a view.
  static void function(tsr_tensor x, tsr_tensor w, tsr_tensor* y) {
    Tensor sum, square, flat;
    const int64_t shape[1] = {3};
    ok(tsr_add(x, w, sum.slot()));
    ok(tsr_multiply(sum, sum, square.slot()));
    ok(tsr_reshape(square, shape, 1, -1, flat.slot()));
    ok(tsr_multiply(flat, x, y));
  }
  static std::vector<double> expected(double a) {
    std::vector<double> found;
    for (const double x : {a, 2.0, 3.0}) found.push_back((x + 1) * (x + 1) * x);
    return found;
  }
};

TEST_F(ProgramOnDevice, P17_is_captured_as_a_graph_and_follows_its_inputs) {
  const Tensor w = there({1, 1, 1});
  const Tensor x = there({1, 2, 3});
  const Program program =
      recorded(x, [&](tsr_tensor in, tsr_tensor* y) { function(in, w, y); }, {w});
  std::vector<Tensor> held;
  for (int round = 0; round < 6; ++round) {
    held.push_back(run(program, there({1.0 + round, 2, 3})));
    EXPECT_EQ(numbers(held.back()), expected(1.0 + round)) << round;
  }
  EXPECT_EQ(described(program)["plan"]["graph"], true) << described(program)["plan"];
  for (int round = 0; round < 6; ++round)
    EXPECT_EQ(numbers(held[static_cast<size_t>(round)]), expected(1.0 + round));
  // A weight that is written is seen; other memory makes another plan.
  const Tensor more = there({1, 1, 1});
  ok(tsr_add_inplace(w, more));
  EXPECT_EQ(numbers(run(program, x))[0], 9);
  ok(tsr_tensor_set_data(w, more));
  EXPECT_EQ(numbers(run(program, x))[0], 4);
}

TEST_F(ProgramOnDevice, P17_runs_of_several_streams_come_one_after_the_other) {
  const Tensor w = there({1, 1, 1});
  const Program program =
      recorded(there({1, 2, 3}), [&](tsr_tensor in, tsr_tensor* y) { function(in, w, y); }, {w});
  tsr_stream streams[2] = {};
  for (tsr_stream& stream : streams) ok(tsr_stream_create(kDevice, 0, &stream));
  for (int round = 0; round < 8; ++round) {
    const Tensor x = there({1.0 + round, 2, 3});
    tsr_stream before = nullptr, last = nullptr;
    ok(tsr_stream_set_current(streams[round % 2], &before));
    const Tensor y = run(program, x);
    EXPECT_EQ(numbers(y), expected(1.0 + round));
    ok(tsr_stream_set_current(before, &last));
    tsr_stream_release(before);
    tsr_stream_release(last);
  }
  EXPECT_EQ(described(program)["plan"]["graph"], true);
  for (const tsr_stream stream : streams) tsr_stream_release(stream);
}

TEST_F(ProgramOnDevice, P17_names_why_it_is_not_captured) {
  const Tensor x = there({1, 2, 3});
  const Program crosses = recorded(x, [](tsr_tensor in, tsr_tensor* y) {
    Tensor here, twice;
    ok(tsr_to(in, TSR_DEVICE_CPU, 0, -1, 1, 0, here.slot()));
    ok(tsr_add(here, here, twice.slot()));
    ok(tsr_to(twice, kDevice, 0, -1, 1, 0, y));
  });
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(numbers(run(crosses, x)), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(described(crosses)["plan"]["graph"], false);
  EXPECT_NE(described(crosses)["plan"]["graph_reason"], "");
  const Program writes = recorded(x, [&](tsr_tensor in, tsr_tensor* y) {
    ok(tsr_add_inplace(in, in));
    ok(tsr_add(in, in, y));
  });
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(numbers(run(writes, there({1, 2, 3}))), (std::vector<double>{4, 8, 12}));
  EXPECT_EQ(described(writes)["plan"]["graph_reason"], "an input is written");
}

TEST_F(ProgramOnDevice, P17_a_training_step_elsewhere_says_that_it_is_not_replayed) {
  const Tensor w = there({1, 1, 1});
  ok(tsr_tensor_set_requires_grad(w, 1));
  const Tensor x = there({1, 2, 3});
  const Program program = recorded(x,
                                   [&](tsr_tensor in, tsr_tensor* y) {
                                     Tensor product, total;
                                     ok(tsr_multiply(in, w, product.slot()));
                                     ok(tsr_sum(product, nullptr, -1, 0, -1, total.slot()));
                                     const tsr_tensor root = total;
                                     ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
                                     ok(tsr_detach(total, y));
                                   },
                                   {w});
  for (int round = 0; round < 4; ++round) EXPECT_EQ(numbers(run(program, x))[0], 6);
  EXPECT_EQ(described(program)["replay"]["reason"], "a tensor is not on the CPU");
  Tensor grad;
  ok(tsr_tensor_grad(w, grad.slot()));
  EXPECT_EQ(numbers(grad), (std::vector<double>{5, 10, 15}));
}

}  // namespace
}  // namespace test_program_device
