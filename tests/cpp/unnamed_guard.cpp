// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A guard without a name ends at once. A test compiles this file and expects the warning.
#include "tessera/cpp/autograd.hpp"

void record_nothing() {
  tessera::NoGradGuard();
}
