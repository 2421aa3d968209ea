// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Device: where memory lives and kernels run; the numbers are DLPack's DLDeviceType.
#pragma once

#include <cstdint>
#include <string>

#include "base/text.h"

namespace tsr {

enum class DeviceType : int32_t { kCpu = 1, kCuda = 2, kSimulated = 12 };

struct Device {
  DeviceType type = DeviceType::kCpu;
  int32_t index = 0;

  friend constexpr bool operator==(Device, Device) = default;
  [[nodiscard]] constexpr bool is_cpu() const { return type == DeviceType::kCpu; }
};

// The device on which functions of this thread make tensors if the caller names none. Every thread
// starts with the CPU.
extern constinit thread_local Device t_default_device;

inline void append_text(std::string& out, Device device) {
  switch (device.type) {
    case DeviceType::kCpu:
      out += "cpu";
      return;
    case DeviceType::kCuda:
      out += "cuda:";
      break;
    case DeviceType::kSimulated:
      out += "simulated:";
      break;
  }
  append_text(out, device.index);
}

}  // namespace tsr
