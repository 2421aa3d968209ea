// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Errors as exceptions. Exceptions of callbacks pass through the library unchanged.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/constants.hpp"

namespace tessera {

// A failure of the library. Each kind also has a class of its own, such as ShapeError.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::string op = "", int32_t argument = -1,
        int64_t native_code = 0)
      : std::runtime_error(message),
        kind_(kind),
        op_(std::move(op)),
        argument_(argument),
        native_code_(native_code) {}

  ErrorKind kind() const noexcept { return kind_; }
  // The function that failed, for example "matmul".
  const std::string& op() const noexcept { return op_; }
  // The number of the wrong argument, -1 if there is none.
  int32_t argument() const noexcept { return argument_; }
  // The error number of the layer below (errno, a driver's code), 0 if there is none.
  int64_t native_code() const noexcept { return native_code_; }

 private:
  ErrorKind kind_;
  std::string op_;
  int32_t argument_;
  int64_t native_code_;
};

// The class of one kind of error.
template <ErrorKind kKind>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message, std::string op = "", int32_t argument = -1,
                   int64_t native_code = 0)
      : Error(kKind, message, std::move(op), argument, native_code) {}
};

using InvalidArgumentError = ErrorOf<ErrorKind::kInvalidArgument>;
using InvalidValueError = ErrorOf<ErrorKind::kValue>;
using ArgumentTypeError = ErrorOf<ErrorKind::kType>;
using ShapeError = ErrorOf<ErrorKind::kShape>;
using DTypeError = ErrorOf<ErrorKind::kDtype>;
using DeviceError = ErrorOf<ErrorKind::kDevice>;
using OutOfRangeError = ErrorOf<ErrorKind::kIndex>;
using MemoryAccessError = ErrorOf<ErrorKind::kBuffer>;
using OutOfMemoryError = ErrorOf<ErrorKind::kOutOfMemory>;
using NotSupportedError = ErrorOf<ErrorKind::kNotImplemented>;
using BackendError = ErrorOf<ErrorKind::kBackend>;
using AutogradError = ErrorOf<ErrorKind::kAutograd>;
using CallbackError = ErrorOf<ErrorKind::kCallback>;
using CancelledError = ErrorOf<ErrorKind::kCancelled>;
using AbiError = ErrorOf<ErrorKind::kAbi>;
using FileError = ErrorOf<ErrorKind::kIo>;
using InternalError = ErrorOf<ErrorKind::kInternal>;
using AsyncError = ErrorOf<ErrorKind::kAsync>;
using LinAlgError = ErrorOf<ErrorKind::kLinalg>;

namespace detail {

// "op: argument: expected ..., got ..."
[[noreturn]] inline void throw_value(const char* op, const char* argument,
                                     const std::string& expected, const std::string& got) {
  throw InvalidValueError(
      std::string(op) + ": " + argument + ": expected " + expected + ", got " + got, op);
}
inline void check_at_least(const char* op, const char* argument, int64_t least, int64_t given) {
  if (given >= least) return;
  throw_value(op, argument, "at least " + std::to_string(least), std::to_string(given));
}

// For destructors, which cannot report an error.
inline void ignore(tsr_status /*status*/) noexcept {}

// The exceptions of callbacks that are passing through the library. A payload may come from another
// language, so look up its address before reading through the pointer.
class Payloads {
 public:
  static Payloads& all() {
    static Payloads* const payloads = new Payloads;  // never destroyed: a drop may come very late
    return *payloads;
  }

  void* add(std::exception_ptr exception) {
    const std::lock_guard<std::mutex> lock(mutex_);
    known_.push_back(nullptr);
    return known_.back() = new std::exception_ptr(std::move(exception));
  }

  // The exception behind a payload; null if the payload is not ours.
  std::exception_ptr find(void* payload) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const void* known : known_) {
      if (known == payload) return *static_cast<std::exception_ptr*>(payload);
    }
    return nullptr;
  }

  static void drop(void* payload) noexcept {
    {
      Payloads& payloads = all();
      const std::lock_guard<std::mutex> lock(payloads.mutex_);
      for (void*& known : payloads.known_) {
        if (known != payload) continue;
        known = payloads.known_.back();
        payloads.known_.pop_back();
        break;
      }
    }
    delete static_cast<std::exception_ptr*>(payload);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> known_;  // few: one for each exception that is on its way
};

template <int32_t... kCodes>
[[noreturn]] void throw_kind(tsr_status status, const std::string& message, const std::string& op,
                             const tsr_error_view& view,
                             std::integer_sequence<int32_t, kCodes...> /*codes*/) {
  ((status == kCodes + 1 ? throw ErrorOf<static_cast<ErrorKind>(kCodes + 1)>(
                               message, op, view.arg_index, view.native_code)
                         : void()),
   ...);
  throw Error(static_cast<ErrorKind>(status), message, op, view.arg_index, view.native_code);
}

// Empties this thread's record, which would keep a payload alive.
inline void forget_error() noexcept {
  tsr_error record = nullptr;
  if (tsr_error_take(&record) == TSR_OK) tsr_error_release(record);
}

// Throws the error of the failed call on this thread: a callback's own exception, else an Error.
[[noreturn]] inline void raise(tsr_status status) {
  tsr_error_view view{};
  view.struct_size = sizeof view;
  if (tsr_error_last(&view) != TSR_OK) {
    throw Error(static_cast<ErrorKind>(status), "the call failed and left no message");
  }
  if (view.payload != nullptr) {
    if (std::exception_ptr exception = Payloads::all().find(view.payload)) {
      forget_error();
      std::rethrow_exception(exception);
    }
  }
  // Removes the C prefix of functions; ops have none.
  const auto plain = [](std::string text) {
    if (text.rfind("tsr_", 0) == 0) text.erase(0, 4);
    return text;
  };
  const std::string message = plain({view.message, static_cast<size_t>(view.message_len)});
  const std::string op = plain({view.op, static_cast<size_t>(view.op_len)});
  throw_kind(status, message, op, view, std::make_integer_sequence<int32_t, kLastErrorKind>());
}

// Stores the current exception in this thread's record and returns the status for the callback.
inline tsr_status report_exception() noexcept {
  try {
    std::string message = "a callback threw an exception";
    try {
      throw;
    } catch (const std::exception& error) {
      message = error.what();
    } catch (...) {
      message = "a callback threw something that is no std::exception";
    }
    void* payload = Payloads::all().add(std::current_exception());
    const auto length = static_cast<int64_t>(message.size());
    const tsr_status set =
        tsr_error_set(TSR_CALLBACK, message.data(), length, payload, &Payloads::drop);
    return set == TSR_OK ? TSR_CALLBACK : set;
  } catch (...) {
    ignore(tsr_error_set(TSR_OUT_OF_MEMORY, "", 0, nullptr, nullptr));
    return TSR_OUT_OF_MEMORY;
  }
}

}  // namespace detail

// Throws unless the status of a raw call is TSR_OK.
inline void check(tsr_status status) {
  if (status != TSR_OK) detail::raise(status);
}

}  // namespace tessera
