// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Where files of this clone are. The paths stand in the flags of places.cpp alone: in those of a
// test they would keep the compiler cache from finding the test as another clone has compiled it.
#pragma once

#include <string>

namespace tsr::testing {

// Of a file or folder of the sources, such as "tests/conformance".
std::string source_path(const std::string& below);
// The simulated device as a plugin.
std::string simulated_backend();

}  // namespace tsr::testing
