// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/memory_page.h"

#include "profile/embedded.h"
#include "profile/page.h"

namespace tsr::profile {

std::string memory_page(std::string_view snapshot) {
  return make_page("Memory", embedded::memory_css(), embedded::memory_js(), snapshot);
}

}  // namespace tsr::profile
