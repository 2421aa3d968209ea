// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The files of src/profile/page as texts of the library.
#pragma once

#include <string_view>

namespace tsr::profile::embedded {

std::string_view base_css() noexcept;
std::string_view base_js() noexcept;
std::string_view memory_css() noexcept;
std::string_view memory_js() noexcept;
std::string_view profile_css() noexcept;
std::string_view profile_js() noexcept;

}  // namespace tsr::profile::embedded
