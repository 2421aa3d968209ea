// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Calls by number: checks that the values fit the function's signature, then calls through it.
#include <algorithm>
#include <limits>

#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/tables.h"

namespace tsr::capi {

const Symbol* find_symbol(std::string_view name) noexcept {
  const Symbol* end = kSymbols + kSymbolCount;
  const Symbol* found = std::lower_bound(
      kSymbols, end, name,
      [](const Symbol& row, std::string_view wanted) { return row.name < wanted; });
  return found != end && found->name == name ? found : nullptr;
}

const Symbol* find_symbol(int32_t id) noexcept {
  const uint16_t* end = kSymbolsById + kSymbolCount;
  const uint16_t* found =
      std::lower_bound(kSymbolsById, end, id,
                       [](uint16_t place, int32_t wanted) { return kSymbols[place].id < wanted; });
  return found != end && kSymbols[*found].id == id ? &kSymbols[*found] : nullptr;
}

namespace {

struct Accepted {
  tsr_value_kind kind;
  const char* name;
};

// The kind of value that an argument takes, by the capital letter of its type.
Accepted accepted(char type) {
  switch (type) {
    case arg_type::kTensor:
      return {TSR_VALUE_TENSOR, "TENSOR"};
    case arg_type::kTensors:
      return {TSR_VALUE_TENSORS, "TENSORS"};
    case arg_type::kInt:
    case arg_type::kEnum:
      return {TSR_VALUE_INT, "INT"};
    case arg_type::kInts:
      return {TSR_VALUE_INTS, "INTS"};
    case arg_type::kReal:
      return {TSR_VALUE_REAL, "REAL"};
    case arg_type::kReals:
      return {TSR_VALUE_REALS, "REALS"};
    case arg_type::kNumber:
      return {TSR_VALUE_COMPLEX, "BOOL, INT, UNSIGNED, REAL or COMPLEX"};
    case arg_type::kBool:
      return {TSR_VALUE_BOOL, "BOOL"};
    case arg_type::kDType:
      return {TSR_VALUE_DTYPE, "DTYPE"};
    case arg_type::kDevice:
      return {TSR_VALUE_DEVICE, "DEVICE"};
    case arg_type::kText:
      return {TSR_VALUE_TEXT, "TEXT"};
    case arg_type::kGenerator:
      return {TSR_VALUE_GENERATOR, "GENERATOR"};
    case arg_type::kPlaces:
      return {TSR_VALUE_PLACES, "PLACES"};
    default:
      return {TSR_VALUE_PLACE, "PLACE"};
  }
}

constexpr const char* kKindNames[] = {"NONE",  "BOOL",   "INT",     "REAL",    "COMPLEX",
                                      "DTYPE", "DEVICE", "TEXT",    "TENSOR",  "GENERATOR",
                                      "INTS",  "REALS",  "TENSORS", "PLACE",   "PLACES",
                                      "SHAPE", "LIST",   "POINTER", "UNSIGNED"};
static_assert(std::size(kKindNames) == TSR_VALUE_UNSIGNED + 1);

std::string kind_name(tsr_value_kind kind) {
  const bool known = kind >= 0 && kind < static_cast<int32_t>(std::size(kKindNames));
  return known ? concat("TSR_VALUE_", kKindNames[kind]) : concat("the kind ", kind);
}

}  // namespace

// A result may be discarded, as a NULL place in C; a function that needs the place says so.
bool fits(char type, const tsr_value& value) {
  if (value.kind == TSR_VALUE_NONE) return is_optional(type) || is_result(type);
  if (required(type) == arg_type::kNumber)
    return (value.kind >= TSR_VALUE_BOOL && value.kind <= TSR_VALUE_COMPLEX) ||
           value.kind == TSR_VALUE_UNSIGNED;
  return value.kind == accepted(required(type)).kind;
}

// Whether an integer fits its C type: some arguments are int32_t in C.
bool fits_width(char type, const tsr_value& value) {
  const char base = required(type);
  const bool small = base == arg_type::kBool || base == arg_type::kDType ||
                     base == arg_type::kDevice || base == arg_type::kEnum;
  return !small || value.kind == TSR_VALUE_NONE ||
         value.integer == static_cast<int32_t>(value.integer);
}

namespace {

void check_value(const Symbol& symbol, size_t at, const tsr_value& value) {
  const char type = symbol.signature->letters[at];
  const CallInfo& info = *symbol.info;
  // In the out form, destination tensors take the positions of the results.
  const char* arg = at < static_cast<size_t>(info.n) ? info.args[at].name : "dst";
  TSR_CHECK(fits(type, value), Code::kType, arg, "expected TSR_VALUE_",
            accepted(required(type)).name, is_optional(type) ? " or TSR_VALUE_NONE" : "", ", got ",
            kind_name(value.kind), " (value ", at, " of ", symbol.name, ")");
  TSR_CHECK(fits_width(type, value), Code::kValue, arg, "expected a number of 32 bits, got ",
            value.integer);
}

// Out handles are NULL after every failure.
void clear_places(std::string_view letters, const tsr_value* values) noexcept {
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool wanted = values[i].pointer != nullptr;
    if (letters[i] == arg_type::kPlace && values[i].kind == TSR_VALUE_PLACE && wanted)
      *static_cast<tsr_tensor*>(const_cast<void*>(values[i].pointer)) = nullptr;
  }
}

[[gnu::cold]] tsr_status refuse(const Symbol& symbol, const tsr_value* values) noexcept {
  const std::string_view letters = symbol.signature->letters;
  const tsr_status status = guard(CallAtRunTime{*symbol.info}, [&] {
    for (size_t i = 0; i < letters.size(); ++i) check_value(symbol, i, values[i]);
  });
  clear_places(letters, values);
  return status;
}

bool all_fit(const Symbol& symbol, const tsr_value* values) noexcept {
  const std::string_view letters = symbol.signature->letters;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (!fits(letters[i], values[i]) || !fits_width(letters[i], values[i])) return false;
  }
  return true;
}

