// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pages: one HTML file that needs no network. Styles and scripts are embedded into the library.
#pragma once

#include <string>
#include <string_view>

namespace tsr::profile {

// A page whose script finds `data`, a JSON text, in the constant DATA, and the functions of
// page/base.js. `script` and the styles must not contain "</script" and "</style".
std::string make_page(std::string_view title, std::string_view style, std::string_view script,
                      std::string_view data);

}  // namespace tsr::profile
