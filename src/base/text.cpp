// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tsr {

void append_text(std::string& out, std::string_view text) {
  out += text;
}

void append_text(std::string& out, bool value) {
  out += value ? "true" : "false";
}

void append_text(std::string& out, double value) {
  std::array<char, 32> buffer;
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), end);
}

void append_text(std::string& out, std::complex<double> value) {
  append_text(out, value.real());
  out += std::signbit(value.imag()) ? "" : "+";
  append_text(out, value.imag());
  out += 'j';
}

void append_text(std::string& out, std::span<const int64_t> values) {
  out += '[';
  const char* separator = "";
  for (const int64_t value : values) {
    out += separator;
    out += std::to_string(value);
    separator = ", ";
  }
  out += ']';
}

}  // namespace tsr
