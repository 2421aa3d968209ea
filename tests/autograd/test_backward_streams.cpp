// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Backward on streams, on the simulated device: kernels take effect at their end, and each test
// slows down the stream whose work must be waited for. Without the event the number is wrong.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "autograd/backward_streams.h"
#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/hooks.h"
#include "autograd/tensor_grad.h"
#include "kernel/registry.h"
#include "memory/allocator.h"
#include "memory/stream.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/slice.h"
#include "support/simulated_device.h"
#include "support/start_up.h"

extern "C" const tsr::kernel::Backend* tsr_backend_entry(const tsr::kernel::HostServices* services);

namespace tsr::test_backward_streams {
namespace {

constexpr int64_t kNumel = 8;
constexpr uint64_t kSlow = 1000;
using Values = std::vector<float>;

class Streams : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kernel::register_backend(tsr_backend_entry); }
  void SetUp() override {
    testing::start_up();
    sim::delay_effects(true);
    for (StreamPtr* stream : {&a_, &b_, &c_}) *stream = Stream::create(sim::device(), device());
  }
  void TearDown() override {
    EXPECT_TRUE(on_default_streams());
    sim::delay_effects(false);
    for (const StreamHandle stream : {StreamHandle(), a_->native(), b_->native(), c_->native()}) {
      sim::set_kernel_time(stream, sim::kKernelTime);
    }
  }

  using StreamPtr = IntrusivePtr<Stream>;
  static const DeviceInterface& device() { return interface_of(sim::device()); }

  // Makes the stream current for a scope.
  struct On : CurrentStreams {
    explicit On(StreamPtr stream)
        : CurrentStreams(StreamSet::with(current_streams().get(), std::move(stream))) {}
  };
  static void slow(const StreamPtr& stream) { sim::set_kernel_time(stream->native(), kSlow); }
  static void slow_default() { sim::set_kernel_time(nullptr, kSlow); }
  // Ends the forward: all streams are idle, and only the backward's order counts. Free memory gets
  // values that no test expects, so that reading too early is noticed. For the same reason no value
  // of a forward is a gradient.
  void settle() {
    for (const StreamPtr& stream : {StreamPtr(), a_, b_, c_}) {
      const CurrentStreams current(stream ? StreamSet::with(nullptr, stream) : nullptr);
      for (int32_t index = 0; index < (stream ? 1 : 2); ++index) {
        std::vector<Tensor> spoilt;
        for (int i = 0; i < 8; ++i) spoilt.push_back(full(-1e6 - i, index));
      }
    }
    for (int32_t index = 0; index < 2; ++index)
      synchronize_device(sim::device(index), interface_of(sim::device(index)));
  }

  static Tensor full(double value, int32_t index = 0) {
    return ops::full(std::array{kNumel}, value, DType::kFloat32, sim::device(index));
  }
  static Tensor leaf(double value, int32_t index = 0) {
    Tensor made = full(value, index);
    set_requires_grad(made, true);
    return made;
  }
  static Tensor times(const Tensor& x, double factor) { return ops::multiply(x, factor); }
  // Reads on the current stream, which waits for its own work only.
  static Values read(const Tensor& x) {
    const Tensor host = ops::to(x, Device{}, std::nullopt);
    const float* first = host.data_as<float>();
    return {first, first + host.numel()};
  }
  // Takes all free memory of the stream, and writes to it.
  static void overwrite(const StreamPtr& stream) {
    const On current(stream);
    std::vector<Tensor> taken;
    for (int i = 0; i < 64; ++i) taken.push_back(full(77));
  }
  static Values all(float value) { return Values(kNumel, value); }

  StreamPtr a_, b_, c_;
};

// ---- The order of a backward: each test fails without the event that its name tells ----

TEST_F(Streams, E21_caller_waits_for_what_was_stored_before_an_error) {
  const Tensor x = leaf(7);
  Tensor m;
  Tensor y;
  {
    const On on(a_);
    m = times(x, 2);
    y = times(m, 3);
  }
  retain_grad(m);
  add_pre_hook(*grad_fn(m), [](std::span<Tensor>) { throw std::runtime_error("stop"); });
  const Tensor one = full(1);
  settle();
  slow(a_);
  EXPECT_THROW(backward(std::array{y}, std::array{one}), std::runtime_error);
  EXPECT_EQ(read(grad_of(m)), all(3));
}