[[gnu::cold]] tsr_status refuse_number(const Symbol* symbol, int32_t id,
                                       const tsr_value* values) noexcept {
  return guard(Call(kInfo_call, id, values), [&] {
    fail(Code::kValue, "id", __FILE__, __LINE__,
         "expected the number of an operator's function, got ", id, symbol == nullptr ? "" : ": ",
         symbol == nullptr ? "" : symbol->name);
  });
}

[[gnu::cold]] tsr_status refuse_count(const Symbol& symbol, int32_t n) noexcept {
  return guard(CallAtRunTime{*symbol.info}, [&] {
    fail(Code::kValue, nullptr, __FILE__, __LINE__, "expected ",
         std::string_view(symbol.signature->letters).size(), " values for ", symbol.name, ", got ",
         n);
  });
}

}  // namespace
}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

int32_t tsr_function_id(const char* name, int64_t name_len) {
  const Symbol* found = nullptr;
  const tsr_status status = guard(Call(kInfo_function_id, TextOf{name, name_len}),
                                  [&] { found = find_symbol(text_arg(name, name_len, "name")); });
  return status == TSR_OK && found != nullptr ? found->id : 0;
}

const char* tsr_function_name(int32_t id) {
  const Symbol* found = find_symbol(id);
  return found == nullptr ? nullptr : found->name;
}

tsr_status tsr_call(int32_t id, tsr_value* values, int32_t n_values) {
  if (n_values < 0 || values == nullptr) [[unlikely]] {
    const tsr_status status =
        guard(Call(kInfo_call, id, values), [&] { list_arg(values, n_values, "values"); });
    if (status != TSR_OK) return status;
  }
  const Symbol* symbol = find_symbol(id);
  if (symbol == nullptr || symbol->signature == nullptr) [[unlikely]]
    return refuse_number(symbol, id, values);
  const size_t expected = std::string_view(symbol->signature->letters).size();
  if (static_cast<size_t>(n_values) != expected) [[unlikely]]
    return refuse_count(*symbol, n_values);
  if (!all_fit(*symbol, values)) [[unlikely]]
    return refuse(*symbol, values);
  return symbol->signature->call(symbol->function, values);
}

}  // extern "C"
