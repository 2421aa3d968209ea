// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Small facts that the ranks of a group tell each other. `device` is where the messages travel,
// because some groups know only one device. All ranks call each function together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dist/collectives.h"

namespace tsr::dist {

// Each number becomes its sum over the ranks. The counts must be equal.
void sum_numbers(Group& group, Device device, std::vector<int64_t>& numbers);
// The numbers become those of rank `source`.
void broadcast_numbers(Group& group, Device device, std::vector<int64_t>& numbers, int32_t source);
// The texts of all ranks, by rank.
std::vector<std::string> gather_texts(Group& group, Device device, std::string_view mine);

// Throws kShape on all ranks unless all have the same list; the message names the first difference
// from rank 0.
void check_equal_lists(Group& group, Device device, const std::vector<std::string>& list,
                       const char* arg);

}  // namespace tsr::dist
