// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_DEBUG=handles: a released handle is always refused, because its memory is not reused soon;
// leaks are reported at exit.
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_debug_handles {

using namespace tsr::test;

namespace {
int g_messages = 0;
}

TEST(DebugHandles, refuses_a_released_tensor) {
  tsr_tensor tensor = f32_vector(3);
  tsr_tensor_release(tensor);
  const void* data = nullptr;
  refused(tsr_tensor_data(tensor, &data), TSR_INVALID_ARGUMENT);
}

namespace {

std::string why_refused(tsr_tensor tensor) {
  const void* data = nullptr;
  refused(tsr_tensor_data(tensor, &data), TSR_INVALID_ARGUMENT);
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return view.message;
}

}  // namespace

TEST(DebugHandles, refuses_a_released_tensor_while_others_are_made) {
  const int64_t two = 2, five = 5;
  tsr_tensor stale = nullptr;
  ok(tsr_ones(&two, 1, TSR_FLOAT32, -1, -1, &stale));
  tsr_tensor_release(stale);
  for (int i = 0; i < 2000; ++i) {
    tsr_tensor fresh = nullptr;
    ok(tsr_zeros(&five, 1, TSR_FLOAT64, -1, -1, &fresh));
    ASSERT_NE(fresh, stale);
    if (i % 500 == 0) {
      EXPECT_NE(why_refused(stale).find("the tensor that ones gave out as handle"),
                std::string::npos);
      tsr_tensor_release(stale);  // a second release releases no reference
      EXPECT_EQ(numel(fresh), 5);
    }
    tsr_tensor_release(fresh);
  }
}

TEST(DebugHandles, serves_a_tensor_that_is_given_out_again) {
  tsr_tensor x = leaf(2), total = nullptr, grad = nullptr;
  ok(tsr_sum(x, nullptr, -1, 0, -1, &total));
  ok(tsr_backward(&total, 1, nullptr, 0, nullptr, 0, 0));
  for (int i = 0; i < 3; ++i) {
    ok(tsr_tensor_grad(x, &grad));
    EXPECT_EQ(numel(grad), 2);
    tsr_tensor_release(grad);
    EXPECT_NE(why_refused(grad).find("tsr_tensor_grad"), std::string::npos);
  }
  tsr_tensor_release(x);
  tsr_tensor_release(total);
}

TEST(DebugHandles, are_told_of_those_that_scopes_release) {
  tsr_scope scope = nullptr;
  ok(tsr_scope_begin(&scope));
  tsr_tensor inside = f32_vector(2), early = f32_vector(2);
  tsr_tensor_release(early);
  ok(tsr_scope_end(scope, nullptr, 0));
  why_refused(inside);
  why_refused(early);
}

TEST(DebugHandles, refuses_the_scope_of_a_thread_that_has_ended) {
  tsr_scope left = nullptr;
  std::thread([&] { ok(tsr_scope_begin(&left)); }).join();
  refused(tsr_scope_end(left, nullptr, 0), TSR_INVALID_ARGUMENT);
}

namespace {

std::string snapshot() {
  tsr_buffer json = nullptr;
  const char* text = nullptr;
  int64_t size = 0;
  ok(tsr_debug_snapshot(&json));
  ok(tsr_buffer_data(json, &text, &size));
  std::string all(text, static_cast<size_t>(size));
  tsr_buffer_release(json);
  return all;
}

}  // namespace

TEST(DebugHandles, are_listed_with_the_function_that_gave_them_out) {
  const int64_t two = 2;
  tsr_tensor kept = nullptr;
  ok(tsr_full(&two, 1, TSR_F64(3), -1, -1, -1, &kept));
  tsr_tensor_retain(kept);
  const std::string all = snapshot();
  EXPECT_NE(all.find("\"kind\":\"tensor\",\"made_by\":\"full\",\"references\":2}"),
            std::string::npos)
      << all;
  tsr_tensor_release(kept);
  tsr_tensor_release(kept);
}

TEST(DebugHandles, are_listed_by_their_kinds) {
  tsr_tensor w = leaf(2);
  tsr_optimizer optimizer = example_optimizer(w);
  tsr_archive archive = example_archive();
  const std::string all = snapshot();
  EXPECT_NE(all.find("\"kind\":\"optimizer\",\"made_by\":\"tsr_optimizer_new\""), std::string::npos)
      << all;
  EXPECT_NE(all.find("\"kind\":\"archive\""), std::string::npos) << all;
  EXPECT_EQ(all.find("\"kind\":\"object\""), std::string::npos) << all;
  tsr_archive_release(archive);
  tsr_optimizer_release(optimizer);
  tsr_tensor_release(w);
}

TEST(DebugHandles, of_programs_scalers_and_groups_are_listed_by_their_kinds) {
  tsr_tensor w = leaf(2);
  tsr_program program = example_program();
  tsr_grad_scaler scaler = example_scaler();
  tsr_group group = example_group();
  tsr_work work = nullptr;
  ok(tsr_group_barrier(group, &work));
  tsr_data_parallel parallel = example_data_parallel(w);
  tsr_sharded_optimizer sharded = example_sharded_optimizer(w);
  const std::string all = snapshot();
  for (const char* kind :
       {"program", "gradient scaler", "group", "work", "data-parallel", "sharded optimizer"}) {
    EXPECT_NE(all.find("\"kind\":\"" + std::string(kind) + "\""), std::string::npos)
        << kind << " in " << all;
  }
  EXPECT_EQ(all.find("\"kind\":\"object\""), std::string::npos) << all;
  tsr_sharded_optimizer_release(sharded);
  tsr_data_parallel_release(parallel);
  tsr_work_release(work);
  tsr_group_release(group);
  tsr_grad_scaler_release(scaler);
  tsr_program_release(program);
  tsr_tensor_release(w);
}

namespace {

// Of (x + w) + by, with x of n elements.
tsr_program record_sum(tsr_tensor w, int64_t n, double by) {
  tsr_tensor x = f32_vector(n), sum = nullptr, y = nullptr;
  tsr_program program = nullptr;
  ok(tsr_program_record_begin(&x, 1, nullptr, 0, &w, 1, nullptr, 0));
  ok(tsr_add(x, w, &sum));
  ok(tsr_add_scalar(sum, TSR_F64(by), &y));
  ok(tsr_program_record_end(&y, 1, nullptr, 0, &program));
  for (tsr_tensor each : {x, sum, y}) tsr_tensor_release(each);
  return program;
}

}  // namespace

TEST(DebugHandles, stay_live_where_recordings_give_no_program) {
  tsr_tensor w = f32_vector(1), other = f32_vector(1);
  const void* data = nullptr;
  ok(tsr_program_record_begin(nullptr, 0, nullptr, 0, &w, 1, nullptr, 0));
  ok(tsr_program_record_cancel());
  ok(tsr_tensor_data(w, &data));
  tsr_program program = nullptr;
  ok(tsr_program_record_begin(nullptr, 0, nullptr, 0, &w, 1, nullptr, 0));
  refused(tsr_program_record_end(&other, 1, nullptr, 0, &program), TSR_VALUE);
  ok(tsr_tensor_data(w, &data));
  const tsr_program both[2] = {record_sum(w, 2, 0.5), record_sum(w, 3, 0.25)};
  refused(tsr_program_unify(both, 2, &program), TSR_VALUE);
  ok(tsr_tensor_data(w, &data));
  for (tsr_program each : both) tsr_program_release(each);
  ok(tsr_tensor_data(w, &data));
  tsr_tensor_release(w);
  tsr_tensor_release(other);
}

TEST(DebugHandles, refuses_what_was_never_a_handle) {
  alignas(16) char memory[256] = {};
  const void* data = nullptr;
  refused(tsr_tensor_data(reinterpret_cast<tsr_tensor>(memory), &data), TSR_INVALID_ARGUMENT);
  refused(tsr_tensor_data(reinterpret_cast<tsr_tensor>(memory + 1), &data), TSR_INVALID_ARGUMENT);
}

TEST(DebugHandles, reports_a_second_release_to_the_log) {
  ok(tsr_log_set([](void*, tsr_log_level, const char*, const char*, int64_t) { ++g_messages; },
                 nullptr, nullptr));
  tsr_tensor tensor = f32_vector(3);
  tsr_tensor_release(tensor);
  const int64_t live = tsr_live_handles();
  tsr_tensor_release(tensor);
  EXPECT_EQ(tsr_live_handles(), live);
  EXPECT_EQ(g_messages, 1);
  ok(tsr_log_set(nullptr, nullptr, nullptr));
}

TEST(DebugHandles, knows_borrowed_handles_inside_callbacks) {
  tsr_tensor x = leaf(2), total = nullptr;
  static tsr_tensor seen = nullptr;
  int64_t id = 0;
  ok(tsr_tensor_hook_add(
      x,
      [](void*, tsr_tensor grad, tsr_tensor* replacement) {
        seen = grad;
        return tsr_add(grad, grad, replacement);
      },
      nullptr, nullptr, &id));
  ok(tsr_sum(x, nullptr, -1, 0, -1, &total));
  ok(tsr_backward(&total, 1, nullptr, 0, nullptr, 0, 0));
  const void* data = nullptr;
  refused(tsr_tensor_data(seen, &data), TSR_INVALID_ARGUMENT);
  tsr_tensor_release(x);
  tsr_tensor_release(total);
}

namespace {

// The report of a process that runs `body` and exits; written to the file TSR_DEBUG_FILE.
std::string report_of(void (*body)()) {
  const std::string path = testing::TempDir() + "tsr_leaks_" + std::to_string(getpid());
  setenv("TSR_DEBUG_FILE", path.c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  unsetenv("TSR_DEBUG_FILE");
  EXPECT_EQ(status, 0);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  return text;
}

}  // namespace

TEST(DebugHandles, that_are_never_released_are_told_at_exit) {
  EXPECT_EQ(report_of([] { tsr_tensor_release(f32_vector(2)); }), "");
  const std::string report = report_of([] {
    const int64_t two = 2;
    for (int i = 0; i < 3; ++i) {
      tsr_tensor left = nullptr;
      ok(tsr_ones(&two, 1, TSR_FLOAT32, -1, -1, &left));
    }
    tsr_generator generator = nullptr;
    ok(tsr_generator_new(1, &generator));
    static tsr_tensor late = f32_vector(2);
    std::atexit([] { tsr_tensor_release(late); });  // before the report
  });
  EXPECT_NE(report.find("tessera: 3 tensor handles of ones never released (the first is handle"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("tessera: 1 generator handle of tsr_generator_new"), std::string::npos);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 2) << report;
}

}  // namespace test_debug_handles

// The library reads the variable when it is loaded, so the test restarts itself with it.
int main(int argc, char** argv) {
  if (std::getenv("TSR_DEBUG") == nullptr) {
    setenv("TSR_DEBUG", "handles", 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
