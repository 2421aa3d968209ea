// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Text of messages: concat(pieces...) and the append_text overloads that write a piece.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace tsr {

// Adding a type to messages means adding an append_text overload in that type's namespace.
void append_text(std::string& out, std::string_view text);
void append_text(std::string& out, bool value);
void append_text(std::string& out, double value);
void append_text(std::string& out, std::complex<double> value);
// Shapes and index lists are written as [2, 3].
void append_text(std::string& out, std::span<const int64_t> values);

inline void append_text(std::string& out, const char* text) {
  append_text(out, std::string_view(text));
}
inline void append_text(std::string& out, const std::string& text) {
  append_text(out, std::string_view(text));
}

template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void append_text(std::string& out,
                                                                             T value) {
  out += std::to_string(value);
}

template <class... Pieces>
[[nodiscard]] std::string concat(const Pieces&... pieces) {
  std::string out;
  (append_text(out, pieces), ...);
  return out;
}

}  // namespace tsr
