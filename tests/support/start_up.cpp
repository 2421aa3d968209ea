// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/start_up.h"

#include "backend/cpu/backend.h"
#include "kernel/registry.h"
#include "ops/start_up.h"

namespace tsr::testing {

void start_up() {
  kernel::register_backend(cpu::backend_entry);
  ops::start_up();
}

}  // namespace tsr::testing
