// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The generated tables: exported symbols, struct sizes, status names; and the schema's JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capi/call.h"

namespace tsr::capi {

// Of this library: the major version and 16 bits of the minor one.
inline constexpr uint32_t kAbiVersion = 0U << 16 | 1U;

using AnyFunction = void (*)();

// The arguments and results of an operator's function as letters (arg_type), and the function that
// reads them from values and calls one of these C types.
struct Signature {
  const char* letters;
  tsr_status (*call)(AnyFunction function, tsr_value* values);
};

struct Symbol {
  const char* name;
  AnyFunction function;
  int32_t id;
  const CallInfo* info;
  const Signature* signature;  // null where the function is no operator's
};
struct StructSize {
  const char* name;
  size_t size;
};
struct StatusName {
  int32_t code;
  const char* name;
};

extern const Symbol kSymbols[];  // sorted by name
extern const size_t kSymbolCount;
extern const uint16_t* const kSymbolsById;  // places in kSymbols
// Null when there is none.
const Symbol* find_symbol(std::string_view name) noexcept;
const Symbol* find_symbol(int32_t id) noexcept;

extern const StructSize kStructSizes[];
extern const size_t kStructCount;
extern const StatusName kStatusNames[];
extern const size_t kStatusCount;

// The schema as tsr_schema_json gives it; ends with a zero, which its size leaves out.
std::string_view schema_json() noexcept;

}  // namespace tsr::capi
