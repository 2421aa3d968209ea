// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers of the C++ wrapper's tests: compare tensors with numbers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tessera/tessera.hpp>
#include <vector>

namespace tessera::test {

using Numbers = std::vector<double>;
using Shape = std::vector<int64_t>;

inline Numbers numbers(const Tensor& tensor) {
  return tensor.to_vector<double>();
}

inline void expect_near(const Tensor& tensor, const Numbers& wanted, double tolerance = 1e-6) {
  const Numbers found = numbers(tensor);
  ASSERT_EQ(found.size(), wanted.size()) << to_string(tensor);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], tolerance) << "element " << i << " of " << to_string(tensor);
  }
}

inline void expect_same(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(numbers(a), numbers(b));
}

inline Tensor leaf(std::initializer_list<double> values, DType dtype = kFloat64) {
  Tensor made = tensor(values, dtype);
  return made.requires_grad_();
}

// A path for files of one test.
inline std::string temporary(const std::string& name) {
  return ::testing::TempDir() + "tessera_cpp_" + name;
}

// The message of the error that a call throws.
template <class Kind, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}

// Stacks of the host for a scope.
struct StackScope {
  explicit StackScope(std::function<std::string()> stack) { set_host_stack(std::move(stack)); }
  StackScope(const StackScope&) = delete;
  StackScope& operator=(const StackScope&) = delete;
  ~StackScope() { set_host_stack({}); }
};

}  // namespace tessera::test
