// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A call as a value: the record that the schema gives each function, and arguments as tsr_value.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>

#include "tessera/tessera.h"

namespace tsr::capi {

// ---- Records ----

// What an argument is. A small letter: the same, and it may be absent.
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
inline constexpr char kOther = 'O';   // of functions that are no operators
}  // namespace arg_type

constexpr bool is_optional(char type) {
  return type >= 'a';
}
constexpr char required(char type) {
  return is_optional(type) ? static_cast<char>(type - 'a' + 'A') : type;
}

struct ArgInfo {
  const char* name;
  char type;
};

// One row of the schema: what errors, traces and calls by number know of a function. All forms of
// an operator share it; its arguments come first, then its results.
struct CallInfo {
  constexpr CallInfo(int32_t number, const char* text) : id(number), n(0), name(text) {}
  template <int32_t N>
  constexpr CallInfo(int32_t number, const char* text, const ArgInfo (&list)[N])
      : id(number), n(N), name(text), args(list) {}

  int32_t id;
  int32_t n;
  const char* name;
  const ArgInfo* args = nullptr;
};

// ---- Arguments as values ----

// A number is passed on as the value that it is.
static_assert(+TSR_VALUE_BOOL == +TSR_NUMBER_BOOL && +TSR_VALUE_INT == +TSR_NUMBER_INTEGER &&
              +TSR_VALUE_REAL == +TSR_NUMBER_REAL && +TSR_VALUE_COMPLEX == +TSR_NUMBER_COMPLEX);

// Several C parameters that are one argument of the schema.
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

// `type` tells apart what is one type in C.
inline tsr_value to_value(tsr_tensor tensor, char) {
  return tensor == nullptr ? absent_value() : make_value(TSR_VALUE_TENSOR, 0, 0, 0, 0, tensor);
}
inline tsr_value to_value(tsr_generator generator, char) {
  return generator == nullptr ? absent_value()
                              : make_value(TSR_VALUE_GENERATOR, 0, 0, 0, 0, generator);
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
  // Not checked yet, and only the fields of its kind need to hold anything.
  const tsr_number_kind kind = number == nullptr ? 0 : number->kind;
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

}  // namespace tsr::capi
