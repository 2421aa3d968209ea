// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A JSON value in a message.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tsr {

// "array" or "object", or how the value is written, 80 characters at most. nlohmann::json::dump
// calls itself for what is nested, so that a file could overflow the stack.
inline std::string short_text(const nlohmann::json& value) {
  return value.is_structured() ? value.type_name() : value.dump().substr(0, 80);
}

}  // namespace tsr
