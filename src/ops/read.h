// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reading a tensor of one element as a number of the host.
#pragma once

#include "ops/create/copy.h"

namespace tsr::ops {

// Waits for the device.
template <class T>
T read(const Tensor& one) {
  const Tensor here = cast_memory(to(one.detached(), Device{}, std::nullopt), dtype_of<T>());
  return *here.data_as<T>();
}

}  // namespace tsr::ops
