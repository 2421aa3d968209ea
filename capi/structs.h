// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Public structs with struct_size: reads and fills a caller's struct of any version.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "capi/generated/struct_sizes.h"

namespace tsr::capi {

// Note [Structs that grow]
// New fields are only added at the end of a struct. kFirstSize, generated from the schema, is the
// size of its first release; callers with that size are supported for ever. The library and the
// caller exchange min(the caller's size, our size) bytes. Fields that only we know: not filled, and
// zero (the default) when read. Fields that only the caller knows: filled with zero, the default;
// when read they must be zero, because we cannot do what they ask for.
inline constexpr uint32_t kMaxStructSize = 4096;  // a larger struct_size is an invalid value

template <class T>
void check_struct_size(const T* from, const char* arg) {
  TSR_CHECK(from != nullptr, Code::kInvalidArgument, arg, "expected a struct, got NULL");
  TSR_CHECK(from->struct_size >= kFirstSize<T> && from->struct_size <= kMaxStructSize, Code::kAbi,
            arg, "expected struct_size ", sizeof(T), " (", kFirstSize<T>,
            " at least, or a newer struct's), got ", from->struct_size);
}

template <class T>
T read_struct(const T* from, const char* arg) {
  static_assert(std::is_trivially_copyable_v<T>);
  check_struct_size(from, arg);
  const size_t size = from->struct_size;
  const size_t common = std::min(size, sizeof(T));
  const char* bytes = reinterpret_cast<const char*>(from);
  TSR_CHECK(std::all_of(bytes + common, bytes + size, [](char c) { return c == 0; }), Code::kAbi,
            arg, "expected zero in fields this version does not know");
  T value{};
  std::memcpy(&value, from, common);
  return value;
}

[[gnu::noinline, gnu::cold]] inline void clear_tail(void* to, size_t known, size_t size) noexcept {
  std::memset(static_cast<char*>(to) + known, 0, size - known);
}

// fill(T&) sets every field but struct_size, which keeps the caller's value. It writes directly
// into the caller's struct if that has all fields.
template <class T, class Fill>
void fill_struct(T* to, const char* arg, const Fill& fill) {
  static_assert(std::is_trivially_copyable_v<T>);
  check_struct_size(to, arg);
  const uint32_t size = to->struct_size;
  if constexpr (kFirstSize<T> < sizeof(T)) {
    if (size < sizeof(T)) [[unlikely]] {
      T value{};
      value.struct_size = size;
      fill(value);
      std::memcpy(to, &value, size);
      return;
    }
  }
  fill(*to);
  if (size > sizeof(T)) [[unlikely]]
    clear_tail(to, sizeof(T), size);
}
template <class T>
void fill_struct(T* to, const T& value, const char* arg) {
  fill_struct(to, arg, [&value](T& filled) {
    const uint32_t size = filled.struct_size;
    filled = value;
    filled.struct_size = size;
  });
}

// The drop function of a table. Also read from a table that is refused, if the table is large
// enough.
template <class Table>
auto drop_of(const Table* table) noexcept -> decltype(table->drop) {
  constexpr size_t kEnd = offsetof(Table, drop) + sizeof(table->drop);
  return table != nullptr && table->struct_size >= kEnd ? table->drop : nullptr;
}

}  // namespace tsr::capi
