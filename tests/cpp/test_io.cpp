// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Safetensors files, and the JSON texts saved with the tensors.
#include <cstdio>
#include <fstream>

#include "support.hpp"

namespace test_io {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Io, round_trip_keeps_everything) {
  const std::string path = temporary("round_trip.safetensors");
  const TensorMap saved{{"a", arange(6).reshape({2, 3})},
                        {"b", tensor({1.5, 2.5}, kFloat64)},
                        {"empty", zeros({0, 3}, kBFloat16)},
                        {"nothing \"quoted\" \\ é", tensor({true, false})},
                        {"t", arange(6).reshape({2, 3}).matrix_transpose()}};
  const TextMap texts{{"from", "C++"}, {"lines", "1\n2\t\x01 \"\\"}, {"π", "😀"}};
  save_file(saved, path, texts);
  const TensorMap loaded = load_file(path);
  ASSERT_EQ(loaded.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    EXPECT_EQ(loaded.at(name).dtype(), tensor.dtype());
    EXPECT_EQ(loaded.at(name).shape(), tensor.shape());
    EXPECT_EQ(numbers(loaded.at(name)), numbers(tensor)) << name;
  }
  EXPECT_EQ(load_metadata(path), texts);
  std::remove(path.c_str());
}

TEST(Io, metadata_written_with_escapes_is_read) {
  const auto texts = detail::parse_texts(R"({ "a\u00e9" : "\ud83d\ude00\/\b" ,"b":""})");
  EXPECT_EQ(texts, (TextMap{{"aé", "😀/\b"}, {"b", ""}}));
  EXPECT_EQ(detail::parse_texts("{}"), TextMap{});
  for (const char* broken : {"", "{", R"({"a")", R"({"a":1})", R"({"a":"\x"})", R"({"a":"\ud83d"})",
                             R"({"a":"\u12"})", R"({"a":"b")"}) {
    EXPECT_THROW(detail::parse_texts(broken), FileError) << broken;
  }
}

TEST(Io, archives_give_tensors_by_name) {
  const std::string path = temporary("archive.safetensors");
  save_file({{"x", ones({2})}, {"y", zeros({1})}}, path);
  const Archive archive(path);
  EXPECT_EQ(archive.names().size(), 2U);
  EXPECT_EQ(numbers(archive.tensor("x")), (Numbers{1, 1}));
  EXPECT_THROW(archive.tensor("z"), OutOfRangeError);
  EXPECT_EQ(archive.metadata(), TextMap{});
  std::remove(path.c_str());
}

TEST(Io, bytes_are_those_of_the_file) {
  const std::string path = temporary("bytes.safetensors");
  const TensorMap saved{{"x", arange(3)}, {"y", zeros({0, 2})}};
  save_file(saved, path, {{"k", "v"}});
  std::ifstream file(path, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  std::string bytes = save_bytes(saved, {{"k", "v"}});
  EXPECT_EQ(bytes, contents);
  const TensorMap loaded = load_bytes(bytes);
  const Archive archive = Archive::from_bytes(bytes);
  bytes.assign(bytes.size(), 'x');  // was copied
  EXPECT_EQ(numbers(loaded.at("x")), (Numbers{0, 1, 2}));
  EXPECT_EQ(loaded.at("y").shape(), saved.at("y").shape());
  EXPECT_EQ(archive.metadata(), (TextMap{{"k", "v"}}));
  EXPECT_EQ(numbers(archive.tensor("x")), (Numbers{0, 1, 2}));
  EXPECT_THROW(load_bytes(bytes), FileError);
  EXPECT_THROW(load_bytes(""), FileError);
  std::remove(path.c_str());
}

TEST(Io, loading_copies_nothing_and_writing_stays_here) {
  const std::string path = temporary("mapped.safetensors");
  save_file({{"x", ones({1024})}}, path);
  Tensor x = load_file(path).at("x");
  x += 1;
  EXPECT_EQ(load_file(path).at("x").sum().item<double>(), 1024);
  std::remove(path.c_str());
  EXPECT_EQ(x.sum().item<double>(), 2048) << "the tensor outlives archive and file";
}

TEST(Io, hostile_files_are_refused) {
  const std::string path = temporary("hostile.safetensors");
  for (const std::string& bytes : {std::string(), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
                                   std::string("\x02\0\0\0\0\0\0\0[]", 10)}) {
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_THROW(load_file(path), FileError);
  }
  std::remove(path.c_str());
}

TEST(Io, failed_saves_leave_the_old_file) {
  const std::string path = temporary("kept.safetensors");
  save_file({{"x", ones({2})}}, path);
  EXPECT_THROW(save_file({{"x", zeros({2}, kComplex128)}}, path), DTypeError);
  EXPECT_EQ(numbers(load_file(path).at("x")), (Numbers{1, 1}));
  std::remove(path.c_str());
  EXPECT_THROW(save_file({{"x", ones({2})}}, temporary("no folder") + "/x"), FileError);
}

TEST(Io, archives_leave_nothing_behind) {
  const std::string path = temporary("left.safetensors");
  const int64_t before = live_handles();
  save_file({{"x", ones({2})}}, path);
  for (int i = 0; i < 10; ++i) load_file(path);
  EXPECT_EQ(live_handles(), before);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace test_io
