// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/host.h"

namespace tsr::cpu {
namespace {

const kernel::HostServices* g_host = nullptr;

}  // namespace

void set_host(const kernel::HostServices* services) noexcept {
  g_host = services;
}

kernel::Status failure(Code code, const char* text) noexcept {
  if (g_host != nullptr) g_host->set_error(text, 0);
  return static_cast<kernel::Status>(code);
}

Workspace::Workspace(int64_t nbytes) noexcept
    : data_(g_host == nullptr || nbytes <= 0
                ? nullptr
                : g_host->workspace_allocate(DeviceType::kCpu, {}, static_cast<uint64_t>(nbytes))),
      nbytes_(static_cast<uint64_t>(nbytes)) {}

Workspace::~Workspace() {
  if (data_ != nullptr) g_host->workspace_free(DeviceType::kCpu, {}, data_, nbytes_);
}

}  // namespace tsr::cpu
