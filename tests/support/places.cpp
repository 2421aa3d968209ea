// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/places.h"

namespace tsr::testing {

std::string source_path(const std::string& below) {
  return TSR_SOURCE_FOLDER "/" + below;
}

std::string simulated_backend() {
  return TSR_SIMULATED_BACKEND;
}

}  // namespace tsr::testing
