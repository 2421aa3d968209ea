// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A call as a value: the record that the schema generates for each function, and arguments as
// tsr_value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "tessera/tessera.h"

namespace tsr::capi {

// ---- Records ----

// The type of an argument. A small letter: the same type, but the argument may be absent.
namespace arg_type {
inline constexpr char kTensor = 'T';
inline constexpr char kTensors = 'L';
inline constexpr char kInt = 'I';
inline constexpr char kInts = 'J';
inline constexpr char kReal = 'R';
inline constexpr char kReals = 'V';
inline constexpr char kNumber = 'N';  // of the host, of any kind
inline constexpr char kBool = 'B';
inline constexpr char kEnum = 'E';
inline constexpr char kDType = 'D';
inline constexpr char kDevice = 'C';
inline constexpr char kText = 'S';
inline constexpr char kGenerator = 'G';
inline constexpr char kPlace = 'P';   // where a result goes
inline constexpr char kPlaces = 'Q';  // where a list of results goes
// Of functions that are no operators:
inline constexpr char kOther = 'O';       // other handles, structs, callbacks, memory
inline constexpr char kOtherPlace = 'W';  // where a result that is no tensor goes
}  // namespace arg_type

constexpr bool is_optional(char type) {
  return type >= 'a';
}
constexpr char required(char type) {
  return is_optional(type) ? static_cast<char>(type - 'a' + 'A') : type;
}

constexpr bool is_result(char type) {
  return type == arg_type::kPlace || type == arg_type::kPlaces || type == arg_type::kOtherPlace;
}

struct ArgInfo {
  const char* name;
  char type;
};

// What autocast does with the tensors of an operator: the list of autocast.yaml that it stands in,
// and that of the CPU's own lists.
enum class Autocast : uint8_t { kNone, kLower, kFloat32, kPromote, kRefuse };

// One row of the schema: what errors, traces and calls by number need to know about a function. All
// forms of an operator share it. The arguments come first, then the results.
struct CallInfo {
  int32_t id;
  int32_t n;
  const char* name;
  const ArgInfo* args = nullptr;
  Autocast autocast = Autocast::kNone;
  Autocast autocast_cpu = Autocast::kNone;
};

// A record together with its arguments.
template <int32_t N>
struct CallInfoOf : CallInfo {
  constexpr CallInfoOf(int32_t number, const char* text, const ArgInfo (&list)[N],
                       Autocast listed = Autocast::kNone, Autocast cpu = Autocast::kNone)
      : CallInfo{number, N, text, own, listed, cpu} {
    std::copy(std::begin(list), std::end(list), own);
  }
  CallInfoOf(const CallInfoOf&) = delete;  // `args` points into the object
  CallInfoOf& operator=(const CallInfoOf&) = delete;

