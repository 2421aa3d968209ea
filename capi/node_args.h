// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arguments of the functions that ask about nodes.
#pragma once

#include "autograd/node.h"
#include "capi/handle.h"

namespace tsr::capi {

inline Node& node_arg(tsr_node handle) {
  return *object_arg<Node>(handle, ObjectTag::kNode, "node", "node");
}

// A place in a list of `count` things, counted from 0.
inline size_t index_arg(int64_t index, size_t count) {
  TSR_CHECK(index >= 0 && static_cast<uint64_t>(index) < count, Code::kIndex, "index",
            "expected an index below ", count, ", got ", index);
  return static_cast<size_t>(index);
}

}  // namespace tsr::capi
