// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Streams and events over C, on the simulated device: its kernels keep their stream busy until
// somebody waits for it.
#include <array>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "capi/abi_support.h"
#include "capi/dlpack.h"
#include "capi/example_support.h"
#include "support/places.h"

namespace test_stream {

using namespace tsr::test;

namespace {

constexpr tsr_device_type kDevice = TSR_DEVICE_SIMULATED;

// Owns one reference; `release` is the release function of the kind.
template <class Handle, void (*release)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { release(handle_); }
  operator Handle() const { return handle_; }
  Handle* slot() {
    release(handle_);
    handle_ = nullptr;
    return &handle_;
  }

 private:
  Handle handle_ = nullptr;
};
using Stream = Owned<tsr_stream, tsr_stream_release>;
using Event = Owned<tsr_event, tsr_event_release>;
using Ambient = Owned<tsr_ambient, tsr_ambient_release>;

void* native(tsr_stream stream) {
  void* found = nullptr;
  ok(tsr_stream_native(stream, &found));
  return found;
}

bool done(tsr_stream stream) {
  int32_t value = -1;
  ok(tsr_stream_query(stream, &value));
  return value == 1;
}

bool done(tsr_event event) {
  int32_t value = -1;
  ok(tsr_event_query(event, &value));
  return value == 1;
}

void* data(tsr_tensor tensor) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  return info.data;
}

// Makes the stream current for a scope.
class Current {
 public:
  explicit Current(tsr_stream stream) { ok(tsr_stream_set_current(stream, previous_.slot())); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    Stream between;
    ok(tsr_stream_set_current(previous_, between.slot()));
  }

 private:
  Stream previous_;
};

class SimulatedStream : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ok(tsr_plugin_load(tsr::testing::simulated_backend().c_str(), -1));
  }
  SimulatedStream() {
    ok(tsr_device_synchronize(kDevice, 0));
    ok(tsr_stream_create(kDevice, 0, a_.slot()));
    ok(tsr_stream_create(kDevice, 0, b_.slot()));
  }
  // Queues work on the current stream: one kernel.
  static void work(tsr_tensor* out, int64_t numel = 64) {
    ok(tsr_ones(&numel, 1, TSR_FLOAT32, kDevice, 0, out));
  }

  Stream a_, b_;
};

TEST_F(SimulatedStream, streams_are_different_and_say_where_they_are) {
  EXPECT_NE(native(a_), nullptr);
  EXPECT_NE(native(a_), native(b_));
  tsr_device_type type = 0;
  int32_t index = -1;
  ok(tsr_stream_device(a_, &type, &index));
  EXPECT_EQ(type, kDevice);
  EXPECT_EQ(index, 0);
}

TEST_F(SimulatedStream, goes_to_another_thread_with_the_default_device_of_its_task) {
  Ambient ambient;
  {
    const Current current(a_);
    tsr_device_type type = 0;
    int32_t index = -1;
    ok(tsr_device_set_default(kDevice, 0, &type, &index));
    ok(tsr_ambient_save(ambient.slot()));
    ok(tsr_device_set_default(type, index, &type, &index));
    EXPECT_EQ(type, kDevice);
  }
  std::thread([&] {
    ok(tsr_ambient_restore(ambient));
    const int64_t numel = 64;
    Tensor made;
    ok(tsr_ones(&numel, 1, TSR_FLOAT32, -1, -1, made.slot()));
    tsr_info info = {};
    info.struct_size = sizeof(info);
    ok(tsr_tensor_info(made, &info));
    EXPECT_EQ(info.device_type, kDevice);
    EXPECT_FALSE(done(a_));
  }).join();
  EXPECT_TRUE(done(b_));
  ok(tsr_stream_synchronize(a_));
}

