// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The calls of a program as JSON.
#pragma once

#include "base/json.h"
#include "capi/program/program.h"

namespace tsr::capi::program {

// Inputs, outputs, the values' dtypes and devices, calls; without stored tensors.
[[nodiscard]] Json to_json(const Program& program);
// The reverse. Throws kIo and JsonError; Program::check is still to come.
void from_json(const Json& tree, Program& program);

}  // namespace tsr::capi::program
