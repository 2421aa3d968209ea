// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The generated tables (exported symbols, struct sizes, status names) and the schema's JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capi/call.h"

namespace tsr::capi {

// The ABI version of this library: the major version and 16 bits of the minor version.
inline constexpr uint32_t kAbiVersion = 0U << 16 | 1U;

using AnyFunction = void (*)();

// The arguments and results of an operator's function as letters (arg_type), and a trampoline: it
// reads the arguments from values and calls a function of this C type.
struct Signature {
  const char* letters;
  tsr_status (*call)(AnyFunction function, tsr_value* values);
};

struct Symbol {
  const char* name;
  AnyFunction function;
  int32_t id;
  const CallInfo* info;
  const Signature* signature;  // null for a function that is not an operator
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
extern const uint16_t* const kSymbolsById;  // indices into kSymbols
// Null if there is no such symbol.
const Symbol* find_symbol(std::string_view name) noexcept;
const Symbol* find_symbol(int32_t id) noexcept;

// Whether a value can be passed where the letter of a signature stands.
[[nodiscard]] bool fits(char type, const tsr_value& value);
[[nodiscard]] bool fits_width(char type, const tsr_value& value);

extern const StructSize kStructSizes[];
extern const size_t kStructCount;
extern const StatusName kStatusNames[];
extern const size_t kStatusCount;

// The schema as tsr_schema_json returns it; followed by a zero that is not part of its size.
std::string_view schema_json() noexcept;

}  // namespace tsr::capi