TEST_F(Streams, E21_stream_of_a_node_waits_for_the_caller) {
  const Tensor x = leaf(7);
  Tensor y;
  {
    const On current(a_);
    y = times(x, 2);
  }
  settle();
  slow_default();
  const Tensor given = times(full(1), 3);
  EXPECT_EQ(read(grad(std::array{y}, std::array{x}, std::array{given})[0]), all(6));
}

TEST_F(Streams, E15_node_runs_on_the_stream_of_its_forward) {
  const Tensor x = leaf(7);
  Tensor y;
  StreamHandle ran = nullptr;
  {
    const On current(a_);
    y = times(times(x, 2), 2);
    add_tensor_hook(y, [&](const Tensor&) {
      ran = current_stream(sim::device());
      return Tensor();
    });
  }
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(ran, a_->native());
  EXPECT_TRUE(on_default_streams());
  EXPECT_EQ(read(grad_of(x)), all(4));
}

// The producer is slow, so the consumer must wait for its event.
TEST_F(Streams, E14_consumer_waits_for_the_producer) {
  const Tensor x = leaf(7);
  Tensor y, z;
  {
    const On current(a_);
    y = times(x, 2);
  }
  settle();
  {
    const On current(b_);
    z = times(y, 3);
  }
  settle();
  slow(b_);
  EXPECT_EQ(read(grad(std::array{z}, std::array{x}, std::array{full(1)})[0]), all(6));
}

TEST_F(Streams, E21_accumulation_on_the_callers_stream_waits_for_the_producer) {
  const Tensor x = leaf(7);
  Tensor y;
  {
    const On current(a_);
    y = times(x, 2);
  }
  set_grad(x, full(100));
  settle();
  slow(a_);
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(read(grad_of(x)), all(102));
}

TEST_F(Streams, E21_caller_waits_at_the_end_for_all_streams) {
  const Tensor x = leaf(7);
  Tensor y, z;
  {
    const On current(a_);
    y = times(x, 2);
    z = times(y, 3);
  }
  settle();
  slow(a_);
  EXPECT_EQ(read(grad(std::array{z}, std::array{y}, std::array{full(1)})[0]), all(3));
}

TEST_F(Streams, E21_what_a_hook_keeps_can_be_read_after_the_backward) {
  const Tensor x = leaf(7);
  Tensor z, kept;
  {
    const On current(a_);
    const Tensor y = times(x, 2);
    z = times(y, 3);
    add_tensor_hook(y, [&](const Tensor& grad) {
      kept = times(grad, 5);
      return Tensor();
    });
  }
  settle();
  slow(a_);
  backward(std::array{z}, std::array{full(1)});
  EXPECT_EQ(read(kept), all(15));
}

// Two gradients of one tensor come from the streams a and b and are added on c, where the tensor
// was made.
class TwoProducers : public Streams {
 protected:
  void build() {
    {
      const On current(c_);
      joint_ = times(x_, 1);
    }
    settle();
    Tensor left, right;
    {
      const On current(a_);
      left = times(joint_, 2);
    }
    {
      const On current(b_);
      right = times(joint_, 3);
    }
    settle();
    sum_ = ops::add(left, right);
    left.reset();
    right.reset();
    settle();
  }
  Values gradient() { return read(grad(std::array{sum_}, std::array{x_}, std::array{full(1)})[0]); }

  Tensor x_ = leaf(7);
  Tensor joint_, sum_;
};

TEST_F(TwoProducers, E14_sum_waits_for_the_gradient_that_came_first) {
  build();
  slow(b_);
  EXPECT_EQ(gradient(), all(5));
}

TEST_F(TwoProducers, E14_sum_waits_for_the_gradient_that_came_last) {
  build();
  slow(a_);
  EXPECT_EQ(gradient(), all(5));
}

TEST_F(TwoProducers, E14_sum_is_made_on_the_stream_of_the_consumer) {
  build();
  slow(c_);
  StreamHandle ran = nullptr;
  add_tensor_hook(joint_, [&](const Tensor&) {
    ran = current_stream(sim::device());
    return Tensor();
  });
  EXPECT_EQ(gradient(), all(5));
  EXPECT_EQ(ran, c_->native());
}

