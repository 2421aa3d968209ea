// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Control and data: the host queues operations and goes on, the device computes later. On the
// simulated device, whose clock moves only when somebody waits, and whose kernels write at their
// end.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/tensor_grad.h"
#include "kernel/registry.h"
#include "memory/allocator.h"
#include "memory/stream.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "profile/timelines.h"
#include "support/simulated_device.h"
#include "support/start_up.h"

extern "C" const tsr::kernel::Backend* tsr_backend_entry(const tsr::kernel::HostServices* services);

namespace tsr::test_delayed_device {
namespace {

constexpr uint64_t kLong = 1000;  // the duration of each kernel
constexpr int kSteps = 20;
constexpr int64_t kNumel = 8;

Tensor full(double value) {
  return ops::full(std::array{kNumel}, value, DType::kFloat32, sim::device());
}

class DelayedDevice : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kernel::register_backend(tsr_backend_entry); }
  void SetUp() override {
    testing::start_up();
    sim::delay_effects(true);
    sim::set_kernel_time(nullptr, kLong);
  }
  void TearDown() override {
    sim::delay_effects(false);
    sim::set_kernel_time(nullptr, sim::kKernelTime);
  }

  static void wait() { synchronize_device(sim::device(), interface_of(sim::device())); }
  // What the memory holds now, without waiting.
  static float peek(const Tensor& x) { return *x.data_as<float>(); }
  static float read(const Tensor& x) {
    return *ops::to(x, Device{}, std::nullopt).data_as<float>();
  }
};

// Calls of the device by which the host waits, or may.
int64_t waits(const sim::Calls& calls) {
  return calls.stream_synchronize + calls.event_synchronize;
}
int64_t requests_for_memory(const sim::Calls& calls) {
  return calls.raw_allocate + calls.raw_free + calls.host_allocate + calls.map + calls.unmap;
}

// A linear model without noise, fitted by gradient descent: w goes to 3.
struct Training {
  Tensor x, negative_target, w;

  Tensor step() const {
    const Tensor difference = ops::add(ops::multiply(x, w), negative_target);
    const Tensor loss = ops::sum(ops::multiply(difference, difference));
    backward(std::array{loss});
    const NoGrad no_grad;
    ops::add(w, ops::multiply(grad_of(w), -0.25), ops::Out::inplace(w));
    set_grad(w, Tensor());
    return detach(loss);
  }
};

Training make_training() {
  Training training{full(1), full(-3), full(1)};
  set_requires_grad(training.w, true);
  return training;
}

TEST_F(DelayedDevice, R1_a_chain_is_queued_before_its_first_operation_has_run) {
  constexpr int kLength = 100;
  const Tensor x = full(1);
  wait();
  const uint64_t begin = sim::now();
  const int64_t waits_before = waits(sim::calls());
  for (int i = 0; i < kLength; ++i) {
    ops::multiply(x, 0.5, ops::Out::inplace(x));
    ops::add(x, 1, ops::Out::inplace(x));
  }
  EXPECT_EQ(sim::now(), begin);
  EXPECT_EQ(waits(sim::calls()), waits_before);
  EXPECT_EQ(peek(x), 1);
  EXPECT_EQ(read(x), 2);  // in another order the limit of the chain would be 1
  EXPECT_EQ(sim::now(), begin + 2 * kLength * kLong);
}

TEST_F(DelayedDevice, R1_a_backward_and_an_update_are_queued_too) {
  const Training training = make_training();
  wait();
  const uint64_t begin = sim::now();
  const int64_t waits_before = waits(sim::calls());
  const Tensor loss = training.step();
  EXPECT_EQ(sim::now(), begin);
  EXPECT_EQ(waits(sim::calls()), waits_before);
  EXPECT_EQ(peek(training.w), 1);
  EXPECT_EQ(read(loss), 32);       // 8 * 2 * 2
  EXPECT_EQ(read(training.w), 2);  // 1 + 0.25 * 2 * 2
}

// The work of a stream without a gap is busy all the time. What makes gaps is a host that waits, or
// that asks the device for memory.
TEST_F(DelayedDevice, R12_training_keeps_the_stream_busy) {
  const Training training = make_training();
  for (int i = 0; i < 2; ++i) training.step();
  wait();
  profile::start_timelines();
  static_cast<void>(profile::take_activities());
  const sim::Calls before = sim::calls();
  const uint64_t begin = sim::now();
  for (int i = 0; i < kSteps; ++i) training.step();
  const sim::Calls after = sim::calls();
  EXPECT_EQ(waits(after), waits(before));
  EXPECT_EQ(requests_for_memory(after), requests_for_memory(before));
  EXPECT_EQ(sim::now(), begin);

  const std::vector<profile::Activity> work = profile::take_activities();
  profile::stop_timelines();
  ASSERT_GE(work.size(), size_t{kSteps} * 8);
  EXPECT_EQ(sim::now() - begin, work.size() * kLong);
  int64_t busy = 0;
  for (const profile::Activity& each : work) busy += each.end - each.begin;
  const auto whole = static_cast<double>(work.back().end - work.front().begin);
  EXPECT_GT(static_cast<double>(busy), 0.95 * whole);
  EXPECT_NEAR(read(training.w), 3, 1e-4);
}

// The counters of the test above do see a program that waits in every step.
TEST_F(DelayedDevice, R12_reading_a_loss_waits_once) {
  const Training training = make_training();
  training.step();
  const int64_t before = waits(sim::calls());
  for (int i = 0; i < kSteps; ++i) read(training.step());
  EXPECT_EQ(waits(sim::calls()) - before, kSteps);
}

}  // namespace
}  // namespace tsr::test_delayed_device
