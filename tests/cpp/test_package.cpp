// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The library as a whole: threads, memory, the state of a thread, scopes.
#include <cstdint>
#include <limits>
#include <thread>

#include "support.hpp"

namespace test_package {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Package, threads_can_be_limited) {
  const int32_t before = num_threads();
  set_num_threads(1);
  EXPECT_EQ(num_threads(), 1);
  set_num_threads(before);
  EXPECT_THROW(set_num_threads(0), InvalidValueError);
  EXPECT_EQ(device_count(TSR_DEVICE_CPU), 1);
  synchronize();
}

TEST(Package, products_can_be_less_exact) {
  EXPECT_EQ(float32_matmul_precision(), Precision::kHighest);
  set_float32_matmul_precision(Precision::kMedium);
  EXPECT_EQ(float32_matmul_precision(), Precision::kMedium);
  set_float32_matmul_precision(Precision::kHighest);
  EXPECT_THROW(set_float32_matmul_precision(static_cast<Precision>(3)), InvalidValueError);
}

TEST(Package, pinned_memory_wants_a_device_that_reads_it) {
  const Tensor x = ones({3});
  EXPECT_FALSE(x.is_pinned());
  EXPECT_THROW((void)x.pin_memory(Device{}), NotSupportedError);
  if (device_count(TSR_DEVICE_CUDA) == 0) {
    EXPECT_THROW((void)x.pin_memory(), DeviceError);
  }
  // Without pinned memory the flag has no effect.
  Tensor y = x.to(Device{}, std::nullopt, false, true);
  EXPECT_FALSE(y.is_pinned());
  y.copy_(x + x, true);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST(Package, memory_statistics) {
  // More than a segment that tensors of other tests may still use.
  constexpr int64_t kBytes = int64_t{256} << 20;
  reset_peak_memory();
  const int64_t before = memory_stats().allocated_bytes.all.current;
  {
    const Tensor x = empty({kBytes}, kUInt8);
    EXPECT_GE(memory_stats().allocated_bytes.all.current, before + kBytes);
  }
  EXPECT_EQ(memory_stats().allocated_bytes.all.current, before);
  EXPECT_GE(memory_stats().allocated_bytes.all.peak, before + kBytes);
  EXPECT_GT(empty_cache(), 0);
  EXPECT_EQ(trim_memory(std::numeric_limits<int64_t>::max()), 0);
  EXPECT_EQ(memory_snapshot().front(), '{');
}

TEST(Package, memory_limits_and_pressure) {
  empty_cache();
  const int64_t limit = memory_stats().reserved_bytes.all.current + (64 << 20);
  set_memory_limit(limit);
  EXPECT_EQ(memory_limit(), limit);
  Tensor hoard = empty({48 << 20}, kUInt8);
  int calls = 0;
  {
    const MemoryPressureHook hook([&](const MemoryEvent& event) {
      ++calls;
      EXPECT_GE(event.requested, 48 << 20);
      const bool had = hoard.defined();
      hoard = Tensor();
      return had;
    });
    EXPECT_EQ(empty({48 << 20}, kUInt8).nbytes(), 48 << 20);
    EXPECT_GE(calls, 1);
    EXPECT_THROW(empty({int64_t{1} << 30}, kUInt8), OutOfMemoryError);
  }
  const int before = calls;
  EXPECT_THROW(empty({int64_t{1} << 30}, kUInt8), OutOfMemoryError);
  EXPECT_EQ(calls, before) << "the hook is gone";
  set_memory_limit(std::numeric_limits<int64_t>::max());
}

TEST(Package, pressure_hooks_run_above_a_threshold) {
  EXPECT_EQ(pressure_threshold(), std::numeric_limits<int64_t>::max());
  empty_cache();
  int calls = 0;
  const MemoryPressureHook hook([&](const MemoryEvent&) {
    ++calls;
    return false;
  });
  set_pressure_threshold(0);
  EXPECT_EQ(empty({64 << 20}, kUInt8).nbytes(), 64 << 20) << "nothing runs out";
  EXPECT_GE(calls, 1);
  set_pressure_threshold(std::numeric_limits<int64_t>::max());
}

TEST(Package, streams_and_events_of_the_cpu_are_done) {
  const Stream stream = Stream::current();
  EXPECT_EQ(stream.device(), Device::cpu());
  EXPECT_EQ(stream.native(), nullptr);
  const Event event;
  event.record(stream);
  stream.wait(event);
  EXPECT_TRUE(event.is_done() && stream.is_done());
  event.synchronize();
  stream.synchronize();
  stream.record_use(ones({1}));
  const Stream own = Stream::create(Device::cpu());
  {
    const StreamGuard guard(own);
    const Stream copy = Stream::current();
    EXPECT_EQ(ones({2}).sum().item<double>(), 2);
  }
  int foreign = 0;
  EXPECT_THROW(Stream::wrap(Device::cpu(), &foreign), DeviceError);
  EXPECT_THROW(Stream::create(Device::cuda(99)), Error);
}

TEST(Package, what_a_pressure_hook_throws_counts_as_no) {
  empty_cache();
  set_memory_limit(memory_stats().reserved_bytes.all.current + (16 << 20));
  const MemoryPressureHook hook([](const MemoryEvent&) -> bool { throw 1; });
  EXPECT_THROW(empty({64 << 20}, kUInt8), OutOfMemoryError);
  set_memory_limit(std::numeric_limits<int64_t>::max());
}

TEST(Package, tensors_may_be_made_used_and_dropped_in_any_thread) {
  const int64_t before = live_handles();
  {
    const Tensor shared = ones({100});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([copy = shared] {
        for (int round = 0; round < 200; ++round) {
          EXPECT_EQ((copy + copy).sum().item<double>(), 200);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(Package, ambient_state_goes_to_another_thread) {
  const NoGradGuard no_grad;
  const AmbientState state;
  bool inside = true;
  bool after = false;
  std::thread([&] {
    {
      const AmbientGuard guard(state);
      inside = is_grad_enabled();
    }
    after = is_grad_enabled();
  }).join();
  EXPECT_FALSE(inside);
  EXPECT_TRUE(after);
}

TEST(Package, ambient_state_takes_device_and_generator_along) {
  const Generator mine(7);
  const AmbientState state = [&] {
    const DeviceGuard device(Device{});
    const GeneratorGuard generator(mine);
    EXPECT_EQ(Generator::current().handle(), mine.handle());
    return AmbientState();
  }();
  EXPECT_EQ(Generator::current().handle(), Generator::default_generator().handle());
  Tensor there;
  std::thread([&] {
    const AmbientGuard guard(state);
    there = rand({4});
  }).join();
  EXPECT_EQ(numbers(there), numbers(rand({4}, {}, {}, Generator(7))));
  EXPECT_THROW(const DeviceGuard guard(Device{TSR_DEVICE_CPU, 5}), Error);
}

TEST(Package, scopes_release_raw_handles_and_leave_tensors_alone) {
  const int64_t before = live_handles();
  Tensor kept;
  {
    const Scope scope;
    const Tensor a = ones({2});
    {
      const Scope inner;
      kept = a + 1;
    }
    tsr_tensor raw = nullptr;
    check(tsr_exp(a.handle(), &raw));  // the scope releases it
  }
  EXPECT_EQ(numbers(kept), (Numbers{2, 2}));
  EXPECT_EQ(kept.use_count(), 1);
  kept = Tensor();
  EXPECT_EQ(live_handles(), before);
}

TEST(Package, tensors_from_outside_may_end_in_a_scope_that_got_them_too) {
  const int64_t before = live_handles();
  {
    Tensor x = leaf({1, 2});
    x.sum().backward();
    Tensor outside = x.grad();
    Tensor inside;
    {
      const Scope scope;
      inside = x.grad();
      outside = Tensor();
      EXPECT_EQ(inside.use_count(), 2);
    }
    EXPECT_EQ(inside.use_count(), 2);
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(Package, a_scope_stays_with_its_thread) {
  const int64_t before = live_handles();
  Tensor there;
  {
    const Scope scope;
    const AmbientState state;
    std::thread([&] {
      state.restore();
      EXPECT_EQ(detail::t_open_scopes, 0);
      there = ones({2});
    }).join();
    state.restore();
    EXPECT_EQ(detail::t_open_scopes, 1);
  }
  EXPECT_EQ(numbers(there), (Numbers{1, 1}));
  there = Tensor();
  EXPECT_EQ(live_handles(), before);
}

TEST(Package, callbacks_inside_scopes_leave_nothing_behind) {
  const int64_t before = live_handles();
  {
    const Scope scope;
    Tensor x = leaf({1, 2});
    x.register_hook([](const Tensor& gradient) { return gradient * 2; });
    const Tensor y = apply_function(
        "Twice", {x},
        [](FunctionContext&, const std::vector<Tensor>& inputs) {
          return std::vector<Tensor>{inputs[0] * 2};
        },
        [](FunctionContext&, const std::vector<Tensor>& gradients) {
          return std::vector<Tensor>{gradients[0] * 2};
        })[0];
    y.sum().backward();
    expect_near(x.grad(), {4, 4});
    EXPECT_EQ(detail::t_open_scopes, 1);
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(Package, failures_in_a_scope_leave_nothing_behind) {
  const int64_t before = live_handles();
  try {
    const Scope scope;
    const Tensor x = ones({2});
    static_cast<void>(x.reshape({3}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError&) {
  }
  EXPECT_EQ(live_handles(), before);
  EXPECT_EQ(detail::t_open_scopes, 0);
}

}  // namespace
}  // namespace test_package