// The first gradient of `joint` is also read on a; nobody but the sum has it when the second comes.
TEST_F(Streams, E14_gradient_that_another_stream_still_reads_is_not_added_to) {
  const Tensor x = leaf(7);
  const Tensor w = leaf(7);
  Tensor joint, second, other, y;
  {
    const On current(b_);
    joint = times(x, 1);
    second = times(joint, 3);
  }
  {
    const On current(a_);
    other = times(w, 2);
  }
  settle();
  {
    const On current(b_);
    const Tensor first = ops::add(other, joint);
    y = times(ops::add(first, second), 2);
  }
  settle();
  slow(a_);
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(read(grad_of(w)), all(4));
  EXPECT_EQ(read(grad_of(x)), all(8));
}

TEST_F(Streams, E14_roots_that_share_a_node_are_added_on_its_stream) {
  const Tensor x = leaf(7);
  Tensor y;
  {
    const On current(a_);
    y = times(x, 2);
  }
  settle();
  slow_default();
  const Tensor first = times(full(1), 3);
  const Tensor second = times(full(1), 4);
  EXPECT_EQ(read(grad(std::array{y, y}, std::array{x}, std::array{first, second})[0]), all(14));
}

TEST_F(Streams, E24_threads_on_streams_of_their_own_add_up_in_a_shared_leaf) {
  const Tensor x = leaf(7);
  std::array<Tensor, 2> y;
  const std::array streams{a_, b_};
  for (size_t i = 0; i < 2; ++i) {
    const On current(streams[i]);
    y[i] = times(x, 2);
  }
  settle();
  slow(a_);
  for (size_t i = 0; i < 2; ++i) {
    std::thread([&] {
      const On current(streams[i]);
      backward(std::array{y[i]}, std::array{full(1)});
    }).join();
  }
  const On current(b_);
  EXPECT_EQ(read(grad_of(x)), all(4));
}

TEST_F(Streams, R6_gradient_that_another_thread_accumulated_into_is_not_overwritten) {
  const Tensor x = leaf(7);
  std::array<Tensor, 2> y;
  const std::array streams{a_, b_};
  for (size_t i = 0; i < 2; ++i) {
    const On current(streams[i]);
    y[i] = times(x, 2);
  }
  settle();
  slow(b_);
  for (size_t i = 0; i < 2; ++i) {
    std::thread([&] {
      const On current(streams[i]);
      backward(std::array{y[i]}, std::array{full(1)});
    }).join();
  }
  const On current(b_);
  const Tensor used = times(grad_of(x), 2);
  set_grad(x, Tensor());
  overwrite(a_);
  EXPECT_EQ(read(used), all(8));
}

// ---- Memory: what another stream still uses is not lent again ----

TEST_F(Streams, R6_gradient_used_on_another_stream_is_not_overwritten) {
  const Tensor x = leaf(7);
  Tensor y, z;
  {
    const On current(a_);
    y = times(x, 2);
  }
  settle();
  {
    const On current(b_);
    z = times(y, 3);
  }
  settle();
  slow(a_);
  const Tensor found = grad(std::array{z}, std::array{x}, std::array{full(1)})[0];
  overwrite(b_);
  EXPECT_EQ(read(found), all(6));
}

TEST_F(TwoProducers, R6_gradients_added_on_another_stream_are_not_overwritten) {
  build();
  slow(c_);
  const Tensor found = grad(std::array{sum_}, std::array{x_}, std::array{full(1)})[0];
  for (const StreamPtr& stream : {a_, b_}) overwrite(stream);
  EXPECT_EQ(read(found), all(5));
}

TEST_F(Streams, R6_captured_gradient_may_be_used_on_the_callers_stream) {
  const Tensor x = leaf(7);
  Tensor y, z;
  {
    const On current(a_);
    y = times(x, 2);
    z = times(y, 3);
  }
  settle();
  slow_default();
  const Tensor used = times(grad(std::array{z}, std::array{y}, std::array{full(1)})[0], 2);
  overwrite(a_);
  EXPECT_EQ(read(used), all(6));
}

