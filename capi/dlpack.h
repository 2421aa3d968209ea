// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DLPack for this library: the system's header, and definitions that versions before 1.0 lack.
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>

namespace tsr::capi {

inline constexpr uint8_t kDlBool = 6;  // kDLBool of DLPack 0.8
inline constexpr uint64_t kDlReadOnly = 1;
inline constexpr uint64_t kDlIsCopied = 2;
inline constexpr uint32_t kDlMajor = 1, kDlMinor = 0;

}  // namespace tsr::capi

#if !defined(DLPACK_MAJOR_VERSION)
typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};
typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;
#endif

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, shape) == 24);
static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, manager_ctx) == 48);
static_assert(sizeof(DLManagedTensorVersioned) == 80 &&
              offsetof(DLManagedTensorVersioned, dl_tensor) == 32);
