// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// safetensors: valid and invalid headers, and files that are written and read again.
#include "io/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "base/error.h"
#include "ops/create/create.h"
#include "support/start_up.h"

namespace tsr::io::test_safetensors {
namespace {

const char* const kGood =
    R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
    R"("b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";

Code code_of(const std::string& header, uint64_t size) {
  try {
    static_cast<void>(parse_header(header, size));
    return Code::kOk;
  } catch (const Error& error) {
    return error.code();
  }
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

TEST(SafetensorsHeader, lists_entries_in_the_order_of_their_data) {
  const ArchiveHeader header = parse_header(kGood, 16);
  ASSERT_EQ(header.entries.size(), 2U);
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[1].dtype, DType::kInt64);
  EXPECT_TRUE(header.entries[1].shape.empty());
  ASSERT_EQ(header.metadata.size(), 1U);
  EXPECT_EQ(header.metadata[0].second, "v");
}

TEST(SafetensorsHeader, refuses_what_the_format_does_not_allow) {
  EXPECT_EQ(code_of("", 0), Code::kIo);
  EXPECT_EQ(code_of(" {}", 0), Code::kIo);
  EXPECT_EQ(code_of("{", 0), Code::kIo);
  EXPECT_EQ(code_of("{}", 1), Code::kIo);
  EXPECT_EQ(code_of(kGood, 17), Code::kIo);
  EXPECT_EQ(code_of(one("F31", "[1]", "[0,4]"), 4), Code::kIo);
  EXPECT_EQ(code_of(one("F32", "[-1]", "[0,4]"), 4), Code::kIo);
  EXPECT_EQ(code_of(one("F32", "[4611686018427387904,4]", "[0,0]"), 0), Code::kIo);
  EXPECT_EQ(code_of(one("F32", "[0,4611686018427387904,4611686018427387904]", "[0,0]"), 0),
            Code::kIo);
  EXPECT_EQ(code_of(one("F32", "[1]", "[4,0]"), 4), Code::kIo);
  EXPECT_EQ(code_of(one("F32", "[1]", "[1,5]"), 5), Code::kIo);
  EXPECT_EQ(code_of(R"({"a":)" + std::string(100000, '['), 0), Code::kIo);
  EXPECT_EQ(code_of(one("F32", "[1]", "[0,4]"), 4), Code::kOk);
}

std::string message_of(const std::string& header) {
  try {
    static_cast<void>(parse_header(header, 0));
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return "";
}

// The parser treats a zero byte as the end of the text, so text behind it would be ignored.
TEST(SafetensorsHeader, with_a_zero_byte_is_refused) {
  EXPECT_EQ(code_of(std::string("{}\0 ", 4), 0), Code::kIo);
}

TEST(SafetensorsHeader, a_long_text_is_cut_in_messages) {
  const std::string name(1'000'000, 'n');
  EXPECT_LT(message_of("{\"" + name + "\":0}").size(), 300U);
  EXPECT_LT(message_of("{\"a\":{\"dtype\":\"" + name + "\"}}").size(), 300U);
  EXPECT_LT(message_of("{\"" + name).size(), 300U);
}

// Nothing is read after the first error, so that a header of 100 MB costs nothing.
TEST(SafetensorsHeader, is_read_no_further_than_its_first_mistake) {
  std::string rows = R"({"0":0)";
  std::string sizes = R"({"a":{"shape":[1)";
  for (int i = 0; i < 1'000'000; ++i) {
    rows += ",\"x\":0";
    sizes += ",1";
  }
  EXPECT_NE(message_of(rows).find("'0' needs dtype"), std::string::npos);
  EXPECT_NE(message_of(sizes).find("more than 64 sizes"), std::string::npos);
}

TEST(SafetensorsHeader, damaged_headers_never_crash) {
  std::mt19937 random(0);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = kGood;
    for (int change = 0; change < 1 + round % 3; ++change) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<char>(random());
          break;
        case 1:
          damaged.erase(at, 1 + random() % 4);
          break;
        default:
          damaged.insert(at, 1, "0123456789{}[]\",:"[random() % 17]);
      }
    }
    const Code code = code_of(damaged, 16);
    EXPECT_TRUE(code == Code::kOk || code == Code::kIo) << damaged;
  }
}

class SafetensorsFile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tsr::testing::start_up(); }
  ~SafetensorsFile() override { static_cast<void>(std::remove(path_.c_str())); }
  const std::string path_ = ::testing::TempDir() + "tessera_safetensors_test";
};

TEST_F(SafetensorsFile, comes_back_without_a_copy_and_outlives_its_archive) {
  const int64_t sizes[] = {2, 3};
  const Tensor bytes = ops::full(DimsView(sizes, 2), Scalar(7), DType::kUInt8);
  const Tensor doubles = ops::full(DimsView(sizes, 2), Scalar(2.5), DType::kFloat64);
  const NamedTensor named[] = {{"bytes", &bytes}, {"doubles", &doubles}};
  save_archive(path_, named, {{"made", "here"}});
  Tensor back;
  {
    const auto archive = Archive::open(path_);
    ASSERT_EQ(archive->header.entries.size(), 2U);
    EXPECT_EQ(archive->header.entries[0].name, "doubles");  // larger elements first, all aligned
    back = archive->tensor(0);
    EXPECT_EQ(static_cast<const void*>(archive->data), back.data());
    EXPECT_EQ(archive->tensor(1).data_as<uint8_t>()[5], 7);
    EXPECT_THROW(static_cast<void>(archive->tensor(2)), Error);
  }
  back.data_as<double>()[0] = 1.0;  // changes only the memory of this process
  EXPECT_EQ(back.data_as<double>()[5], 2.5);
  EXPECT_EQ(Archive::open(path_)->tensor(0).data_as<double>()[0], 2.5);
}

TEST_F(SafetensorsFile, refuses_names_that_stand_twice_and_leaves_no_file) {
  const Tensor tensor = ops::zeros({});
  const NamedTensor named[] = {{"a", &tensor}, {"a", &tensor}};
  EXPECT_THROW(save_archive(path_, named, {}), Error);
  EXPECT_FALSE(std::ifstream(path_).good());
}

TEST_F(SafetensorsFile, that_could_not_be_read_again_is_not_written) {
  const Metadata metadata = {{"long", std::string(100'000'000, 'x')}};
  try {
    save_archive(path_, {}, metadata);
    ADD_FAILURE() << "a header of more than 100 MB was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kValue) << error.message();
    EXPECT_STREQ(error.arg(), "metadata");
    EXPECT_NE(error.message().find("got 100000032 bytes"), std::string::npos) << error.message();
  }
  EXPECT_FALSE(std::ifstream(path_).good());
  EXPECT_THROW(static_cast<void>(archive_bytes({}, metadata)), Error);
}

TEST_F(SafetensorsFile, shorter_than_it_says_is_refused) {
  std::ofstream(path_) << std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
  EXPECT_THROW(static_cast<void>(Archive::open(path_)), Error);
}

TEST_F(SafetensorsFile, refuses_a_pipe_without_waiting_for_a_writer) {
  const std::string path = ::testing::TempDir() + "/pipe.safetensors";
  std::remove(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  try {
    static_cast<void>(Archive::open(path));
    ADD_FAILURE() << "a pipe was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo) << error.message();
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace tsr::io::test_safetensors
