// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/wrong_values.h"

#include <algorithm>
#include <climits>

namespace tsr::test {
namespace {

constexpr tsr_status kBad = TSR_INVALID_ARGUMENT;

struct Row {
  const char* type;  // of the schema, without the mark of what may be absent
  tsr_value value;
  tsr_status expected;
  bool extreme = false;
};

// Text of `length` bytes, a list of `n` entries.
tsr_value text(const char* pointer, int64_t length) {
  return value_of(TSR_VALUE_TEXT, length, pointer);
}
tsr_value list(tsr_value_kind kind, const void* entries, int32_t n) {
  return {kind, n, 0, 0, 0, entries};
}
tsr_value device(int64_t type, int32_t index) {
  return {TSR_VALUE_DEVICE, index, type, 0, 0, nullptr};
}
tsr_value real(double number) {
  return value_of(TSR_VALUE_REAL, 0, nullptr, 0, number);
}

std::vector<Row> make_rows() {
  std::vector<Row> rows = {
      {"tensor", value_of(TSR_VALUE_TENSOR, 0, wrong_kind()), kBad},
      {"generator", value_of(TSR_VALUE_GENERATOR, 0, wrong_kind<tsr_generator>()), kBad},
      {"bool", value_of(TSR_VALUE_BOOL, 2), kBad},
      {"bool", value_of(TSR_VALUE_BOOL, -5), kBad},
      {"dtype", value_of(TSR_VALUE_DTYPE, 12345), TSR_DTYPE},
      {"dtype", value_of(TSR_VALUE_DTYPE, INT32_MIN), TSR_DTYPE},
      {"device", device(99, 0), TSR_DEVICE},
      {"device", device(TSR_DEVICE_CPU, 77), TSR_DEVICE},
      {"device", device(TSR_DEVICE_CPU, -9), TSR_DEVICE},
      {"str", text(nullptr, 5), kBad},
      {"str", text("x", -5), kBad},
      {"str", text("x", INT64_MAX), kBad},
      {"str", text("no such word", -1), kSurvives},
      {"f64", real(kNan), kSurvives, true},
      {"f64", real(kInf), kSurvives, true},
      {"f64", real(-1), kSurvives, true},
      {"tensor[]", list(TSR_VALUE_TENSORS, kNulls, 1), kBad},
      {"int64[]", list(TSR_VALUE_INTS, kHuge, 2), kSurvives, true},
      {"int64[]", list(TSR_VALUE_INTS, kNegative, 1), kSurvives, true},
      {"int64[]", list(TSR_VALUE_INTS, kLowest, 1), kSurvives, true},
      {"int64[]", list(TSR_VALUE_INTS, kMany, 70), kSurvives, true},
  };
  for (const char* type : {"int64", "enum"}) {
    for (const int64_t number : {INT64_MAX, INT64_MIN, int64_t{-1}})
      rows.push_back({type, value_of(TSR_VALUE_INT, number), kSurvives, true});
  }
  const Row lists[] = {{"tensor[]", list(TSR_VALUE_TENSORS, kNulls, 0), kBad},
                       {"tensor?[]", list(TSR_VALUE_TENSORS, kNulls, 0), kBad},
                       {"int64[]", list(TSR_VALUE_INTS, kInts, 0), kBad},
                       {"f64[]", list(TSR_VALUE_REALS, kDoubles, 0), kBad}};
  for (const auto& [type, some, expected, extreme] : lists) {
    rows.push_back({type, list(some.kind, nullptr, 2), kBad});
    rows.push_back({type, list(some.kind, some.pointer, -7), kBad});
    rows.push_back({type, list(some.kind, some.pointer, INT32_MAX), kBad});
    if (some.kind == TSR_VALUE_TENSORS)
      rows.push_back({type, list(some.kind, wrong_kinds(), 1), kBad});
  }
  return rows;
}

// Numbers of a kind that the op refuses, and extremes of all kinds.
void add_numbers(const Argument& argument, std::vector<WrongValue>& found) {
  const std::pair<const char*, tsr_value> kinds[] = {
      {"bool", value_of(TSR_VALUE_BOOL, 1)},
      {"i64", value_of(TSR_VALUE_INT, INT64_MIN)},
      {"f64", real(kNan)},
      {"c128", value_of(TSR_VALUE_COMPLEX, 0, nullptr, 0, kNan, kInf)}};
  for (const auto& [name, value] : kinds) {
    const auto& taken = argument.numbers;
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) {
      found.push_back({value, TSR_TYPE});
    } else if (argument.extremes) {
      found.push_back({value, kSurvives});
    }
  }
}

// Places of results.
void add_places(const Argument& argument, size_t results, std::vector<WrongValue>& found) {
  if (argument.value.kind == TSR_VALUE_PLACE) {
    found.push_back({value_of(TSR_VALUE_PLACE), results > 1 ? kSurvives : kBad});
  } else if (argument.value.kind == TSR_VALUE_PLACES) {
    found.push_back({list(TSR_VALUE_PLACES, nullptr, 3), kBad});
    found.push_back({list(TSR_VALUE_PLACES, argument.value.pointer, -1), kBad});
    found.push_back({list(TSR_VALUE_PLACES, argument.value.pointer, 0), kSurvives});
  }
}

}  // namespace

std::vector<WrongValue> wrong_values(const Argument& argument, size_t results) {
  static const auto* const kRows = new std::vector<Row>(make_rows());
  const bool optional = argument.type.back() == '?';
  const std::string type =
      argument.type.substr(0, argument.type.find('.')).substr(0, argument.type.size() - optional);
  // No argument takes what only traces have, or a kind that is none.
  std::vector<WrongValue> found = {{value_of(TSR_VALUE_LIST), TSR_TYPE}, {value_of(99), TSR_TYPE}};
  for (const Row& row : *kRows) {
    if (row.type != type || (row.extreme && !argument.extremes)) continue;
    const bool shape = argument.name == "shape" && row.extreme && row.value.n < 70;
    found.push_back({row.value, shape ? kAnyError : row.expected});
  }
  if (type == "scalar") add_numbers(argument, found);
  if (type == "scalar" && !optional) found.push_back({tsr_value{}, TSR_TYPE});
  add_places(argument, results, found);
  if (type != "tensor") return found;
  if (!optional) found.push_back({value_of(TSR_VALUE_TENSOR), kBad});
  if (const void* good = argument.value.pointer; good != nullptr) {
    const auto tensor = static_cast<tsr_tensor>(const_cast<void*>(good));
    found.push_back({value_of(TSR_VALUE_TENSOR, 0, as_complex(tensor)), kSurvives});
    found.push_back({value_of(TSR_VALUE_TENSOR, 0, as_bool(tensor)), kSurvives});
  }
  return found;
}

}  // namespace tsr::test
