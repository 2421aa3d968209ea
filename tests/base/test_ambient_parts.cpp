// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ambient_parts.h"

#include <gtest/gtest.h>

#include <thread>

namespace tsr::test_ambient_parts {
namespace {

thread_local int t_value = 0;

TEST(AmbientParts, carries_what_each_part_saves_to_another_thread) {
  add_ambient_part({[]() -> std::shared_ptr<const void> { return std::make_shared<int>(t_value); },
                    [](const std::shared_ptr<const void>& saved) {
                      t_value = *static_cast<const int*>(saved.get());
                    },
                    AmbientUse::kThread});
  t_value = 7;
  const AmbientParts state = AmbientParts::save(AmbientUse::kThread);
  t_value = 8;
  int elsewhere = 0;
  std::thread([&] {
    state.restore();
    elsewhere = t_value;
  }).join();
  EXPECT_EQ(elsewhere, 7);
  EXPECT_EQ(t_value, 8);
  state.restore();
  EXPECT_EQ(t_value, 7);
}

}  // namespace
}  // namespace tsr::test_ambient_parts
