// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Callbacks: dropped exactly once on every path; errors of the host reach the caller unchanged.
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_callbacks {

using namespace tsr::test;

namespace {

int g_exception = 0;  // represents a host-language exception object

tsr_error_view last() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return view;
}

Tensor sum_of(tsr_tensor tensor) {
  Tensor total;
  ok(tsr_sum(tensor, nullptr, -1, 0, -1, total.slot()));
  return total;
}

tsr_status backward(const Tensor& root) {
  const tsr_tensor roots[1] = {root};
  return tsr_backward(roots, 1, nullptr, 0, nullptr, 0, 0);
}

tsr_status failing_hook(void*, tsr_tensor, tsr_tensor*) {
  ok(tsr_error_set(TSR_CALLBACK, "the host's own words", -1, &g_exception, nullptr));
  return TSR_CALLBACK;
}

struct Owned {
  explicit Owned(tsr_tensor handle) : tensor(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { tsr_tensor_release(tensor); }
  operator tsr_tensor() const { return tensor; }
  tsr_tensor tensor;
};

}  // namespace

TEST(Hook, sees_the_gradient_and_may_replace_it) {
  const Owned x(leaf(2));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(
      x,
      [](void*, tsr_tensor grad, tsr_tensor* replacement) {
        return tsr_add_scalar(grad, TSR_F64(9), replacement);
      },
      nullptr, nullptr, &id));
  ok(backward(sum_of(x)));
  Tensor grad;
  ok(tsr_tensor_grad(x, grad.slot()));
  same(grad, reals(TSR_FLOAT32, {2}, {10, 10}));
}

TEST(Hook, failure_reaches_the_caller_with_its_payload_and_text) {
  const Owned x(leaf(2));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(x, failing_hook, nullptr, nullptr, &id));
  EXPECT_EQ(backward(sum_of(x)), TSR_CALLBACK);
  const tsr_error_view view = last();
  EXPECT_EQ(view.payload, &g_exception);
  EXPECT_STREQ(view.message, "the host's own words");
  EXPECT_STREQ(view.op, "tsr_backward");
}

TEST(Hook, failure_leaves_the_engine_usable) {
  const Owned x(leaf(2));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(x, failing_hook, nullptr, nullptr, &id));
  EXPECT_EQ(backward(sum_of(x)), TSR_CALLBACK);
  ok(tsr_tensor_hook_remove(x, id));
  ok(backward(sum_of(x)));
  Tensor grad;
  ok(tsr_tensor_grad(x, grad.slot()));
  same(grad, reals(TSR_FLOAT32, {2}, {1, 1}));
}

TEST(Hook, failing_without_a_record_is_still_explained) {
  const Owned x(leaf(2));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(
      x, [](void*, tsr_tensor, tsr_tensor*) { return tsr_status{TSR_CANCELLED}; }, nullptr, nullptr,
      &id));
  EXPECT_EQ(backward(sum_of(x)), TSR_CANCELLED);
  EXPECT_NE(std::string(last().message).find("hook"), std::string::npos);
}

TEST(Hook, error_of_a_call_inside_it_is_the_error_of_backward) {
  const Owned x(leaf(2));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(
      x,
      [](void*, tsr_tensor grad, tsr_tensor* replacement) {
        const Tensor other(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
        return tsr_add(grad, other, replacement);
      },
      nullptr, nullptr, &id));
  EXPECT_EQ(backward(sum_of(x)), TSR_SHAPE);
  EXPECT_NE(std::string(last().message).find("add"), std::string::npos);
}

TEST(Hook, E9_user_data_is_dropped_once_when_tensor_and_graph_are_gone) {
  int drops = 0;
  {
    const Owned x(leaf(2));
    int64_t id = 0;
    ok(tsr_tensor_hook_add(x, ignore_hook, &drops, count_drop, &id));
    ok(backward(sum_of(x)));
    EXPECT_EQ(drops, 0);
  }
  EXPECT_EQ(drops, 1);
}

TEST(Hook, user_data_is_dropped_once_when_registration_fails) {
  int drops = 0;
  const Tensor plain(reals(TSR_FLOAT32, {1}, {1}));
  int64_t id = 0;
  refused(tsr_tensor_hook_add(plain, ignore_hook, &drops, count_drop, &id), TSR_AUTOGRAD);
  EXPECT_EQ(drops, 1);
  refused(tsr_tensor_hook_add(nullptr, ignore_hook, &drops, count_drop, &id), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 2);
}

