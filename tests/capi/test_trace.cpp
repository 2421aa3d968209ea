// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Traces over C: the fields of events, the nesting of spans, the end of a callback, and lost events
// of a buffer.
#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_trace {

using namespace tsr::test;

namespace {

Tensor numbers() {
  return Tensor(reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
}

// All events in the buffer. One read takes all, so that the arguments of events stay valid.
std::vector<tsr_trace_event> read_all(int64_t* lost = nullptr) {
  std::vector<tsr_trace_event> events(4096);
  events[0].struct_size = sizeof(tsr_trace_event);
  int32_t count = 0;
  int64_t missing = 0;
  ok(tsr_trace_read(events.data(), static_cast<int32_t>(events.size()), &count, &missing));
  events.resize(static_cast<size_t>(count));
  if (lost != nullptr) *lost = missing;
  return events;
}

const tsr_trace_event* find(const std::vector<tsr_trace_event>& events, int32_t kind,
                            std::string_view name) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const tsr_trace_event& e) {
    return e.kind == kind && name == e.name;
  });
  return found == events.end() ? nullptr : &*found;
}

// Causes every kind of event: kernels, memory, a backward.
void work() {
  Tensor x(reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6})), y, total;
  ok(tsr_tensor_set_requires_grad(x, 1));
  ok(tsr_exp(x, y.slot()));
  ok(tsr_sum(y, nullptr, -1, 0, -1, total.slot()));
  const tsr_tensor root = total;
  ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
}

}  // namespace

TEST(TraceBuffer, names_the_op_its_kernel_and_its_node) {
  ok(tsr_trace_start(4096, TSR_TRACE_EVERYTHING));
  work();
  ok(tsr_trace_stop());
  const auto events = read_all();
  const tsr_trace_event* call = find(events, TSR_TRACE_CALL, "exp");
  const tsr_trace_event* launch = find(events, TSR_TRACE_LAUNCH, "exp");
  ASSERT_NE(call, nullptr);
  ASSERT_NE(launch, nullptr);
  EXPECT_STREQ(tsr_function_name(call->id), "tsr_exp");
  EXPECT_EQ(launch->id, tsr_function_id("tsr_exp", -1) & 0xffff);
  EXPECT_STREQ(launch->family, "unary");
  EXPECT_EQ(launch->device_type, TSR_DEVICE_CPU);
  EXPECT_EQ(launch->parent, call->correlation);
  EXPECT_EQ(call->parent, 0U);
  EXPECT_LE(call->begin_time, launch->begin_time);
  EXPECT_LE(launch->begin_time, launch->end_time);
  EXPECT_LE(launch->end_time, call->end_time);
  EXPECT_EQ(call->thread, launch->thread);
  EXPECT_NE(find(events, TSR_TRACE_LAUNCH, "sum"), nullptr);
  const tsr_trace_event* backward = find(events, TSR_TRACE_CALL, "tsr_backward");
  const tsr_trace_event* node = find(events, TSR_TRACE_NODE, "ExpBackward");
  ASSERT_NE(backward, nullptr);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->parent, backward->correlation);
  EXPECT_EQ(call->n_args, 0);  // not requested
}

TEST(TraceBuffer, pairs_memory_with_what_asked_for_it) {
  ok(tsr_trace_start(4096, TSR_TRACE_EVERYTHING));
  { work(); }
  ok(tsr_trace_stop());
  const auto events = read_all();
  std::map<const void*, int64_t> held;
  std::map<uint64_t, const tsr_trace_event*> calls;
  for (const auto& event : events) {
    if (event.kind == TSR_TRACE_CALL) calls[event.correlation] = &event;
  }
  int blocks = 0;
  for (const auto& event : events) {
    if (event.kind == TSR_TRACE_ALLOCATE) {
      ++blocks;
      EXPECT_EQ(event.phase, TSR_TRACE_INSTANT);
      EXPECT_EQ(event.begin_time, event.end_time);
      EXPECT_GT(event.value, 0);
      EXPECT_EQ(event.device_type, TSR_DEVICE_CPU);
      held[event.object] += event.value;
    }
    if (event.kind == TSR_TRACE_FREE) held[event.object] -= event.value;
  }
  EXPECT_GE(blocks, 3);
  for (const auto& [block, nbytes] : held) EXPECT_EQ(nbytes, 0) << block;
  const tsr_trace_event* first = find(events, TSR_TRACE_ALLOCATE, "memory");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(calls.count(first->parent), 1U);
}

