// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bad arguments made from a good call: what must be refused, and what must at least be survived.
#include <algorithm>
#include <climits>
#include <utility>

#include "capi/cases.h"

namespace tsr::test {
namespace {

constexpr tsr_status kBad = TSR_INVALID_ARGUMENT;
constexpr tsr_status kSurvives = -2;  // beside kAnyError: success is an answer, too

struct Spoiled {
  tsr_value value;
  tsr_status expected;
};
using All = std::vector<Spoiled>;

tsr_value changed(tsr_value good, int64_t integer) {
  good.integer = integer;
  return good;
}
tsr_value text(const char* pointer, int64_t length) {
  tsr_value value = {};
  value.kind = TSR_VALUE_TEXT;
  value.pointer = pointer;
  value.integer = length;
  return value;
}
tsr_value device(int64_t type, int32_t index) {
  tsr_value value = {};
  value.kind = TSR_VALUE_DEVICE;
  value.integer = type;
  value.n = index;
  return value;
}
tsr_value real(double number) {
  tsr_value value = {};
  value.kind = TSR_VALUE_REAL;
  value.real = number;
  return value;
}
tsr_value list(tsr_value_kind kind, const void* entries, int32_t count) {
  tsr_value value = list_value(kind, entries, 0);
  value.n = count;
  return value;
}

// The kind of the values of a type, also where the good call leaves the argument out.
tsr_value_kind kind_of(const Call::Argument& argument) {
  if (argument.value.kind != TSR_VALUE_NONE) return argument.value.kind;
  const std::string base = argument.type.substr(0, argument.type.find_first_of("?["));
  const bool many = argument.type.find("[]") != std::string::npos;
  if (base == "tensor") return many ? TSR_VALUE_TENSORS : TSR_VALUE_TENSOR;
  if (base == "int64") return many ? TSR_VALUE_INTS : TSR_VALUE_INT;
  if (base == "f64") return many ? TSR_VALUE_REALS : TSR_VALUE_REAL;
  if (base == "bool") return TSR_VALUE_BOOL;
  if (base == "dtype") return TSR_VALUE_DTYPE;
  if (base == "device") return TSR_VALUE_DEVICE;
  if (base == "str") return TSR_VALUE_TEXT;
  return base == "generator" ? TSR_VALUE_GENERATOR : TSR_VALUE_NONE;
}

All spoiled_list(const Call::Argument& argument, tsr_value_kind kind) {
  const void* some = kind == TSR_VALUE_INTS    ? static_cast<const void*>(kInts)
                     : kind == TSR_VALUE_REALS ? static_cast<const void*>(kDoubles)
                                               : static_cast<const void*>(kNulls);
  All found = {{list(kind, nullptr, 2), kBad},
               {list(kind, some, -7), kBad},
               {list(kind, some, INT32_MAX), kBad}};
  if (kind == TSR_VALUE_TENSORS) {
    if (argument.type.find("?[]") == std::string::npos)
      found.push_back({list(kind, kNulls, 1), kBad});
    found.push_back({list(kind, wrong_kinds(), 1), kBad});
  }
  if (kind == TSR_VALUE_INTS && argument.extremes) {
    const tsr_status shape = argument.name == "shape" ? kAnyError : kSurvives;
    found.push_back({list(kind, kHuge, 2), shape});
    found.push_back({list(kind, kNegative, 1), shape});
    found.push_back({list(kind, kLowest, 1), shape});
    found.push_back({list(kind, kMany, 70), kSurvives});
  }
  return found;
}

tsr_value number(tsr_value_kind kind, int64_t integer, double part, double imaginary) {
  tsr_value value = real(part);
  value.kind = kind;
  value.integer = integer;
  value.imaginary = imaginary;
  return value;
}

// Numbers of a kind that the op refuses, and extremes of all kinds.
All spoiled_scalar(const Call::Argument& argument) {
  All found;
  if (argument.type.back() != '?') found.push_back({tsr_value{}, TSR_TYPE});
  const std::pair<const char*, tsr_value> kinds[] = {
      {"bool", number(TSR_VALUE_BOOL, 1, 0, 0)},
      {"i64", number(TSR_VALUE_INT, INT64_MIN, 0, 0)},
      {"f64", number(TSR_VALUE_REAL, 0, kNan, 0)},
      {"c128", number(TSR_VALUE_COMPLEX, 0, kNan, kInf)}};
  for (const auto& [name, value] : kinds) {
    const bool taken = std::count(argument.numbers.begin(), argument.numbers.end(), name) != 0;
    if (!taken || argument.extremes) found.push_back({value, taken ? kSurvives : TSR_TYPE});
  }
  return found;
}

All spoiled_tensor(const Call::Argument& argument) {
  All found = {{tensor_value(wrong_kind()), kBad}};
  if (argument.type.back() != '?') found.push_back({tensor_value(nullptr), kBad});
  const auto good = static_cast<tsr_tensor>(const_cast<void*>(argument.value.pointer));
  if (good == nullptr) return found;
  found.push_back({tensor_value(as_complex(good)), kSurvives});
  found.push_back({tensor_value(as_bool(good)), kSurvives});
  return found;
}

// Places of results. A caller need not want each of several results.
All spoiled_result(const Call::Argument& argument, size_t results) {
  if (argument.value.kind == TSR_VALUE_PLACE) {
    tsr_value none = argument.value;
    none.pointer = nullptr;
    return {{none, results > 1 ? kSurvives : kBad}};
  }
  const void* slots = static_cast<const Places*>(argument.value.pointer)->begin();
  return {{list(TSR_VALUE_PLACES, nullptr, 3), kBad},
          {list(TSR_VALUE_PLACES, slots, -1), kBad},
          {list(TSR_VALUE_PLACES, slots, 0), kSurvives}};
}

All spoiled_value(const Call::Argument& argument) {
  const tsr_value_kind kind = kind_of(argument);
  if (argument.type.compare(0, 6, "scalar") == 0) return spoiled_scalar(argument);
  tsr_value good = argument.value;
  good.kind = kind;
  switch (kind) {
    case TSR_VALUE_TENSOR:
      return spoiled_tensor(argument);
    case TSR_VALUE_INTS:
    case TSR_VALUE_REALS:
    case TSR_VALUE_TENSORS:
      return spoiled_list(argument, kind);
    case TSR_VALUE_GENERATOR:
      good.pointer = wrong_kind<tsr_generator>();
      return {{good, kBad}};
    case TSR_VALUE_BOOL:
      return {{changed(good, 2), kBad}, {changed(good, -5), kBad}};
    case TSR_VALUE_DTYPE:
      return {{changed(good, 12345), TSR_DTYPE}, {changed(good, INT32_MIN), TSR_DTYPE}};
    case TSR_VALUE_DEVICE:
      return {{device(99, 0), TSR_DEVICE},
              {device(TSR_DEVICE_CPU, 77), TSR_DEVICE},
              {device(TSR_DEVICE_CPU, -9), TSR_DEVICE}};
    case TSR_VALUE_TEXT:
      return {{text(nullptr, 5), kBad},
              {text("x", -5), kBad},
              {text("x", INT64_MAX), kBad},
              {text("no such word", -1), kSurvives}};
    case TSR_VALUE_INT:
      if (!argument.extremes) return {};
      return {{changed(good, INT64_MAX), kSurvives},
              {changed(good, INT64_MIN), kSurvives},
              {changed(good, -1), kSurvives}};
    case TSR_VALUE_REAL:
      if (!argument.extremes) return {};
      return {{real(kNan), kSurvives}, {real(kInf), kSurvives}, {real(-1.0), kSurvives}};
    default:
      return {};
  }
}

}  // namespace

int check_spoiled(Call& call) {
  size_t results = 0;
  for (const Call::Argument& argument : call.arguments) results += argument.is_result ? 1 : 0;
  int calls = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Call::Argument& argument = call.arguments[i];
    All all = argument.is_result ? spoiled_result(argument, results) : spoiled_value(argument);
    // No argument takes what only traces have, or a kind that is none.
    for (const int32_t kind : {int32_t{TSR_VALUE_LIST}, 99}) {
      tsr_value foreign = {};
      foreign.kind = kind;
      all.push_back({foreign, TSR_TYPE});
    }
    for (size_t way = 0; way < all.size(); ++way) {
      SCOPED_TRACE("argument " + argument.name + ", wrong value " + std::to_string(way));
      const tsr_status status = call.with(i, all[way].value);
      if (all[way].expected == kSurvives) {
        survives(status);
      } else {
        refused(status, all[way].expected);
      }
      ++calls;
    }
  }
  return calls;
}

}  // namespace tsr::test
