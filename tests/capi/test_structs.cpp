// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Structs that grow: callers older and newer than the library, with a struct of the test that has
// grown since its first version.
#include <gtest/gtest.h>

#include <cstring>

#include "capi/structs.h"

namespace test_structs {

using namespace tsr;
using namespace tsr::capi;

namespace {

using TestDrop = void (*)(void*);

struct First {
  uint32_t struct_size;
  int32_t a;
};
struct Grown {
  uint32_t struct_size;
  int32_t a;
  int64_t b;
  TestDrop drop;
};
struct Newest {
  Grown grown;
  int64_t c;
};

}  // namespace
}  // namespace test_structs

template <>
inline constexpr uint32_t tsr::capi::kFirstSize<test_structs::Grown> = sizeof(test_structs::First);

namespace test_structs {
namespace {

Code code_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

// Memory behind an older caller's struct belongs to the caller.
TEST(Structs, of_an_older_caller_are_filled_as_far_as_they_go) {
  Grown old = {sizeof(First), 0, 77, nullptr};
  fill_struct(&old, Grown{0, 5, 6, nullptr}, "info");
  EXPECT_EQ(old.a, 5);
  EXPECT_EQ(old.struct_size, sizeof(First));
  EXPECT_EQ(old.b, 77);
}

TEST(Structs, of_an_older_caller_read_as_if_the_rest_were_zero) {
  Grown old = {sizeof(First), 5, 77, [](void*) {}};
  const Grown read = read_struct(&old, "info");
  EXPECT_EQ(read.a, 5);
  EXPECT_EQ(read.b, 0);
  EXPECT_EQ(read.drop, nullptr);
  EXPECT_EQ(drop_of(&old), nullptr);
  old.struct_size = sizeof(Grown);
  EXPECT_NE(drop_of(&old), nullptr);
}

TEST(Structs, of_a_newer_caller_get_zero_where_we_know_nothing) {
  Newest newest;
  std::memset(&newest, 0xaa, sizeof(newest));
  newest.grown.struct_size = sizeof(newest);
  fill_struct(&newest.grown, Grown{0, 5, 6, nullptr}, "info");
  EXPECT_EQ(newest.grown.b, 6);
  EXPECT_EQ(newest.c, 0);
  EXPECT_EQ(newest.grown.struct_size, sizeof(newest));
}

TEST(Structs, of_a_newer_caller_are_refused_when_they_ask_for_what_we_do_not_know) {
  Newest newest = {};
  newest.grown.struct_size = sizeof(newest);
  newest.grown.b = 6;
  EXPECT_EQ(read_struct(&newest.grown, "info").b, 6);
  newest.c = 1;
  EXPECT_EQ(code_of([&] { read_struct(&newest.grown, "info"); }), Code::kAbi);
}

TEST(Structs, smaller_than_the_first_version_or_huge_are_refused) {
  Grown grown = {};
  for (uint32_t size : {0U, 4U, 7U, 4097U, UINT32_MAX}) {
    grown.struct_size = size;
    EXPECT_EQ(code_of([&] { read_struct(&grown, "info"); }), Code::kAbi) << size;
    EXPECT_EQ(code_of([&] { fill_struct(&grown, Grown{}, "info"); }), Code::kAbi) << size;
  }
  EXPECT_EQ(code_of([] { read_struct<Grown>(nullptr, "info"); }), Code::kInvalidArgument);
}

TEST(Structs, of_the_schema_have_the_sizes_of_their_first_version) {
  EXPECT_EQ(kFirstSize<tsr_info>, 72U);
  EXPECT_EQ(kFirstSize<tsr_memory_event>, sizeof(tsr_memory_event));
  EXPECT_LE(kFirstSize<tsr_node_vtable>, sizeof(tsr_node_vtable));
}

}  // namespace
}  // namespace test_structs