  ArgInfo own[N] = {};
};

// ---- Arguments as values ----

// A tsr_number becomes a tsr_value of the same kind number, except for TSR_NUMBER_UNSIGNED.
static_assert(+TSR_VALUE_BOOL == +TSR_NUMBER_BOOL && +TSR_VALUE_INT == +TSR_NUMBER_INTEGER &&
              +TSR_VALUE_REAL == +TSR_NUMBER_REAL && +TSR_VALUE_COMPLEX == +TSR_NUMBER_COMPLEX);

// Several C parameters that together are one argument of the schema.
template <class T>
struct ListOf {
  const T* values;
  int32_t count;
};
template <class T>
ListOf(const T*, int32_t) -> ListOf<T>;
template <class T>
struct MaybeOf {
  T value;
  int32_t has;
};
template <class T>
MaybeOf(T, int32_t) -> MaybeOf<T>;
struct DeviceOf {
  int32_t type, index;
};
struct TextOf {
  const char* text;
  int64_t length;
};

inline tsr_value make_value(tsr_value_kind kind, int32_t n, int64_t integer, double real,
                            double imaginary, const void* pointer) {
  return {kind, n, integer, real, imaginary, pointer};
}
inline tsr_value absent_value() {
  return make_value(TSR_VALUE_NONE, 0, 0, 0, 0, nullptr);
}

// `type` distinguishes arguments that have the same type in C.
inline tsr_value to_value(tsr_tensor tensor, char) {
  return tensor == nullptr ? absent_value() : make_value(TSR_VALUE_TENSOR, 0, 0, 0, 0, tensor);
}
inline tsr_value to_value(tsr_generator generator, char) {
  return generator == nullptr ? absent_value()
                              : make_value(TSR_VALUE_GENERATOR, 0, 0, 0, 0, generator);
}
// An argument as a trace takes it: of what it does not look into only the address, so that lists of
// arguments that differ in the kind of a pointer share one pack_call.
template <class T>
const void* traced_arg(T* pointer) {
  return reinterpret_cast<const void*>(pointer);
}
inline tsr_tensor traced_arg(tsr_tensor tensor) {
  return tensor;
}
inline tsr_generator traced_arg(tsr_generator generator) {
  return generator;
}
inline const tsr_number* traced_arg(const tsr_number* number) {
  return number;
}
template <class T>
requires(!std::is_pointer_v<T>) T traced_arg(T value) {
  return value;
}
inline tsr_value to_value(const void* pointer, char) {
  return pointer == nullptr ? absent_value() : make_value(TSR_VALUE_POINTER, 0, 0, 0, 0, pointer);
}
inline tsr_value to_value(uint64_t value, char) {
  return make_value(TSR_VALUE_INT, 0, static_cast<int64_t>(value), 0, 0, nullptr);
}
inline tsr_value to_value(int64_t value, char type) {
  const bool absent = is_optional(type) && value == std::numeric_limits<int64_t>::min();
  return absent ? absent_value() : make_value(TSR_VALUE_INT, 0, value, 0, 0, nullptr);
}
inline tsr_value to_value(double value, char) {
  return make_value(TSR_VALUE_REAL, 0, 0, value, 0, nullptr);
}
inline tsr_value to_value(int32_t value, char type) {
  if (is_optional(type) && value == -1) return absent_value();
  const char base = required(type);
  const tsr_value_kind kind = base == arg_type::kDType                            ? TSR_VALUE_DTYPE
                              : base == arg_type::kEnum || base == arg_type::kInt ? TSR_VALUE_INT
                                                                                  : TSR_VALUE_BOOL;
  return make_value(kind, 0, value, 0, 0, nullptr);
}
inline tsr_value to_value(const tsr_number* number, char) {
  // The number is not checked yet; only the fields of its kind are valid.
  const tsr_number_kind kind = number == nullptr ? 0 : number->kind;
  if (kind == TSR_NUMBER_UNSIGNED)
    return make_value(TSR_VALUE_UNSIGNED, 0, number->integer, 0, 0, nullptr);
  if (kind < TSR_NUMBER_BOOL || kind > TSR_NUMBER_COMPLEX) return absent_value();
  if (kind <= TSR_NUMBER_INTEGER) return make_value(kind, 0, number->integer, 0, 0, nullptr);
  const double imaginary = kind == TSR_NUMBER_COMPLEX ? number->imaginary : 0;
  return make_value(kind, 0, 0, number->real, imaginary, nullptr);
}
inline tsr_value to_value(DeviceOf device, char) {
  if (device.type == -1) return absent_value();
  return make_value(TSR_VALUE_DEVICE, device.index, device.type, 0, 0, nullptr);
}
inline tsr_value to_value(TextOf text, char) {
  return text.text == nullptr ? absent_value()
                              : make_value(TSR_VALUE_TEXT, 0, text.length, 0, 0, text.text);
}
template <class T>
tsr_value to_value(MaybeOf<T> value, char) {
  return value.has == 0 ? absent_value() : to_value(value.value, 0);
}
template <class T>
constexpr tsr_value_kind kListKind = TSR_VALUE_TENSORS;
template <>
inline constexpr tsr_value_kind kListKind<int64_t> = TSR_VALUE_INTS;
template <>
inline constexpr tsr_value_kind kListKind<double> = TSR_VALUE_REALS;
template <class T>
tsr_value to_value(ListOf<T> list, char) {
  return list.count == -1 ? absent_value()
                          : make_value(kListKind<T>, list.count, 0, 0, 0, list.values);
}

// ---- Records against parameters ----

template <class T, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Others> || ...);

// Whether an argument of this type is passed on as a T. A function of numbers shares the record of
// its op, where their letter is that of a tensor.
template <class T>
consteval bool is_passed_as(char type) {
  switch (required(type)) {
    case arg_type::kTensor:
      return kIsOneOf<T, tsr_tensor, const tsr_number*>;
    case arg_type::kPlace:
      return std::is_same_v<T, tsr_tensor>;  // an out= form
    case arg_type::kTensors:
      return std::is_same_v<T, ListOf<tsr_tensor>>;
    case arg_type::kInt:
      return kIsOneOf<T, int64_t, int32_t, uint64_t>;
    case arg_type::kInts:
      return std::is_same_v<T, ListOf<int64_t>>;
    case arg_type::kReal:
      return kIsOneOf<T, double, MaybeOf<double>>;
    case arg_type::kReals:
      return std::is_same_v<T, ListOf<double>>;
    case arg_type::kNumber:
      return std::is_same_v<T, const tsr_number*>;
    case arg_type::kBool:
    case arg_type::kEnum:
    case arg_type::kDType:
      return std::is_same_v<T, int32_t>;
    case arg_type::kDevice:
      return std::is_same_v<T, DeviceOf>;
    case arg_type::kText:
      return std::is_same_v<T, TextOf>;
    case arg_type::kGenerator:
      return std::is_same_v<T, tsr_generator>;
    case arg_type::kOther:
      return std::is_same_v<T, const void*>;
    default:
      return false;
  }
}

template <class... Args>
consteval bool are_passed_as(const CallInfo& info) {
  int32_t inputs = 0;
  while (inputs < info.n && !is_result(info.args[inputs].type)) ++inputs;
  constexpr int32_t kPassed = sizeof...(Args);
  if (kPassed < inputs || kPassed > info.n) return false;
  [[maybe_unused]] int32_t at = 0;
  return (is_passed_as<Args>(info.args[at++].type) && ...);
}

// The record of the function that is running. It does not compile where the arguments that are
// passed on for a trace are not those of the record.
template <class... Args>
struct CallSite {
  consteval CallSite(const CallInfo& record)  // NOLINT(google-explicit-constructor)
      : info(record) {
    if (!are_passed_as<decltype(traced_arg(std::declval<Args>()))...>(record))
      throw "the arguments differ from those of the schema";
  }
  // For a record that is known at run time only; no arguments are passed on.
  struct AtRunTime {
    const CallInfo& record;
  };
  CallSite(AtRunTime chosen)  // NOLINT(google-explicit-constructor)
      : info(chosen.record) {}

  const CallInfo& info;
};
using CallAtRunTime = CallSite<>::AtRunTime;

}  // namespace tsr::capi
