// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Errors: the status codes, the one exception type of the library, and the checks that throw it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "base/text.h"

namespace tsr {

// The status codes of the C ABI. Their values are frozen. capi/schema lists them too; a test
// compares both.
enum class Code : int32_t {
  kOk = 0,
  kInvalidArgument = 1,
  kValue = 2,
  kType = 3,
  kShape = 4,
  kDType = 5,
  kDevice = 6,
  kIndex = 7,
  kBuffer = 8,
  kOutOfMemory = 9,
  kNotImplemented = 10,
  kBackend = 11,
  kAutograd = 12,
  kCallback = 13,
  kCancelled = 14,
  kAbi = 15,
  kIo = 16,
  kInternal = 17,
  kAsync = 18,
  kLinalg = 19,
};

// A caller's mistake, a failed resource or a bug of ours. The ABI guard catches it and adds the
// name of the C function and the index of `arg`, which it knows from the schema. So a throw site
// names only the argument and says what was expected and what came.
class Error final : public std::exception {
 public:
  // `arg`, `file` are string literals (never freed); `arg` may be null when no argument is at
  // fault.
  Error(Code code, const char* arg, std::string message, const char* file = "", int32_t line = 0);

  [[nodiscard]] Code code() const noexcept { return code_; }
  [[nodiscard]] const char* arg() const noexcept { return arg_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const char* file() const noexcept { return file_; }
  [[nodiscard]] int32_t line() const noexcept { return line_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

  // A backend's own error number (errno, cudaError_t, ...); 0 when there is none.
  [[nodiscard]] int64_t native_code() const noexcept { return native_code_; }
  void set_native_code(int64_t value) noexcept { native_code_ = value; }

  // A host-language exception travelling through the library; its deleter is the host's drop
  // function.
  [[nodiscard]] const std::shared_ptr<void>& payload() const noexcept { return payload_; }
  void set_payload(std::shared_ptr<void> value) noexcept { payload_ = std::move(value); }

  // Puts a context such as "in MulBackward: " before the message.
  void prepend(std::string_view context);

 private:
  Code code_;
  int32_t line_;
  const char* arg_;
  const char* file_;
  std::string message_;
  int64_t native_code_ = 0;
  std::shared_ptr<void> payload_;
};

[[noreturn]] void throw_error(Code code, const char* arg, const char* file, int32_t line,
                              std::string message);

// Out of line, so that a check costs its caller one compare and one jump.
template <class... Pieces>
[[noreturn, gnu::noinline, gnu::cold]] void fail(Code code, const char* arg, const char* file,
                                                 int32_t line, const Pieces&... pieces) {
  throw_error(code, arg, file, line, concat(pieces...));
}

// The caller's mistake: TSR_CHECK(cond, Code::kShape, "other", "expected ", a, ", got ", b).
// `arg` is a string literal naming the argument, or nullptr.
#define TSR_CHECK(cond, code, arg, ...)                            \
  do {                                                             \
    if (!(cond)) [[unlikely]]                                      \
      ::tsr::fail((code), (arg), __FILE__, __LINE__, __VA_ARGS__); \
  } while (false)

// Our own bug, reported as INTERNAL; never compiled out, never aborts.
#define TSR_ASSERT(cond, ...)                                                                \
  do {                                                                                       \
    if (!(cond)) [[unlikely]]                                                                \
      ::tsr::fail(::tsr::Code::kInternal, nullptr, __FILE__, __LINE__,                       \
                  "internal error, please report: " #cond __VA_OPT__(, ": ", ) __VA_ARGS__); \
  } while (false)

}  // namespace tsr