TEST_F(SimulatedStream, R2_R3_work_goes_to_the_current_stream_of_the_thread) {
  Stream standard;
  ok(tsr_stream_current(kDevice, 0, standard.slot()));
  EXPECT_EQ(native(standard), nullptr);
  Tensor x, y;
  {
    const Current current(a_);
    Stream now;
    ok(tsr_stream_current(kDevice, 0, now.slot()));
    EXPECT_EQ(static_cast<tsr_stream>(now), static_cast<tsr_stream>(a_));
    work(x.slot());
    EXPECT_FALSE(done(a_));
    EXPECT_TRUE(done(b_));
    EXPECT_TRUE(done(standard));
    std::thread([&] {
      work(y.slot());  // another thread is on its own default stream
    }).join();
    EXPECT_FALSE(done(standard));
  }
  ok(tsr_stream_synchronize(a_));
  EXPECT_TRUE(done(a_));
}

TEST_F(SimulatedStream, device_synchronize_waits_for_all_of_them) {
  Tensor x, y;
  {
    const Current current(a_);
    work(x.slot());
  }
  {
    const Current current(b_);
    work(y.slot());
    work(y.slot());
  }
  ok(tsr_device_synchronize(kDevice, 0));
  EXPECT_TRUE(done(a_));
  EXPECT_TRUE(done(b_));
}

TEST_F(SimulatedStream, R2_copy_to_the_host_waits_for_the_work_before_it) {
  const Current current(a_);
  Tensor x, y, back;
  work(x.slot());
  ok(tsr_exp(x, y.slot()));
  ok(tsr_to(y, TSR_DEVICE_CPU, 0, -1, 0, 0, back.slot()));
  EXPECT_TRUE(done(a_));
  EXPECT_NEAR(item(back, 63), 2.718281828, 1e-6);
}

TEST_F(SimulatedStream, R3_event_is_done_when_the_work_before_it_is) {
  Event event;
  ok(tsr_event_create(kDevice, 0, event.slot()));
  EXPECT_TRUE(done(event)) << "marks nothing yet";
  void* mark = nullptr;
  ok(tsr_event_native(event, &mark));
  EXPECT_NE(mark, nullptr);
  const Current current(a_);
  Tensor x, y;
  work(x.slot());
  ok(tsr_event_record(event, a_));
  work(y.slot());
  EXPECT_FALSE(done(event));
  ok(tsr_event_synchronize(event));
  EXPECT_TRUE(done(event));
  EXPECT_FALSE(done(a_)) << "what came after the event goes on";
}

TEST_F(SimulatedStream, R3_stream_waits_for_an_event_of_another) {
  Event event;
  ok(tsr_event_create(kDevice, 0, event.slot()));
  Tensor x;
  {
    const Current current(a_);
    work(x.slot());
    ok(tsr_event_record(event, a_));
  }
  EXPECT_TRUE(done(b_));
  ok(tsr_stream_wait_event(b_, event));
  EXPECT_FALSE(done(b_));
  ok(tsr_stream_synchronize(b_));
  EXPECT_TRUE(done(event)) << "waiting for the second was waiting for the first";
}

TEST_F(SimulatedStream, memory_belongs_to_the_stream_it_was_made_on) {
  Tensor of_a;
  void* address = nullptr;
  {
    const Current current(a_);
    work(of_a.slot());
    address = data(of_a);
    of_a.slot();
  }
  {
    const Current current(b_);
    Tensor of_b;
    work(of_b.slot());
    EXPECT_NE(data(of_b), address);
  }
  const Current current(a_);
  Tensor again;
  work(again.slot());
  EXPECT_EQ(data(again), address)
      << "work on one stream is in order, so its memory is free at once";
}

TEST_F(SimulatedStream, recorded_memory_waits_for_the_other_stream) {
  const Current current(a_);
  Tensor x, y;
  work(x.slot());
  void* address = data(x);
  {
    const Current other(b_);
    ok(tsr_exp(x, y.slot()));
    ok(tsr_tensor_record_stream(x, b_));
  }
  x.slot();  // frees the memory while b_ still reads it
  Tensor meanwhile, after;
  work(meanwhile.slot());
  EXPECT_NE(data(meanwhile), address);
  ok(tsr_stream_synchronize(b_));
  work(after.slot());
  EXPECT_EQ(data(after), address);
}

