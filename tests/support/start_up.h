// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// start_up: starts the library as loading it does, for tests that do not use the C ABI.
#pragma once

namespace tsr::testing {

// Registers the CPU backend and gives autograd its operations. May be called any number of times,
// on any thread.
void start_up();

}  // namespace tsr::testing