TEST(CustomFunction, E9_failure_of_its_backward_carries_the_payload) {
  const Owned x(leaf(2));
  const Tensor y(reals(TSR_FLOAT32, {2}, {2, 4}));
  tsr_node_vtable vtable = {};
  vtable.struct_size = sizeof(vtable);
  vtable.backward = [](void*, tsr_node, const tsr_tensor*, int32_t, tsr_tensor*, int32_t) {
    return failing_hook(nullptr, nullptr, nullptr);
  };
  const tsr_tensor inputs[1] = {x}, outputs[1] = {y};
  tsr_node node = nullptr;
  ok(tsr_node_create("Fails", -1, &vtable, nullptr, inputs, 1, &node));
  ok(tsr_node_attach(node, outputs, 1));
  tsr_node_release(node);
  EXPECT_EQ(backward(sum_of(y)), TSR_CALLBACK);
  EXPECT_EQ(last().payload, &g_exception);
}

TEST(CustomFunction, E9_refused_table_still_drops_its_user_data) {
  int drops = 0;
  tsr_node_vtable vtable = {};
  vtable.struct_size = sizeof(vtable);
  vtable.drop = count_drop;
  tsr_node node = nullptr;
  refused(tsr_node_create("None", -1, &vtable, &drops, nullptr, 0, &node), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 1);
  EXPECT_EQ(node, nullptr);
}

TEST(CustomFunction, without_gradients_gives_its_data_back_at_once) {
  int drops = 0;
  const Tensor plain(reals(TSR_FLOAT32, {2}, {1, 2}));
  tsr_node_vtable vtable = {};
  vtable.struct_size = sizeof(vtable);
  vtable.forward = double_forward;
  vtable.backward = double_backward;
  vtable.drop = count_drop;
  const tsr_tensor inputs[1] = {plain};
  Tensor y;
  ok(tsr_function_apply("Double", -1, &vtable, &drops, inputs, 1, 1, y.slot()));
  same(y, reals(TSR_FLOAT32, {2}, {2, 4}));
  EXPECT_EQ(drops, 1);
}

TEST(CustomFunction, forward_without_an_output_is_refused) {
  int drops = 0;
  const Owned x(leaf(2));
  tsr_node_vtable vtable = {};
  vtable.struct_size = sizeof(vtable);
  vtable.forward = [](void*, tsr_node, const tsr_tensor*, int32_t, tsr_tensor*, int32_t) {
    return tsr_status{TSR_OK};
  };
  vtable.backward = double_backward;
  vtable.drop = count_drop;
  const tsr_tensor inputs[1] = {x};
  tsr_tensor y = nullptr;
  refused(tsr_function_apply("Nothing", -1, &vtable, &drops, inputs, 1, 1, &y), TSR_AUTOGRAD);
  EXPECT_EQ(y, nullptr);
  EXPECT_EQ(drops, 1);
}

TEST(FinalCallback, E18_runs_once_after_the_backward) {
  static int order = 0, hook_at = 0, final_at = 0, drops = 0;
  order = hook_at = final_at = drops = 0;
  const Owned x(leaf(2));
  int64_t id = 0;
  ok(tsr_tensor_hook_add(
      x,
      [](void*, tsr_tensor, tsr_tensor*) {
        hook_at = ++order;
        return tsr_backward_queue(
            [](void*) {
              final_at = ++order;
              return tsr_status{TSR_OK};
            },
            &drops, count_drop);
      },
      nullptr, nullptr, &id));
  ok(backward(sum_of(x)));
  EXPECT_EQ(hook_at, 1);
  EXPECT_EQ(final_at, 2);
  EXPECT_EQ(drops, 1);
}

TEST(ErrorPayload, is_dropped_once_when_replaced_or_when_taken_and_released) {
  int drops = 0;
  ok(tsr_error_set(TSR_CALLBACK, "first", -1, &drops, count_drop));
  ok(tsr_error_set(TSR_CALLBACK, "second", -1, &drops, count_drop));
  EXPECT_EQ(drops, 1);
  tsr_error error = nullptr;
  ok(tsr_error_take(&error));
  std::thread([&] { tsr_error_release(error); }).join();
  EXPECT_EQ(drops, 2);
}

TEST(ErrorPayload, of_a_thread_that_ends_waits_for_poll) {
  int drops = 0;
  std::thread([&] { ok(tsr_error_set(TSR_CALLBACK, "lost", -1, &drops, count_drop)); }).join();
  EXPECT_EQ(drops, 0) << "host code must not run in a thread that is ending";
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(count, 1);
  EXPECT_EQ(drops, 1);
}

