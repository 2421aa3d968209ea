// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the guard makes of exceptions.
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "capi/generated/infos.h"
#include "capi/guard.h"

namespace test_status {

using namespace tsr;
using namespace tsr::capi;

namespace {

std::string last_message() {
  tsr_error_view view = {};
  view.struct_size = sizeof view;
  EXPECT_EQ(tsr_error_last(&view), TSR_OK);
  return {view.message, static_cast<size_t>(view.message_len)};
}

// Json that the caller gave, in a place that nobody has checked.
TEST(ErrorRecord, of_unexpected_json_is_the_callers_mistake) {
  const tsr_status status = guard(
      kInfo_poll, [] { static_cast<void>(Json::parse("9223372036854775808").get<int64_t>()); });
  EXPECT_EQ(status, TSR_VALUE);
  EXPECT_EQ(last_message(),
            "tsr_poll: JSON: expected a whole number below 2^63, got 9223372036854775808");
}

TEST(ErrorRecord, goes_on_with_payload_and_native_code) {
  int drops = 0;
  const auto count = [](void* user) { ++*static_cast<int*>(user); };
  ASSERT_EQ(tsr_error_set(TSR_VALUE, "host's", -1, &drops, count), TSR_OK);
  {
    const Error error = take_failure(TSR_VALUE, "file", 7);
    EXPECT_EQ(error.code(), Code::kValue);
    EXPECT_EQ(error.message(), "host's");
    EXPECT_EQ(error.payload().get(), &drops);
    EXPECT_EQ(error.line(), 7);
    EXPECT_EQ(drops, 0);
  }
  EXPECT_EQ(drops, 1);
  const tsr_status status = guard(kInfo_poll, [] {
    Error error(Code::kBackend, nullptr, "a backend's");
    error.set_native_code(42);
    throw error;
  });
  EXPECT_EQ(take_failure(status, "file", 1).native_code(), 42);
}

}  // namespace
}  // namespace test_status
