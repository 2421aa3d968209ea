// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Errors: one class for each kind, their fields, exceptions from other sources.
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "support.hpp"

namespace test_errors {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Errors, every_status_has_a_class) {
  for (int32_t code = 1; code <= kLastErrorKind; ++code) {
    ASSERT_EQ(tsr_error_set(code, "made here", -1, nullptr, nullptr), TSR_OK);
    try {
      check(code);
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int32_t>(error.kind()), code);
      EXPECT_STREQ(error.what(), "made here");
      EXPECT_EQ(name(error.kind()), std::string(tsr_status_name(code)));
      EXPECT_NE(typeid(error), typeid(Error)) << "code " << code << " has no class of its own";
    }
  }
}

TEST(Errors, errors_carry_operation_and_argument) {
  try {
    ones({2, 3}).matmul(ones({2, 3}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kShape);
    EXPECT_EQ(error.op(), "matmul");
    EXPECT_EQ(error.argument(), 1);
    EXPECT_EQ(error.native_code(), 0);
    EXPECT_NE(std::string(error.what()).find("expected 3 rows"), std::string::npos);
  }
}

TEST(Errors, functions_that_are_no_ops_lose_the_prefix_of_c) {
  try {
    ones({2}).item<double>();
    FAIL() << "nothing was thrown";
  } catch (const InvalidValueError& error) {
    EXPECT_EQ(error.op(), "tensor_item");
    EXPECT_EQ(std::string(error.what()).rfind("tensor_item: tensor: ", 0), 0U) << error.what();
  }
}

TEST(Errors, an_item_is_not_cast_to_a_narrower_kind) {
  EXPECT_THROW(tensor(1.5).item<int>(), DTypeError);
  EXPECT_THROW(tensor(1.5).item<bool>(), DTypeError);
  EXPECT_THROW(tensor(std::complex<double>(1, 2)).item<double>(), DTypeError);
  EXPECT_EQ(tensor(7).item<double>(), 7.0);
}

TEST(Errors, builtins_catch) {
  EXPECT_THROW(ones({2}).reshape({3}), std::runtime_error);
  EXPECT_THROW(static_cast<void>(Tensor() + 1), InvalidArgumentError);
  EXPECT_THROW(ones({2}).sum(1), OutOfRangeError);
  EXPECT_THROW(load_file(temporary("does not exist")), FileError);
}

TEST(Errors, file_errors_carry_the_systems_number) {
  try {
    load_file(temporary("does not exist"));
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_EQ(error.native_code(), ENOENT);
  }
}

TEST(Errors, memory_errors_are_typed_and_harmless) {
  const int64_t before = live_handles();
  EXPECT_THROW(empty({int64_t{1} << 50}), OutOfMemoryError);
  EXPECT_EQ(live_handles(), before);
  EXPECT_EQ(ones({2}).sum().item<double>(), 2.0);
}

TEST(Errors, a_payload_of_another_language_is_left_alone) {
  int theirs = 0;
  ASSERT_EQ(tsr_error_set(TSR_CALLBACK, "from elsewhere", -1, &theirs, nullptr), TSR_OK);
  EXPECT_THROW(check(TSR_CALLBACK), CallbackError);
}

TEST(Log, messages_reach_a_callable_until_it_is_removed) {
  struct End {
    ~End() { set_log(nullptr); }
  } const end;
  auto kept = std::make_shared<std::vector<std::string>>();
  set_log([kept](LogLevel level, std::string_view component, std::string_view message) {
    if (level == LogLevel::kWarning) kept->push_back(std::string(component) + std::string(message));
    throw std::runtime_error("dropped");
  });
  EXPECT_EQ(kept.use_count(), 2);
  const DeterministicMode before = set_deterministic_mode(DeterministicMode::kWarn);
  require_deterministic("a test");
  set_deterministic_mode(before);
  ASSERT_EQ(kept->size(), 1U);
  EXPECT_NE((*kept)[0].find("a test"), std::string::npos) << (*kept)[0];
  set_log(nullptr);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(version().substr(0, 2), "0.");
  EXPECT_THROW(load_plugin("/none/such.so"), FileError);
}

TEST(Errors, the_wrapper_says_what_it_expected_and_got) {
  const auto value = [](const auto& call) { return message_of<InvalidValueError>(call); };
  EXPECT_EQ(value([] { nn::Dropout layer(1.5); }),
            "Dropout: p: expected a probability from 0 to 1, got 1.500000");
  EXPECT_EQ(value([] { nn::GroupNorm layer(3, 4); }),
            "GroupNorm: num_groups: expected a divisor of 4 channels, got 3");
  EXPECT_EQ(value([] { nn::Embedding layer(4, 2, 4); }),
            "Embedding: padding_idx: expected a row of 4 embeddings, got 4");
  EXPECT_EQ(message_of<ShapeError>([] {
              tensor({{1, 2}, {3}});
            }),
            "tensor: values: expected rows of equal lengths, got 2 and 1");
  EXPECT_EQ(message_of<ShapeError>([] {
              from_vector(std::vector<float>(3), {2, 2});
            }),
            "from_vector: shape: expected a shape of 3 elements, got [2, 2]");
  EXPECT_EQ(message_of<OutOfRangeError>([] { ones({2}).size(1); }),
            "size: axis: expected an axis in [-1, 0] for 1 dimensions, got 1");
}

}  // namespace
}  // namespace test_errors
