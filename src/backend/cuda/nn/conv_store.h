// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The plans that cuDNN has made for convolutions, kept in files for later processes.
//
// Note [Plans on disk]
// Choosing an engine takes milliseconds for each shape. cuDNN writes a finished plan as text, so
// the next process reads it and asks no heuristics. One file holds one plan. It is written beside
// its place and then renamed, so that a reader sees a whole file or none, and several processes
// need no lock. A file names the format, cuDNN's version, the device and the whole key of the
// convolution, and ends with a checksum: one that differs in anything is ignored and later
// replaced. The rules by which an engine is chosen belong to the format: who changes them raises
// kFormat.
//
// The files are in the folder "tessera" of $XDG_CACHE_HOME or ~/.cache. The environment variable
// TESSERA_CACHE names another folder; "off" or an empty value keeps nothing.
#pragma once

#include <cstdint>
#include <span>

#include "backend/cuda/nn/dnn.h"

namespace tsr::cuda {

// The key must not contain the number of the device, which the name of the device replaces. The
// device must be current.
struct StoredPlan {
  const Dnn& dnn;
  int32_t device;
  std::span<const int64_t> key;

  // A plan that is ready to run, or a descriptor that is not ok(). May throw std::bad_alloc.
  [[nodiscard]] Descriptor read(cudnnHandle_t handle) const;
  // Does nothing where that is not possible. May throw std::bad_alloc.
  void write(const Descriptor& plan) const;
};

}  // namespace tsr::cuda
