// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The schema inside the library is identical to the installed file.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "support/places.h"
#include "tessera/tessera.h"

namespace test_schema {
namespace {

TEST(Schema, is_the_installed_file_and_ends_with_zero) {
  const std::string path = tsr::testing::source_path("capi/generated/schema.json");
  std::ifstream file(path, std::ios::binary);
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  ASSERT_GT(expected.size(), 1000U) << path;
  const char* json = nullptr;
  int64_t size = 0;
  ASSERT_EQ(tsr_schema_json(&json, &size), TSR_OK);
  EXPECT_TRUE(std::string(json, static_cast<size_t>(size)) == expected) << size << " bytes";
  EXPECT_EQ(json[size], 0);
}

}  // namespace
}  // namespace test_schema
