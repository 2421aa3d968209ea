// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Starts the library before the first test of this executable, as loading the C ABI does.
#include <gtest/gtest.h>

#include "backend/cpu/backend.h"
#include "kernel/registry.h"
#include "ops/start_up.h"

namespace tsr {
namespace {

class Library : public ::testing::Environment {
 public:
  void SetUp() override {
    kernel::register_backend(cpu::backend_entry);
    ops::start_up();
  }
};

[[maybe_unused]] const auto* const kLibrary =
    ::testing::AddGlobalTestEnvironment(new Library);  // gtest owns it

}  // namespace
}  // namespace tsr