TEST(TraceBuffer, describes_arguments) {
  const Tensor x = numbers();
  Tensor total, joined, filled;
  const int64_t axes[] = {1};
  const tsr_tensor parts[] = {x, x};
  const int64_t shape[] = {2};
  ok(tsr_trace_start(100, TSR_TRACE_CALL | TSR_TRACE_ARGUMENTS));
  ok(tsr_sum(x, axes, 1, 1, TSR_FLOAT64, total.slot()));
  ok(tsr_concat(parts, 2, 0, joined.slot()));
  ok(tsr_full(shape, 1, TSR_F64(2.5), -1, -1, -1, filled.slot()));
  EXPECT_NE(tsr_sum(nullptr, axes, -7, 1, -1, total.slot()), TSR_OK);
  ok(tsr_full(shape, 1, TSR_U64(~uint64_t{0}), TSR_UINT64, -1, -1, filled.slot()));
  ok(tsr_trace_stop());
  const auto events = read_all();
  ASSERT_EQ(events.size(), 5U);

  const tsr_value* sum = events[0].args;
  ASSERT_EQ(events[0].n_args, 4);
  EXPECT_EQ(sum[0].kind, TSR_VALUE_SHAPE);
  EXPECT_EQ(sum[0].integer, TSR_FLOAT32);
  ASSERT_EQ(sum[0].n, 2);
  EXPECT_EQ(static_cast<const int64_t*>(sum[0].pointer)[1], 3);
  ASSERT_EQ(sum[1].kind, TSR_VALUE_INTS);
  EXPECT_EQ(static_cast<const int64_t*>(sum[1].pointer)[0], 1);
  EXPECT_EQ(sum[2].kind, TSR_VALUE_BOOL);
  EXPECT_EQ(sum[2].integer, 1);
  EXPECT_EQ(sum[3].kind, TSR_VALUE_DTYPE);
  EXPECT_EQ(sum[3].integer, TSR_FLOAT64);

  const tsr_value* list = events[1].args;
  ASSERT_EQ(list[0].kind, TSR_VALUE_LIST);
  ASSERT_EQ(list[0].n, 2);
  EXPECT_EQ(static_cast<const tsr_value*>(list[0].pointer)[1].kind, TSR_VALUE_SHAPE);

  EXPECT_EQ(events[2].args[1].kind, TSR_VALUE_REAL);
  EXPECT_EQ(events[2].args[1].real, 2.5);
  EXPECT_EQ(events[2].args[2].kind, TSR_VALUE_NONE);

  EXPECT_EQ(events[3].value, TSR_INVALID_ARGUMENT);  // the status of a failed call
  EXPECT_EQ(events[3].args[0].kind, TSR_VALUE_NONE);

  EXPECT_EQ(events[4].args[1].kind, TSR_VALUE_UNSIGNED);
  EXPECT_EQ(events[4].args[1].integer, -1);  // the bits of the largest
}