TEST_F(SimulatedStream, native_streams_are_used_again) {
  void* first = nullptr;
  {
    Stream stream;
    ok(tsr_stream_create(kDevice, 0, stream.slot()));
    first = native(stream);
  }
  Stream stream;
  ok(tsr_stream_create(kDevice, 0, stream.slot()));
  EXPECT_EQ(native(stream), first);
}

TEST_F(SimulatedStream, thread_keeps_its_current_stream_alive) {
  std::thread([] {
    Stream stream, previous, now;
    ok(tsr_stream_create(kDevice, 1, stream.slot()));
    void* expected = native(stream);
    ok(tsr_stream_set_current(stream, previous.slot()));
    stream.slot();
    ok(tsr_stream_current(kDevice, 1, now.slot()));
    EXPECT_EQ(native(now), expected);
  }).join();
}

TEST_F(SimulatedStream, foreign_stream_is_wrapped_as_it_is) {
  Stream wrapped, standard;
  ok(tsr_stream_wrap(kDevice, 0, native(a_), wrapped.slot()));
  EXPECT_EQ(native(wrapped), native(a_));
  const Current current(wrapped);
  Tensor x;
  work(x.slot());
  EXPECT_FALSE(done(a_));
  ok(tsr_stream_wrap(kDevice, 0, nullptr, standard.slot()));
  EXPECT_TRUE(done(standard));
}

TEST_F(SimulatedStream, what_cannot_be_a_stream_of_ours_is_refused) {
  Stream wrapped;
  refused(tsr_stream_wrap(kDevice, 0, reinterpret_cast<void*>(2), wrapped.slot()), TSR_VALUE);
}

TEST_F(SimulatedStream, copy_to_another_device_waits_and_is_waited_for_there) {
  ok(tsr_device_synchronize(kDevice, 1));
  Stream there;
  ok(tsr_stream_current(kDevice, 1, there.slot()));
  Tensor x, y;
  const Current current(a_);
  work(x.slot());
  ok(tsr_device_synchronize(kDevice, 0));
  EXPECT_TRUE(done(a_) && done(there));
  ok(tsr_to(x, kDevice, 1, -1, 0, 0, y.slot()));
  EXPECT_FALSE(done(a_)) << "the copy runs on the source's stream";
  EXPECT_FALSE(done(there)) << "what reads the copy comes after it";
  ok(tsr_device_synchronize(kDevice, 1));
  const int64_t numel = 64;
  same(y, reals(TSR_FLOAT32, {numel}, std::vector<double>(64, 1)));
}

TEST_F(SimulatedStream, a_smaller_source_is_spread_on_the_other_device) {
  const Tensor row(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  Tensor target;
  ok(tsr_zeros(std::array<int64_t, 2>{2, 3}.data(), 2, TSR_FLOAT32, kDevice, 0, target.slot()));
  ok(tsr_copy_inplace(target, row, 0));
  same(target, reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 1, 2, 3}));
}

// ---- pinned memory ----

// A host vector that counts up from `first`, pinned for the simulated device.
void pin(tsr_tensor* out, double first, int64_t numel = 64) {
  std::vector<double> values;
  for (int64_t i = 0; i < numel; ++i) values.push_back(first + static_cast<double>(i));
  const Tensor plain(reals(TSR_FLOAT32, {numel}, values));
  ok(tsr_tensor_pin_memory(plain, kDevice, 0, out));
}

bool is_pinned(tsr_tensor tensor) {
  int32_t value = -1;
  ok(tsr_tensor_is_pinned(tensor, &value));
  return value == 1;
}

