// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/host_stack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace tsr::test_host_stack {
namespace {

void ask(HostStackSource source) {
  set_host_stack(std::make_shared<const HostStackSource>(std::move(source)));
}

class HostStack : public ::testing::Test {
 protected:
  void TearDown() override { set_host_stack(nullptr); }
};

TEST_F(HostStack, is_that_of_the_thread_that_asks) {
  EXPECT_EQ(host_stack(), "");
  static thread_local const char* place = "main.py:1 in main";
  ask([] { return std::string(place) + "\n\n"; });
  EXPECT_EQ(host_stack(), "main.py:1 in main");
  std::thread([] {
    place = "work.py:2 in run";
    EXPECT_EQ(host_stack(), "work.py:2 in run");
  }).join();
}

TEST_F(HostStack, is_empty_while_the_source_runs_and_where_it_fails) {
  ask([] { return "[" + host_stack() + "]"; });
  EXPECT_EQ(host_stack(), "[]");
  ask([]() -> std::string { throw std::runtime_error("lost"); });
  EXPECT_THROW((void)host_stack(), std::runtime_error);
  EXPECT_EQ(host_stack_or_none(), "");
  ask([] { return std::string("again"); });
  EXPECT_EQ(host_stack(), "again") << "a failure must not look like a source that runs";
}

TEST_F(HostStack, its_source_may_be_replaced_from_inside) {
  auto kept = std::make_shared<int>(0);
  ask([kept] {
    set_host_stack(nullptr);
    return std::string("last");
  });
  EXPECT_EQ(kept.use_count(), 2);
  EXPECT_EQ(host_stack(), "last");
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(HostStack, lines_of_source_files_stand_below_their_frames) {
  const std::string file = ::testing::TempDir() + "host_stack_" + std::to_string(getpid()) + ".py";
  std::ofstream(file) << "def forward(x):\n    return sqrt(x)  \n\n";
  EXPECT_EQ(with_source_lines(file + ":2 in forward\nmain.py:1 in main"),
            "  " + file + ":2 in forward\n    return sqrt(x)\n  main.py:1 in main\n");
  for (const char* frame : {":3 in blank", ":9 in beyond", ":0 in nowhere", ":x in what", " in no",
                            ":99999999999999999999 in far"}) {
    EXPECT_EQ(with_source_lines(file + frame), "  " + file + frame + "\n");
  }
  for (const char* frame : {"/dev/zero:1 in endless", "/:1 in folder", "text", ":1 in empty"})
    EXPECT_EQ(with_source_lines(frame), "  " + std::string(frame) + "\n");
  EXPECT_EQ(with_source_lines(""), "");
  std::remove(file.c_str());
}

}  // namespace
}  // namespace tsr::test_host_stack
