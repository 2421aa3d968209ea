// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_DEBUG=handles: a released handle is always refused, also when its memory is in use again.
#include <unistd.h>
#include <cstdlib>
#include <string>

#include "capi/abi_support.h"
#include "capi/example_support.h"

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

// The library reads the variable when it is loaded, so the test starts itself anew with it.
int main(int argc, char** argv) {
  if (std::getenv("TSR_DEBUG") == nullptr) {
    setenv("TSR_DEBUG", "handles", 1);
    execv("/proc/self/exe", argv);
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