TEST_F(Streams, R6_retained_gradient_may_be_used_on_the_callers_stream) {
  const Tensor x = leaf(7);
  Tensor y, z;
  {
    const On current(a_);
    y = times(x, 2);
    z = times(y, 3);
  }
  retain_grad(y);
  settle();
  slow_default();
  backward(std::array{z}, std::array{full(1)});
  const Tensor used = times(grad_of(y), 2);
  y.reset();
  z.reset();
  overwrite(a_);
  EXPECT_EQ(read(used), all(6));
}

TEST_F(Streams, R6_saved_tensor_of_another_stream_is_not_overwritten) {
  const Tensor x = leaf(7);
  Tensor y;
  {
    Tensor factor;
    {
      const On current(b_);
      factor = full(5);
    }
    settle();
    const On current(a_);
    y = ops::multiply(x, factor);
  }
  settle();
  slow(a_);
  const Tensor found = grad(std::array{y}, std::array{x}, std::array{full(1)})[0];
  overwrite(b_);
  EXPECT_EQ(read(found), all(5));
}

TEST_F(Streams, R6_saved_tensor_of_a_write_through_a_view_is_not_overwritten) {
  const Tensor x = leaf(7);
  Tensor base;
  {
    Tensor factor;
    {
      const On current(b_);
      factor = full(5);
    }
    settle();
    const On current(a_);
    base = times(x, 1);
    const Tensor view = ops::narrow(base, 0, 0, kNumel);
    ops::multiply(view, factor, ops::Out::inplace(view));
  }
  settle();
  slow(a_);
  const Tensor found = grad(std::array{base}, std::array{x}, std::array{full(1)})[0];
  overwrite(b_);
  EXPECT_EQ(read(found), all(5));
}

// ---- Any graph on any streams ----

// Sums and products of whole numbers, which are exact in every order.
class RandomStreams : public Streams {
 protected:
  struct Step {
    size_t left, right;  // earlier values; the first kLeaves are the leaves
    size_t kind;
    size_t stream;  // 0: the default stream
  };
  static constexpr size_t kLeaves = 3;
  static constexpr size_t kSteps = 10;

  static std::vector<Step> program(std::mt19937& random) {
    std::vector<Step> steps;
    for (size_t i = 0; i < kSteps; ++i) {
      const size_t known = kLeaves + i;
      // Mostly recent values, so that most steps matter.
      const size_t left = random() % 2 == 0 ? known - 1 : random() % known;
      steps.push_back({left, random() % known, random() % 3, random() % 4});
    }
    return steps;
  }

  // Work of the current stream may read the tensor, which another stream made.
  void bring(const Tensor& value, size_t from, size_t to) {
    if (from == to) return;
    wait_for(streams_[to], streams_[from], sim::device());
    record_current_stream(*value.storage());
  }

  // The gradients of the leaves, read on the stream of the caller.
  std::vector<Values> run(const std::vector<Step>& steps, bool on_streams, size_t caller) {
    streams_ = {nullptr, a_, b_, c_};
    std::vector<Tensor> values;
    std::vector<size_t> made_on(kLeaves, 0);
    for (size_t i = 0; i < kLeaves; ++i) values.push_back(leaf(2));
    settle();
    for (const Step& step : steps) {
      const size_t place = on_streams ? step.stream : 0;
      const CurrentStreams current(place == 0 ? nullptr
                                              : StreamSet::with(nullptr, streams_[place]));
      for (const size_t input : {step.left, step.right}) {
        bring(values[input], made_on[input], place);
      }
      const Tensor& left = values[step.left];
      values.push_back(step.kind == 0   ? ops::add(left, values[step.right])
                       : step.kind == 1 ? times(left, 2)
                                        : ops::multiply(left, values[step.right % kLeaves]));
      if (step.kind == 2) record_current_stream(*values[step.right % kLeaves].storage());
      made_on.push_back(place);
    }
    const std::vector<Tensor> leaves(values.begin(), values.begin() + kLeaves);
    const std::vector<Tensor> roots = {values[kLeaves + kSteps - 1], values[kLeaves + kSteps - 2]};
    values.clear();
    const CurrentStreams current(caller == 0 ? nullptr
                                             : StreamSet::with(nullptr, streams_[caller]));
    if (caller != 0) wait_for(streams_[caller], nullptr, sim::device());
    for (int round = 0; round < 2; ++round) {
      backward(roots, std::array{full(1), full(3)}, {.retain_graph = round == 0});
    }
    std::vector<Values> found;
    for (const Tensor& leaf : leaves) {
      found.push_back(grad_of(leaf).defined() ? read(grad_of(leaf)) : Values());
    }
    return found;
  }

