// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The memory viewer: a page about one snapshot of an allocator.
#pragma once

#include <string>
#include <string_view>

namespace tsr::profile {

// `snapshot` is the JSON of Allocator::snapshot.
std::string memory_page(std::string_view snapshot);

}  // namespace tsr::profile
