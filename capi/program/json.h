// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The calls of a program as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "capi/program/program.h"

namespace tsr::capi::program {

// Inputs, outputs, the values' dtypes and devices, calls; without stored tensors.
[[nodiscard]] nlohmann::json to_json(const Program& program);
// The reverse. Throws kIo and the exceptions of the JSON library; Program::check is still to come.
void from_json(const nlohmann::json& tree, Program& program);

}  // namespace tsr::capi::program