  std::array<StreamPtr, 4> streams_;
};

TEST_F(RandomStreams, E14_E21_gradients_do_not_depend_on_streams_and_their_speed) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Step> steps = program(random);
    settle();
    const std::vector<Values> wanted = run(steps, false, 0);
    settle();
    for (const StreamHandle stream : {StreamHandle(), a_->native(), b_->native(), c_->native()}) {
      sim::set_kernel_time(stream, random() % 3 == 0 ? 1 + random() % kSlow : 1 + random() % 10);
    }
    EXPECT_EQ(run(steps, true, random() % 4), wanted) << "seed " << seed;
    settle();
  }
}

// ---- The caller's state (E12) ----

TEST_F(Streams, E12_streams_of_the_caller_are_taken_at_the_call) {
  const Tensor x = leaf(7);
  const Tensor y = times(times(x, 2), 3);
  std::vector<StreamHandle> seen;
  add_tensor_hook(y, [&](const Tensor&) {
    seen.push_back(current_stream(sim::device()));
    set_current_stream(c_);  // and does not set it back
    return Tensor();
  });
  add_tensor_hook(x, [&](const Tensor&) {
    seen.push_back(current_stream(sim::device()));
    return Tensor();
  });
  const On current(b_);
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(seen, (std::vector<StreamHandle>{nullptr, b_->native()}));
  EXPECT_EQ(current_stream(sim::device()), b_->native());
}

TEST_F(Streams, E12_streams_and_modes_of_the_caller_come_back_after_an_error) {
  const Tensor x = leaf(7);
  Tensor y;
  {
    const On current(a_);
    y = times(x, 2);
  }
  add_tensor_hook(y, [](const Tensor&) -> Tensor { throw std::runtime_error("stop"); });
  const On current(b_);
  EXPECT_THROW(backward(std::array{y}, std::array{full(1)}), std::runtime_error);
  EXPECT_EQ(current_stream(sim::device()), b_->native());
  EXPECT_TRUE(grad_enabled());
}

TEST_F(Streams, E12_final_callbacks_run_on_the_streams_of_the_caller_after_all_work) {
  const Tensor x = leaf(7);
  Tensor y, kept;
  Values found;
  {
    const On current(a_);
    y = times(x, 2);
    add_tensor_hook(y, [&](const Tensor& grad) {
      kept = times(grad, 5);
      queue_callback([&] {
        EXPECT_TRUE(on_default_streams());
        found = read(kept);
      });
      return Tensor();
    });
  }
  settle();
  slow(a_);
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(found, all(5));
}

// ---- Several devices ----

TEST_F(Streams, E15_mixed_graph_of_cpu_and_device_runs_each_node_where_its_forward_ran) {
  Tensor x = ops::full(std::array{kNumel}, 1.0, DType::kFloat32, Device{});
  set_requires_grad(x, true);
  Tensor loss;
  {
    const On current(a_);
    const Tensor there = ops::to(x, sim::device(), std::nullopt);
    const Tensor back = ops::to(times(there, 3), Device{}, std::nullopt);
    loss = ops::sum(times(back, 2));
  }
  settle();
  slow(a_);
  backward(std::array{loss});
  EXPECT_TRUE(grad_of(x).device().is_cpu());
  EXPECT_EQ(read(grad_of(x)), all(6));
}

TEST_F(Streams, E8_gradient_of_a_copy_lands_on_the_source_device) {
  const Tensor x = leaf(7, 0);
  const Tensor y = times(ops::to(x, sim::device(1), std::nullopt), 3);
  settle();
  sim::set_kernel_time(nullptr, kSlow, 1);
  backward(std::array{y}, std::array{full(1, 1)});
  EXPECT_EQ(grad_of(x).device(), sim::device(0));
  EXPECT_EQ(read(grad_of(x)), all(3));
  sim::set_kernel_time(nullptr, sim::kKernelTime, 1);
}

