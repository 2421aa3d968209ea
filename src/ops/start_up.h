// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The explicit start-up call of the op layer.
#pragma once

namespace tsr::ops {

// Gives autograd the ops that its engine needs. Called once per process, before any backward.
void start_up();

}  // namespace tsr::ops