TEST(TraceBuffer, describes_arguments_of_functions_that_are_no_operators) {
  Tensor x = numbers(), total;
  ok(tsr_tensor_set_requires_grad(x, 1));
  ok(tsr_sum(x, nullptr, -1, 0, -1, total.slot()));
  const tsr_tensor root = total;
  tsr_optimizer_options options = {};
  options.struct_size = sizeof(options);
  ok(tsr_optimizer_defaults(TSR_OPTIMIZER_SGD, &options));
  tsr_optimizer optimizer = nullptr;
  const int64_t shape[] = {2, 3};
  const float memory[6] = {};
  Tensor made;
  ok(tsr_trace_start(100, TSR_TRACE_CALL | TSR_TRACE_ARGUMENTS));
  ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, TSR_BACKWARD_RETAIN_GRAPH));
  const tsr_tensor param = x;
  ok(tsr_optimizer_new(&options, &param, 1, &optimizer));
  ok(tsr_tensor_from_data(const_cast<float*>(memory), TSR_FLOAT32, TSR_DEVICE_CPU, 0, shape, 2,
                          nullptr, -1, 0, nullptr, nullptr, made.slot()));
  EXPECT_NE(tsr_function_id("tsr_exp", -1), 0);
  EXPECT_NE(tsr_backward(&root, -7, nullptr, 0, nullptr, 0, 0), TSR_OK);
  ok(tsr_trace_stop());
  const auto events = read_all();
  ASSERT_EQ(events.size(), 5U);

  ASSERT_EQ(events[0].n_args, 4);
  const tsr_value* backward = events[0].args;
  ASSERT_EQ(backward[0].kind, TSR_VALUE_LIST);
  EXPECT_EQ(backward[0].n, 1);
  EXPECT_EQ(static_cast<const tsr_value*>(backward[0].pointer)->kind, TSR_VALUE_SHAPE);
  EXPECT_EQ(backward[3].kind, TSR_VALUE_INT);
  EXPECT_EQ(backward[3].integer, TSR_BACKWARD_RETAIN_GRAPH);

  ASSERT_EQ(events[1].n_args, 2);  // the place of the result is no argument
  EXPECT_EQ(events[1].args[0].kind, TSR_VALUE_POINTER);
  EXPECT_EQ(events[1].args[0].pointer, &options);
  EXPECT_EQ(events[1].args[1].kind, TSR_VALUE_LIST);

  ASSERT_EQ(events[2].n_args, 8);
  const tsr_value* from_data = events[2].args;
  EXPECT_EQ(from_data[0].kind, TSR_VALUE_POINTER);
  EXPECT_EQ(from_data[1].kind, TSR_VALUE_DTYPE);
  EXPECT_EQ(from_data[2].kind, TSR_VALUE_DEVICE);
  ASSERT_EQ(from_data[3].kind, TSR_VALUE_INTS);
  EXPECT_EQ(static_cast<const int64_t*>(from_data[3].pointer)[1], 3);
  EXPECT_EQ(from_data[4].kind, TSR_VALUE_NONE);
  EXPECT_EQ(from_data[7].kind, TSR_VALUE_NONE);

  ASSERT_EQ(events[3].args[0].kind, TSR_VALUE_TEXT);
  EXPECT_STREQ(std::string(static_cast<const char*>(events[3].args[0].pointer), 7).c_str(),
               "tsr_exp");

  EXPECT_EQ(events[4].value, TSR_INVALID_ARGUMENT);
  EXPECT_EQ(events[4].args[0].n, 0);  // a count that cannot be
  tsr_optimizer_release(optimizer);
}

