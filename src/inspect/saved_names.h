// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The names of the tensors that a node saved: "input", "weight", "result".
#pragma once

#include "autograd/node.h"

namespace tsr::inspect {

// The name of saved tensor `index`: the argument of the op that it was, "result" for an output, or
// what the op made for its derivative. Several tensors of one list have one name. Lives as long as
// the process. Throws as Node::saved does.
const char* saved_name(const Node& node, size_t index);

}  // namespace tsr::inspect
