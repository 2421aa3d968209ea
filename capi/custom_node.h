// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// custom_arg: the node of a custom function behind a handle.
#pragma once

#include "autograd/custom_function.h"
#include "base/error.h"
#include "capi/node_args.h"

namespace tsr::capi {

inline CustomNode& custom_arg(tsr_node handle) {
  Node& node = node_arg(handle);
  auto* custom = dynamic_cast<CustomNode*>(&node);
  TSR_CHECK(custom != nullptr, Code::kType, "node", "expected the node of a custom function, got ",
            node.name());
  return *custom;
}

}  // namespace tsr::capi
