// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The tables behind the pointwise entries of the CPU.
#pragma once

namespace tsr::cpu {

// Looks up every kernel of the running level, once, when the backend starts and before the entries
// are called.
void fill_pointwise_tables() noexcept;

}  // namespace tsr::cpu
