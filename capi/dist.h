// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups of ranks as arguments.
#pragma once

#include "capi/handle.h"
#include "dist/collectives.h"

namespace tsr::capi {

inline dist::Group& group_arg(tsr_group handle, const char* arg = "group") {
  return *object_arg<dist::Group>(handle, dist::kGroupTag, "group", arg);
}
inline dist::Work& work_arg(tsr_work handle, const char* arg = "work") {
  return *object_arg<dist::Work>(handle, dist::kWorkTag, "work", arg);
}

}  // namespace tsr::capi
