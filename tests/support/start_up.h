// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// start_up: what the library does when it is loaded, for tests that go past the C ABI.
#pragma once

namespace tsr::testing {

// Registers the CPU backend and gives autograd its operations. Any number of calls, any thread.
void start_up();

}  // namespace tsr::testing
