// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Numbers as text for people: with a point in every locale, where printf writes the user's.
#pragma once

#include <charconv>
#include <iterator>
#include <string>

namespace tsr {

// In decimal, with so many places, up to 15.
inline std::string rounded(double value, int places) {
  char text[328];  // the largest double has 309 digits
  const auto end = std::to_chars(text, std::end(text), value, std::chars_format::fixed, places).ptr;
  return std::string(text, end);
}

}  // namespace tsr