TEST(ErrorRecord, belongs_to_its_thread) {
  refused(tsr_tensor_data(nullptr, nullptr), TSR_INVALID_ARGUMENT);
  std::thread([] {
    tsr_error_view view = {};
    view.struct_size = sizeof(view);
    EXPECT_EQ(tsr_error_last(&view), TSR_VALUE) << "a new thread has no record";
    refused(tsr_status_name(TSR_OK) == nullptr ? TSR_OK : tsr_poll(nullptr), TSR_INVALID_ARGUMENT);
  }).join();
  EXPECT_STREQ(last().op, "tsr_tensor_data");
}

TEST(ErrorRecord, names_the_op_the_argument_and_what_was_expected) {
  const Tensor x(reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const int64_t axes[1] = {7};
  Tensor out;
  refused(tsr_sum(x, axes, 1, 0, -1, out.slot()), TSR_INDEX);
  const tsr_error_view view = last();
  EXPECT_STREQ(view.op, "sum");
  EXPECT_EQ(view.arg_index, 1);
  const std::string message = view.message;
  EXPECT_NE(message.find("axes"), std::string::npos) << message;
  EXPECT_NE(message.find("7"), std::string::npos) << message;
  EXPECT_GT(view.line, 0);
}

TEST(ErrorRecord, stays_after_a_success) {
  refused(tsr_tensor_data(nullptr, nullptr), TSR_INVALID_ARGUMENT);
  const Tensor x(reals(TSR_FLOAT32, {1}, {1}));
  EXPECT_STREQ(last().op, "tsr_tensor_data") << "success writes nothing thread-local";
}

TEST(PressureCallback, is_called_before_an_allocation_fails) {
  static int calls = 0;
  calls = 0;
  int drops = 0;
  int64_t id = 0, freed = 0;
  ok(tsr_memory_pressure_add(
      TSR_DEVICE_CPU, 0,
      [](void*, const tsr_memory_event* event) {
        ++calls;
        EXPECT_EQ(event->struct_size, sizeof(*event));
        EXPECT_GE(event->requested, int64_t{64} << 20);
        return tsr_pressure_action{TSR_PRESSURE_NOTHING};
      },
      &drops, count_drop, &id));
  ok(tsr_memory_empty_cache(TSR_DEVICE_CPU, 0, &freed));
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, int64_t{32} << 20));
  const int64_t shape[1] = {int64_t{16} << 20}, strides[1] = {1};
  Tensor out;
  refused(tsr_tensor_empty_strided(shape, 1, strides, 1, TSR_FLOAT32, -1, -1, out.slot()),
          TSR_OUT_OF_MEMORY);
  EXPECT_GE(calls, 1);
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, INT64_MAX));
  ok(tsr_memory_pressure_remove(id));
  EXPECT_EQ(drops, 1);
}

// A callback that throws has freed nothing; the next event calls it again.
TEST(PressureCallback, that_throws_is_called_again) {
  static int calls = 0;
  calls = 0;
  int drops = 0;
  int64_t id = 0;
  ok(tsr_memory_pressure_add(
      TSR_DEVICE_CPU, 0,
      [](void*, const tsr_memory_event*) -> tsr_pressure_action {
        ++calls;
        throw std::string("from a pressure callback");
      },
      &drops, count_drop, &id));
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, int64_t{32} << 20));
  const int64_t shape[1] = {int64_t{16} << 20}, strides[1] = {1};
  for (int event = 1; event <= 2; ++event) {
    const int before = calls;
    Tensor out;
    refused(tsr_tensor_empty_strided(shape, 1, strides, 1, TSR_FLOAT32, -1, -1, out.slot()),
            TSR_OUT_OF_MEMORY);
    EXPECT_GT(calls, before) << "event " << event;
  }
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, INT64_MAX));
  ok(tsr_memory_pressure_remove(id));
  EXPECT_EQ(drops, 1);
}

// ---- Drops ----

namespace {

struct Chain {
  tsr_tensor next = nullptr;
};
int g_chain_drops = 0;

// Releases the tensor whose drop releases the next one.
void drop_next(void* user) {
  ++g_chain_drops;
  auto* chain = static_cast<Chain*>(user);
  const tsr_tensor next = chain->next;
  delete chain;
  tsr_tensor_release(next);
}

}  // namespace