TEST_F(SimulatedStream, a_copy_from_pinned_memory_runs_on_its_own) {
  const Current current(a_);
  Tensor source, waited, copied;
  pin(source.slot(), 1);
  EXPECT_TRUE(is_pinned(source));
  ok(tsr_to(source, kDevice, 0, -1, 0, 0, waited.slot()));
  EXPECT_TRUE(done(a_)) << "without the switch a pinned tensor is copied as any other";
  ok(tsr_to(source, kDevice, 0, -1, 0, 1, copied.slot()));
  EXPECT_FALSE(done(a_));
  EXPECT_FALSE(is_pinned(copied));
  EXPECT_EQ(item(copied, 63), 64.0);
}

TEST_F(SimulatedStream, pinned_memory_is_lent_again_when_the_copies_from_it_are_over) {
  ok(tsr_memory_empty_cache(kDevice, 0, std::array<int64_t, 1>{}.data()));
  Tensor source, first, second, next;
  pin(source.slot(), 1);
  void* const place = data(source);
  for (const auto& [stream, copy] : {std::pair(&a_, &first), std::pair(&b_, &second)}) {
    const Current current(*stream);
    ok(tsr_to(source, kDevice, 0, -1, 0, 1, copy->slot()));
  }
  static_cast<void>(source.slot());
  pin(next.slot(), 500);
  EXPECT_NE(data(next), place);
  ok(tsr_stream_synchronize(a_));
  ok(tsr_stream_synchronize(b_));
  pin(source.slot(), 900);
  EXPECT_EQ(data(source), place) << "nobody waited, and the block is used again";
  EXPECT_EQ(item(first, 0), 1.0);
}

TEST_F(SimulatedStream, a_copy_to_the_host_that_nobody_waits_for_lies_in_pinned_memory) {
  const Current current(a_);
  Tensor there, back, plain, mine;
  work(there.slot());
  ok(tsr_stream_synchronize(a_));
  ok(tsr_to(there, TSR_DEVICE_CPU, 0, -1, 0, 1, back.slot()));
  EXPECT_TRUE(is_pinned(back));
  EXPECT_FALSE(done(a_));
  ok(tsr_stream_synchronize(a_));
  EXPECT_EQ(item(back, 63), 1.0);

  pin(mine.slot(), 7);
  ok(tsr_copy_inplace(mine, there, 1));
  EXPECT_FALSE(done(a_));
  ok(tsr_stream_synchronize(a_));
  EXPECT_EQ(item(mine, 0), 1.0);

  work(there.slot());
  ok(tsr_zeros(std::array<int64_t, 1>{64}.data(), 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, plain.slot()));
  ok(tsr_copy_inplace(plain, there, 1));
  EXPECT_TRUE(done(a_)) << "ordinary memory is waited for, whatever the switch says";
}