TEST_F(Streams, E8_gradient_of_a_copy_into_another_device_lands_on_the_source_device) {
  for (const Device home : {Device{}, sim::device(0)}) {
    Tensor x = ops::full(std::array<int64_t, 1>{1}, 1.0, DType::kFloat32, home);
    set_requires_grad(x, true);
    const Tensor place = times(full(5, 1), 1);
    ops::copy_(place, x);
    backward(std::array{times(place, 3)}, std::array{full(1, 1)});
    EXPECT_EQ(grad_of(x).device(), home);
    EXPECT_EQ(read(grad_of(x)), Values{3 * kNumel});
  }
}

TEST_F(Streams, E8_copy_between_devices_keeps_the_streams_of_both) {
  const IntrusivePtr<Stream> far = Stream::create(sim::device(1), device());
  const Tensor x = leaf(7, 0);
  Tensor y;
  {
    const On first(a_);
    const On second(far);
    y = times(ops::to(times(x, 2), sim::device(1), std::nullopt), 3);
  }
  settle();
  sim::set_kernel_time(far->native(), kSlow, 1);
  slow(a_);
  EXPECT_EQ(read(grad(std::array{y}, std::array{x}, std::array{full(1, 1)})[0]), all(6));
  sim::set_kernel_time(far->native(), sim::kKernelTime, 1);
}

// ---- More ----

TEST_F(Streams, E21_second_derivative_on_streams) {
  const Tensor x = leaf(2);
  Tensor y;
  {
    const On current(a_);
    y = ops::multiply(ops::multiply(x, x), x);
  }
  settle();
  slow(a_);
  const Tensor first =
      grad(std::array{y}, std::array{x}, std::array{full(1)}, {.create_graph = true})[0];
  slow_default();
  EXPECT_EQ(read(grad(std::array{first}, std::array{x}, std::array{full(1)})[0]), all(12));
}

TEST_F(Streams, E17_nested_backward_returns_to_the_stream_of_its_node) {
  const Tensor x = leaf(7);
  const Tensor inner = leaf(7);
  Tensor y;
  {
    const On current(a_);
    y = times(x, 2);
    add_tensor_hook(y, [&](const Tensor& grad_of_y) {
      Tensor other;
      {
        const EnableGrad record;
        const On there(b_);
        b_->wait(*[&] {
          auto event = Event::create(sim::device(), device());
          event->record(*a_);
          return event;
        }());
        other = times(inner, 4);
      }
      slow(b_);
      const Tensor found = grad(std::array{other}, std::array{inner}, std::array{grad_of_y})[0];
      EXPECT_EQ(current_stream(sim::device()), a_->native());
      return found;
    });
  }
  settle();
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(read(grad_of(x)), all(8));
}

TEST_F(Streams, E21_default_streams_need_no_event) {
  const Tensor x = leaf(7);
  const Tensor y = times(times(x, 2), 3);
  const int64_t before = sim::calls().event_record;
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(sim::calls().event_record, before);
}

TEST_F(Streams, E21_one_stream_of_the_caller_needs_one_event) {
  const On current(a_);
  const Tensor x = leaf(7);
  Tensor y = x;
  for (int i = 0; i < 10; ++i) y = ops::add(times(y, 2), y);
  const int64_t before = sim::calls().event_record;
  backward(std::array{y}, std::array{full(1)});
  EXPECT_EQ(sim::calls().event_record, before + 1);
}

TEST_F(Streams, E15_node_of_the_cpu_keeps_no_stream) {
  const On current(a_);
  Tensor x = ops::full(std::array{kNumel}, 1.0, DType::kFloat32, Device{});
  set_requires_grad(x, true);
  EXPECT_EQ(grad_fn(times(x, 2))->streams(), nullptr);
  EXPECT_FALSE(nodes_on_streams());
  const Tensor there = ops::to(x, sim::device(), std::nullopt);
  EXPECT_NE(grad_fn(there)->streams(), nullptr);
  EXPECT_NE(grad_fn(ops::to(there, Device{}, std::nullopt))->streams(), nullptr);
  EXPECT_TRUE(nodes_on_streams());
}

}  // namespace
}  // namespace tsr::test_backward_streams
