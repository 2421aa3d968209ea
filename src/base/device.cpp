// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/device.h"

namespace tsr {

constinit thread_local Device t_default_device;

}  // namespace tsr