TEST(TraceBuffer, names_what_kernels_without_an_id_do) {
  Tensor x(reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6})), sums, taken;
  const Tensor index(ints(TSR_INT64, {2}, {1, 0}));
  tsr_optimizer_options options = {};
  options.struct_size = sizeof(options);
  tsr_optimizer optimizer = nullptr;
  const tsr_tensor param = x;
  ok(tsr_tensor_set_requires_grad(x, 1));
  ok(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAGRAD, &options));
  ok(tsr_optimizer_new(&options, &param, 1, &optimizer));
  ok(tsr_trace_start(4096, TSR_TRACE_LAUNCH));
  ok(tsr_cumulative_sum(x, 1, -1, 0, sums.slot()));
  ok(tsr_take_along_axis(x, Tensor(ints(TSR_INT64, {2, 1}, {1, 0})), 1, taken.slot()));
  const Tensor gradient = numbers();
  const tsr_tensor gradients[] = {gradient};
  ok(tsr_optimizer_step_with(optimizer, gradients, 1));
  ok(tsr_trace_stop());
  tsr_optimizer_release(optimizer);
  const auto events = read_all();
  const std::pair<const char*, const char*> expected[] = {
      {"cumulative_sum", "scan"}, {"index_get", "index"}, {"adagrad", "optim"}};
  for (const auto& [name, family] : expected) {
    const tsr_trace_event* launch = find(events, TSR_TRACE_LAUNCH, name);
    ASSERT_NE(launch, nullptr) << name;
    EXPECT_STREQ(launch->family, family);
    EXPECT_EQ(launch->id, 0);
  }
}

TEST(TraceBuffer, counts_what_it_has_no_room_for) {
  const Tensor x = numbers();
  ok(tsr_trace_start(3, TSR_TRACE_LAUNCH));
  for (int i = 0; i < 10; ++i) {
    Tensor y;
    ok(tsr_exp(x, y.slot()));
  }
  int64_t lost = 0;
  EXPECT_EQ(read_all(&lost).size(), 3U);
  EXPECT_EQ(lost, 7);
  Tensor y;
  ok(tsr_negative(x, y.slot()));  // the buffer has room again
  ok(tsr_trace_stop());
  ok(tsr_exp(x, y.slot()));
  const auto events = read_all(&lost);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(events[0].name, "negative");
  EXPECT_EQ(lost, 0);
}

TEST(TraceBuffer, takes_events_of_threads_that_work_while_it_stops) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 2000;
  ok(tsr_trace_start(kThreads * kCalls, TSR_TRACE_LAUNCH | TSR_TRACE_CALL | TSR_TRACE_ARGUMENTS));
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&running] {
      const Tensor x = numbers();
      for (int k = 0; k < kCalls; ++k) {
        Tensor y;
        ok(tsr_exp(x, y.slot()));
      }
      --running;
    });
  }
  std::map<uint64_t, int> seen;
  size_t taken = 0;
  for (bool stopped = false;;) {
    if (taken > kCalls && !stopped) {
      stopped = true;
      ok(tsr_trace_stop());
    }
    const auto events = read_all();
    taken += events.size();
    for (const auto& event : events) EXPECT_EQ(++seen[event.correlation], 1);
    if (events.empty() && running == 0) break;
  }
  for (auto& thread : threads) thread.join();
  ok(tsr_trace_stop());
  EXPECT_GT(taken, static_cast<size_t>(kCalls));
}

TEST(TraceBuffer, serves_an_array_of_larger_structs) {
  struct Newer {
    tsr_trace_event known;
    int64_t unknown;
  };
  const Tensor x = numbers();
  Tensor y;
  ok(tsr_trace_start(10, TSR_TRACE_LAUNCH));
  ok(tsr_exp(x, y.slot()));
  ok(tsr_negative(x, y.slot()));
  ok(tsr_trace_stop());
  Newer events[2] = {};
  events[0].known.struct_size = sizeof(Newer);
  events[1].unknown = 7;
  int32_t count = 0;
  int64_t lost = 0;
  ok(tsr_trace_read(&events[0].known, 2, &count, &lost));
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(events[1].known.name, "negative");
  EXPECT_EQ(events[1].unknown, 0);
}

