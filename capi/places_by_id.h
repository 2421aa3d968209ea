// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorts a table that is ordered by name by number, at compile time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace tsr::capi {

template <size_t n>
constexpr std::array<uint16_t, n> places_by_id(const int32_t (&ids)[n]) {
  static_assert(n <= UINT16_MAX);
  std::array<uint16_t, n> places{};
  std::iota(places.begin(), places.end(), uint16_t{0});
  std::sort(places.begin(), places.end(), [&](uint16_t a, uint16_t b) { return ids[a] < ids[b]; });
  return places;
}

}  // namespace tsr::capi
