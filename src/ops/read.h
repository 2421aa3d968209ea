// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reading a tensor of one element as a number of the host.
#pragma once

#include "kernel/kept_launch.h"
#include "ops/create/copy.h"

namespace tsr::ops {

// Waits for the device.
template <class T>
T read(const Tensor& one) {
  const Tensor here = cast_memory(to(one.detached(), Device{}, std::nullopt), dtype_of<T>());
  kernel::note_host_decision("an operator that reads an element");
  return *here.data_as<T>();
}

}  // namespace tsr::ops
