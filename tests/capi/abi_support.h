// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of the C ABI: literals, owned handles, and expectations about calls.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tessera/tessera.h"

namespace tsr::test {

// The source line of a check: std::source_location, which clang 14 lacks.
class Where {
 public:
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  [[nodiscard]] constexpr const char* file_name() const { return file_; }
  [[nodiscard]] constexpr int line() const { return line_; }

 private:
  constexpr Where(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr int64_t kInts[2] = {0, 1};
inline constexpr double kDoubles[2] = {0, 1};
inline constexpr tsr_tensor kNulls[2] = {nullptr, nullptr};
template <class Handle>
inline constexpr Handle kNoHandles[2] = {nullptr, nullptr};
inline constexpr int64_t kHuge[2] = {INT64_MAX, INT64_MAX};
inline constexpr int64_t kNegative[1] = {-5};
inline constexpr int64_t kLowest[1] = {INT64_MIN};
inline constexpr int64_t kMany[70] = {};
// Invalid numbers: no kind, an unknown kind, a field that must be 0, a bool that is neither 0 nor
// 1.
inline constexpr tsr_number kNoNumbers[4] = {
    {0, 0, 0, 0, 0}, {6, 0, 0, 0, 0}, {TSR_NUMBER_REAL, 1, 0, 0, 0}, {TSR_NUMBER_BOOL, 0, 2, 0, 0}};
inline constexpr tsr_status kAnyError = -1;

// A tensor as a literal. Integers are stored separately, so that 64 bits are exact; complex numbers
// are pairs.
struct Literal {
  tsr_dtype dtype;
  std::vector<int64_t> shape;
  std::vector<double> real;
  std::vector<int64_t> integer;
  bool has_values = true;
};
Literal reals(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<double> values);
Literal ints(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<int64_t> values);
Literal complexes(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<double> pairs);
// Only dtype and shape are compared. Dtype 0 means no tensor.
Literal shaped(tsr_dtype dtype, std::vector<int64_t> shape);

// The contents of a tensor as a literal.
Literal literal_of(tsr_tensor tensor);

// Owns one reference.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const Literal& literal);
  Tensor(Tensor&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  Tensor& operator=(Tensor&&) = delete;
  ~Tensor() { tsr_tensor_release(handle_); }

  operator tsr_tensor() const { return handle_; }
  // Gives the reference to the caller.
  [[nodiscard]] tsr_tensor detach() { return std::exchange(handle_, nullptr); }
  // For an out parameter; releases the old reference.
  tsr_tensor* slot() {
    tsr_tensor_release(handle_);
    handle_ = nullptr;
    return &handle_;
  }

 private:
  tsr_tensor handle_ = nullptr;
};

// A caller's array for a list of results.
class Places {
 public:
  Places() = default;
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() { release(); }
  tsr_tensor* slots() {
    release();
    return slots_;
  }
  [[nodiscard]] int32_t capacity() const { return kCapacity; }
  int32_t* count() { return &count_; }
  [[nodiscard]] const tsr_tensor* begin() const { return slots_; }
  [[nodiscard]] const tsr_tensor* end() const { return slots_ + count_; }

 private:
  static constexpr int32_t kCapacity = 16;
  void release();
  tsr_tensor slots_[kCapacity] = {};
  int32_t count_ = 0;
};

// Uninitialised memory of that dtype and shape.
Tensor place_for(const Literal& literal);

// ---- Expectations ----

void ok(tsr_status status, Where where = Where::current());
// Expects a failure with this code (any typed one for kAnyError) and a message.
void refused(tsr_status status, tsr_status expected = kAnyError, Where where = Where::current());
// Expects success, or a typed error that is not a bug of the library.
void survives(tsr_status status, Where where = Where::current());
void same(tsr_tensor tensor, const Literal& expected, double rtol = -1, double atol = -1,
          Where where = Where::current());

// ---- Arguments that are wrong ----

tsr_tensor wrong_kind();             // a live handle of a generator
const tsr_tensor* wrong_kinds();     // an array with one such handle
tsr_tensor tensor_for_wrong_kind();  // a live tensor, to be passed as another kind
template <class Handle>
Handle wrong_kind() {
  return reinterpret_cast<Handle>(tensor_for_wrong_kind());
}
// The same shape with another dtype; lives as long as the test program.
tsr_tensor as_complex(tsr_tensor tensor);
tsr_tensor as_bool(tsr_tensor tensor);

}  // namespace tsr::test