TEST(TraceBuffer, refuses_what_it_cannot_do) {
  refused(tsr_trace_start(0, TSR_TRACE_CALL), TSR_VALUE);
  refused(tsr_trace_start(INT64_MAX, TSR_TRACE_CALL), TSR_VALUE);
  refused(tsr_trace_start(10, 1 << 20), TSR_INVALID_ARGUMENT);
  ok(tsr_trace_start(10, TSR_TRACE_CALL));
  refused(tsr_trace_start(10, TSR_TRACE_CALL), TSR_VALUE);
  ok(tsr_trace_stop());
  tsr_trace_event event = {};
  int32_t count = 0;
  int64_t lost = 0;
  refused(tsr_trace_read(&event, 1, &count, &lost), TSR_ABI);
  event.struct_size = sizeof event;
  refused(tsr_trace_read(&event, -1, &count, &lost), TSR_INVALID_ARGUMENT);
  refused(tsr_trace_read(nullptr, 1, &count, &lost), TSR_INVALID_ARGUMENT);
  refused(tsr_trace_read(&event, 1, nullptr, &lost), TSR_INVALID_ARGUMENT);
  refused(tsr_trace_read(&event, 1, &count, nullptr), TSR_INVALID_ARGUMENT);
  ok(tsr_trace_read(nullptr, 0, &count, &lost));
}

// ---- The callback ----

namespace {

struct Seen {
  std::vector<std::string> lines;
  const void* handle = nullptr;  // the first tensor among the arguments
  static void note(void* user, const tsr_trace_event* event) {
    auto& self = *static_cast<Seen*>(user);
    const char* phase = event->phase == TSR_TRACE_BEGIN ? " begins" : " ends";
    self.lines.push_back(std::string(event->name) + phase);
    if (event->n_args > 0 && self.handle == nullptr) self.handle = event->args[0].pointer;
    // Allowed, and not traced: otherwise this would never end.
    Tensor made(reals(TSR_FLOAT32, {1}, {1})), negated;
    ok(tsr_negative(made, negated.slot()));
  }
};

}  // namespace

TEST(TraceCallback, sees_both_ends_and_the_arguments_themselves) {
  const Tensor x = numbers();
  Tensor y;
  Seen seen;
  int drops = 0;
  ok(tsr_trace_set(Seen::note, &seen, nullptr,
                   TSR_TRACE_CALL | TSR_TRACE_LAUNCH | TSR_TRACE_ARGUMENTS));
  ok(tsr_exp(x, y.slot()));
  ok(tsr_trace_set(ignore_trace, &drops, count_drop, TSR_TRACE_CALL));
  const std::vector<std::string> expected = {"exp begins", "exp begins", "exp ends", "exp ends"};
  EXPECT_EQ(seen.lines, expected);
  EXPECT_EQ(seen.handle, static_cast<tsr_tensor>(x));
  ok(tsr_trace_set(nullptr, nullptr, nullptr, 0));
  EXPECT_EQ(drops, 1);
}

TEST(TraceCallback, drops_its_data_once_when_it_is_refused) {
  int drops = 0;
  refused(tsr_trace_set(ignore_trace, &drops, count_drop, 1 << 20), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 1);
}

TEST(TraceCallback, outlives_the_threads_that_are_in_it) {
  struct Shared {
    std::atomic<int> alive{1};
    std::atomic<int64_t> events{0};
  };
  auto* shared = new Shared;
  std::atomic<bool> dropped{false};
  struct User {
    Shared* shared;
    std::atomic<bool>* dropped;
  };
  auto* user = new User{shared, &dropped};
  ok(tsr_trace_set(
      [](void* data, const tsr_trace_event*) {
        auto* own = static_cast<User*>(data);
        EXPECT_EQ(own->shared->alive, 1);  // dropped only after the last call has returned
        ++own->shared->events;
      },
      user,
      [](void* data) {
        auto* own = static_cast<User*>(data);
        own->shared->alive = 0;
        *own->dropped = true;
        delete own->shared;
        delete own;
      },
      TSR_TRACE_EVERYTHING));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&stop] {
      while (!stop) work();
    });
  }
  work();
  ok(tsr_trace_set(nullptr, nullptr, nullptr, 0));
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(dropped);
}

}  // namespace test_trace
