// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Options of layers that are one number, or one for each spatial axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "tessera/cpp/arguments.hpp"

namespace tessera::nn {

// A number for each axis: one for all of them, or as many as there are axes, such as {rows,
// columns}.
template <int kAxes>
struct Sizes {
  Sizes(int64_t all) { values.fill(all); }  // NOLINT(google-explicit-constructor)
  template <class... Rest, std::enable_if_t<sizeof...(Rest) + 2 == kAxes, int> = 0>
  Sizes(int64_t first, int64_t second, Rest... rest)
      : values{first, second, static_cast<int64_t>(rest)...} {}
  Sizes(std::initializer_list<int64_t> list) {
    if (list.size() == 1) {
      values.fill(*list.begin());
    } else if (list.size() == values.size()) {
      std::copy(list.begin(), list.end(), values.begin());
    } else {
      throw InvalidValueError("expected 1 or " + std::to_string(kAxes) + " numbers, got " +
                              std::to_string(list.size()));
    }
  }
  operator IntList() const { return values; }          // NOLINT(google-explicit-constructor)
  operator OptionalIntList() const { return values; }  // NOLINT(google-explicit-constructor)

  std::array<int64_t, size_t{kAxes}> values;
};
using Pair = Sizes<2>;

}  // namespace tessera::nn
