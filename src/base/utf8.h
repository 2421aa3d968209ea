// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 texts, for columns and boxes of one width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tsr {

// Bytes that are not the first of their character.
constexpr bool continues_character(char byte) noexcept {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

inline size_t count_characters(std::string_view text) noexcept {
  return text.size() -
         static_cast<size_t>(std::count_if(text.begin(), text.end(), continues_character));
}

// The first `count` characters, or all.
inline std::string_view first_characters(std::string_view text, size_t count) noexcept {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues_character(text[end]) && count-- == 0) break;
  }
  return text.substr(0, end);
}

}  // namespace tsr
