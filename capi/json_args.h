// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arguments that are paths, JSON, or a JSON array of names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace tsr::capi {

[[nodiscard]] std::string path_arg(const char* path, int64_t path_len);

[[nodiscard]] Json json_arg(std::string_view text, const char* arg);

[[nodiscard]] std::vector<std::string> names_arg(std::string_view text, const char* arg = "names");
// One name for each of `count` tensors.
[[nodiscard]] std::vector<std::string> names_arg(std::string_view text, size_t count,
                                                 const char* arg = "names");

// A JSON object of texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> metadata_arg(std::string_view text);

}  // namespace tsr::capi
