// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The services that the library gives to the CPU backend, and how its kernels report failures.
#pragma once

#include "base/error.h"
#include "kernel/kernels.h"

namespace tsr::cpu {

// Set once, by the backend's entry, before any kernel runs.
void set_host(const kernel::HostServices* services) noexcept;

// Stores the text as the host's error message and returns the status of `code`.
kernel::Status failure(Code code, const char* text) noexcept;

// Scratch memory for the duration of a kernel; `data` is null if the allocation failed.
class Workspace {
 public:
  explicit Workspace(int64_t nbytes) noexcept;
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_;
  uint64_t nbytes_;
};

}  // namespace tsr::cpu
