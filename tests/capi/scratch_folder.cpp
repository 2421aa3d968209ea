// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Runs the tests in a folder of their own, which goes at the end: what they write by a relative
// path lies nowhere else.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tsr::test {
namespace {

class ScratchFolder : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string folder = testing::TempDir() + "test_capi_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    before_ = std::filesystem::current_path();
    scratch_ = folder;
    std::filesystem::current_path(scratch_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(scratch_);
  }

 private:
  std::filesystem::path before_, scratch_;
};

[[maybe_unused]] const auto* const kScratchFolder =
    ::testing::AddGlobalTestEnvironment(new ScratchFolder);  // gtest owns it

}  // namespace
}  // namespace tsr::test