TEST_F(SimulatedStream, pinning_is_idempotent_and_refuses_what_it_cannot_do) {
  const Tensor plain(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  Tensor pinned, again, there, out, elsewhere;
  EXPECT_FALSE(is_pinned(plain));
  ok(tsr_tensor_pin_memory(plain, kDevice, 0, pinned.slot()));
  ok(tsr_tensor_pin_memory(pinned, kDevice, 0, again.slot()));
  EXPECT_EQ(data(again), data(pinned));
  same(pinned, reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  ok(tsr_to(plain, kDevice, 0, -1, 0, 0, there.slot()));
  tsr_tensor stale = plain;
  refused(tsr_tensor_pin_memory(there, kDevice, 0, &stale), TSR_DEVICE);
  EXPECT_EQ(stale, nullptr);
  refused(tsr_tensor_pin_memory(plain, kDevice, 9, out.slot()), TSR_DEVICE);
  refused(tsr_tensor_pin_memory(plain, TSR_DEVICE_CPU, 0, out.slot()), TSR_NOT_IMPLEMENTED);
  // Pinned for another device: this device copies it like ordinary memory.
  ok(tsr_tensor_pin_memory(plain, kDevice, 1, elsewhere.slot()));
  const Current current(a_);
  ok(tsr_to(elsewhere, kDevice, 0, -1, 0, 1, out.slot()));
  EXPECT_TRUE(done(a_));
  ok(tsr_tensor_record_stream(pinned, a_));
  refused(tsr_tensor_record_stream(elsewhere, a_), TSR_DEVICE);
  int64_t freed = 0;
  static_cast<void>(pinned.slot());
  static_cast<void>(again.slot());
  ok(tsr_memory_empty_cache(kDevice, 0, &freed));
  EXPECT_GE(freed, int64_t{2} << 20);
}

TEST_F(SimulatedStream, pinning_is_differentiable) {
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  Tensor pinned, twice, total, grad;
  ok(tsr_tensor_set_requires_grad(x, 1));
  ok(tsr_tensor_pin_memory(x, kDevice, 0, pinned.slot()));
  ok(tsr_multiply(pinned, pinned, twice.slot()));
  ok(tsr_sum(twice, nullptr, -1, 0, -1, total.slot()));
  const tsr_tensor root = total;
  ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
  ok(tsr_tensor_grad(x, grad.slot()));
  same(grad, reals(TSR_FLOAT32, {2}, {2, 4}));
}

TEST_F(SimulatedStream, devices_must_agree) {
  Stream elsewhere;
  Event event;
  ok(tsr_stream_create(kDevice, 1, elsewhere.slot()));
  ok(tsr_event_create(kDevice, 0, event.slot()));
  refused(tsr_event_record(event, elsewhere), TSR_DEVICE);
  refused(tsr_stream_wait_event(elsewhere, event), TSR_DEVICE);
  Tensor x;
  work(x.slot());
  refused(tsr_tensor_record_stream(x, elsewhere), TSR_DEVICE);
  tsr_stream none = nullptr;
  refused(tsr_stream_create(kDevice, 99, &none), TSR_DEVICE);
}

TEST_F(SimulatedStream, exchange_tells_the_current_one_and_orders_the_consumer) {
  const Current current(a_);
  void* told = nullptr;
  ok(tsr_exchange_api()->current_stream(kDevice, 0, &told));
  EXPECT_EQ(told, native(a_));
  Tensor x;
  work(x.slot());
  struct DLManagedTensorVersioned* managed = nullptr;
  ok(tsr_exchange_api()->to_managed(x, &managed));
  managed->deleter(managed);
  Stream standard;
  ok(tsr_stream_wrap(kDevice, 0, nullptr, standard.slot()));
  EXPECT_TRUE(done(standard)) << "the entry makes nobody wait";
  EXPECT_TRUE(done(b_));
  ok(tsr_to_dlpack_versioned(x, 1, 0, native(b_), &managed));
  managed->deleter(managed);
  EXPECT_FALSE(done(b_)) << "the consumer's stream waits for what made the tensor";
}

TEST(CpuStream, is_the_null_stream_and_never_busy) {
  Stream stream, previous;
  Event event;
  ok(tsr_stream_create(TSR_DEVICE_CPU, 0, stream.slot()));
  ok(tsr_event_create(TSR_DEVICE_CPU, 0, event.slot()));
  EXPECT_EQ(native(stream), nullptr);
  ok(tsr_stream_set_current(stream, previous.slot()));
  const Tensor x(reals(TSR_FLOAT32, {2}, {1, 2}));
  ok(tsr_event_record(event, stream));
  ok(tsr_stream_wait_event(stream, event));
  ok(tsr_tensor_record_stream(x, stream));
  EXPECT_TRUE(done(stream));
  EXPECT_TRUE(done(event));
  tsr_stream foreign = nullptr;
  int there = 0;
  refused(tsr_stream_wrap(TSR_DEVICE_CPU, 0, &there, &foreign), TSR_DEVICE);
  refused(tsr_stream_synchronize(wrong_kind<tsr_stream>()), TSR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace test_stream
