// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// New files: what they replace and what they leave as it is.
#include "io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"

namespace tsr::io::test_file {
namespace {

namespace fs = std::filesystem;

class NewFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tessera-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const char* name) const { return (folder_ / name).string(); }
  static void put(const std::string& path, const std::string& text) {
    NewFile file(path);
    file.write(text.data(), text.size());
    file.commit(false);
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A file that remains beside the ones that were written would be a temporary one.
  [[nodiscard]] ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

 private:
  fs::path folder_;
};

TEST_F(NewFiles, replace_the_file_that_a_link_leads_to) {
  put(at("a"), "old");
  fs::create_symlink("a", at("b"));
  fs::create_symlink(at("b"), at("c"));
  put(at("c"), "new");
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_TRUE(fs::is_symlink(at("b")));
  EXPECT_TRUE(fs::is_symlink(at("c")));
  EXPECT_EQ(entries(), 3);
}

TEST_F(NewFiles, appear_where_a_link_leads_to_nothing) {
  fs::create_symlink("a", at("b"));
  put(at("b"), "new");
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_TRUE(fs::is_symlink(at("b")));
}

TEST_F(NewFiles, refuse_links_in_a_circle) {
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  try {
    put(at("a"), "new");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_EQ(error.native_code(), ELOOP);
  }
}

TEST_F(NewFiles, keep_the_permissions_of_the_file_they_replace) {
  put(at("a"), "old");
  fs::permissions(at("a"), fs::perms::owner_read | fs::perms::owner_write);
  put(at("a"), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(text_of(at("a")), "new");
}

TEST_F(NewFiles, leave_what_an_earlier_process_of_the_same_number_left) {
  const auto leftover = [&](int number) {
    return at("a") + "." + std::to_string(::getpid()) + "." + std::to_string(number) + ".tmp";
  };
  constexpr int kMost = 100;  // other tests of this process took numbers before
  for (int number = 0; number < kMost; ++number) std::ofstream(leftover(number)) << "left";
  put(at("a"), "new");
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_EQ(entries(), kMost + 1);
}

TEST_F(NewFiles, are_written_into_a_pipe_and_do_not_replace_it) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  put(at("pipe"), "through");
  std::array<char, 16> got{};
  EXPECT_EQ(::read(reader, got.data(), got.size()), 7);
  EXPECT_STREQ(got.data(), "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
  EXPECT_EQ(entries(), 1);
}

TEST_F(NewFiles, refuse_a_folder_before_anything_is_written) {
  fs::create_directory(at("folder"));
  try {
    const NewFile file(at("folder"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.native_code(), EISDIR);
  }
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace tsr::io::test_file
