// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Lets the standard containers of a test executable fail too; link failing_new.cpp into it.
#pragma once

#include <cstdint>

namespace tsr::test {

// While one lives, each operator new of this thread counts as an allocation that may fail.
class FailingNew {
 public:
  FailingNew() noexcept;
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();
};

// Objects made by operator new and not yet deleted.
int64_t live_new() noexcept;
// How often this thread has called operator new.
int64_t new_calls() noexcept;

}  // namespace tsr::test