TEST(Drop, of_tensors_that_release_each_other_does_not_nest_on_the_stack) {
  static float memory = 0;
  const int64_t one = 1;
  const int64_t before = tsr_live_handles();
  constexpr int kLength = 200000;
  g_chain_drops = 0;
  tsr_tensor last = nullptr;
  for (int i = 0; i < kLength; ++i) {
    tsr_tensor made = nullptr;
    ok(tsr_tensor_from_data(&memory, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &one, 1, nullptr, -1, 0,
                            new Chain{last}, drop_next, &made));
    last = made;
  }
  tsr_tensor_release(last);
  EXPECT_EQ(g_chain_drops, kLength);
  EXPECT_EQ(tsr_live_handles(), before);
}

TEST(Drop, that_throws_does_not_keep_later_ones_from_running) {
  static float memory = 0;
  static int drops;
  const int64_t one = 1;
  drops = 0;
  ok(tsr_defer_drops(1));
  for (int i = 0; i < 5; ++i) {
    tsr_tensor made = nullptr;
    ok(tsr_tensor_from_data(
        &memory, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &one, 1, nullptr, -1, 0, nullptr,
        [](void*) {
          if (++drops == 2) throw std::string("from a drop");
        },
        &made));
    tsr_tensor_release(made);
  }
  ok(tsr_defer_drops(0));
  int64_t count = 0;
  refused(tsr_poll(&count), TSR_CALLBACK);
  EXPECT_EQ(drops, 5);
  ok(tsr_poll(&count));
  EXPECT_EQ(count, 0);
}

TEST(Drop, that_throws_during_a_release_ends_there) {
  static float memory = 0;
  const int64_t one = 1;
  tsr_tensor made = nullptr;
  ok(tsr_tensor_from_data(
      &memory, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &one, 1, nullptr, -1, 0, nullptr,
      [](void*) { throw std::string("from a drop"); }, &made));
  tsr_tensor_release(made);
}

TEST(Payload, whose_drop_fails_in_the_library_leaves_the_new_error) {
  ok(tsr_error_set(TSR_VALUE, "first", -1, &g_exception, [](void*) {
    tsr_tensor out = nullptr;
    refused(tsr_abs(nullptr, &out), TSR_INVALID_ARGUMENT);
  }));
  ok(tsr_error_set(TSR_CANCELLED, "second", -1, nullptr, nullptr));
  EXPECT_EQ(last().code, TSR_CANCELLED);
  EXPECT_STREQ(last().message, "second");
}

TEST(Payload, of_a_thread_that_ends_is_dropped_once_by_poll) {
  int drops = 0;
  std::thread([&] { ok(tsr_error_set(TSR_VALUE, "left", -1, &drops, count_drop)); }).join();
  EXPECT_EQ(drops, 0);
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(drops, 1);
}

TEST(Hook, that_fails_without_an_error_is_told) {
  const Owned x(leaf(2));
  const Tensor total = sum_of(x);
  const tsr_tensor root = total;
  const auto refuses_with = [&](tsr_hook_fn hook, tsr_status status, const char* message) {
    int64_t id = 0;
    ok(tsr_tensor_hook_add(x, hook, nullptr, nullptr, &id));
    refused(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, TSR_BACKWARD_RETAIN_GRAPH), status);
    EXPECT_STREQ(last().message, message);
    ok(tsr_tensor_hook_remove(x, id));
  };
  refuses_with([](void*, tsr_tensor, tsr_tensor*) -> tsr_status { return TSR_VALUE; }, TSR_VALUE,
               "the hook callback returned VALUE and set no error; tsr_error_raise does both");
  refuses_with([](void*, tsr_tensor, tsr_tensor*) -> tsr_status { return 4711; }, TSR_CALLBACK,
               "the hook callback returned 4711, which is no status");
}

TEST(Error, raise_gives_the_code_or_why_the_record_cannot_be_set) {
  int drops = 0;
  EXPECT_EQ(tsr_error_raise(TSR_CANCELLED, "stopping", -1, &drops, count_drop), TSR_CANCELLED);
  EXPECT_EQ(last().code, TSR_CANCELLED);
  EXPECT_STREQ(last().message, "stopping");
  EXPECT_EQ(last().payload, &drops);
  EXPECT_EQ(tsr_error_raise(TSR_OK, "no failure", -1, nullptr, nullptr), TSR_VALUE);
  EXPECT_EQ(tsr_error_raise(TSR_VALUE, nullptr, -1, nullptr, nullptr), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 1);
}

TEST(Error, message_may_be_set_from_the_message_before) {
  const std::string text(3000, 'x');
  ok(tsr_error_set(TSR_VALUE, text.c_str(), -1, nullptr, nullptr));
  ok(tsr_error_set(TSR_VALUE, last().message, -1, nullptr, nullptr));
  EXPECT_EQ(last().message, text);
}

}  // namespace test_callbacks
