// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Public structs with struct_size: reading the caller's and filling the caller's, whatever its
// version.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace tsr::capi {

inline constexpr uint32_t kMaxStructSize = 4096;  // larger values of struct_size are garbage

template <class T>
void check_struct_size(const T* from, const char* arg) {
  TSR_CHECK(from != nullptr, Code::kInvalidArgument, arg, "expected a struct, got NULL");
  TSR_CHECK(from->struct_size >= sizeof(T) && from->struct_size <= kMaxStructSize, Code::kAbi, arg,
            "expected struct_size ", sizeof(T), " or a newer struct's, got ", from->struct_size);
}

// The fields this library knows. A newer caller's further fields must be zero, that is, default.
template <class T>
T read_struct(const T* from, const char* arg) {
  check_struct_size(from, arg);
  const char* bytes = reinterpret_cast<const char*>(from);
  TSR_CHECK(
      std::all_of(bytes + sizeof(T), bytes + from->struct_size, [](char c) { return c == 0; }),
      Code::kAbi, arg, "expected zero in fields this version does not know");
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Fills the fields this library knows and leaves struct_size as the caller set it.
template <class T>
void fill_struct(T* to, T value, const char* arg) {
  check_struct_size(to, arg);
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace tsr::capi
