// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Arguments that are paths, JSON, or a JSON array of names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/handle.h"

namespace tsr::capi {

inline std::string path_arg(const char* path, int64_t path_len) {
  std::string text(text_arg(path, path_len, "path"));
  TSR_CHECK(text.find('\0') == std::string::npos, Code::kIo, "path",
            "a path has no zero byte in it");
  return text;
}

inline nlohmann::json json_arg(std::string_view text, const char* arg) {
  nlohmann::json tree = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  TSR_CHECK(!tree.is_discarded(), Code::kValue, arg, "expected JSON, got '", text.substr(0, 80),
            "'");
  return tree;
}

inline std::vector<std::string> names_arg(std::string_view text) {
  const nlohmann::json tree = json_arg(text, "names");
  TSR_CHECK(tree.is_array(), Code::kValue, "names", "expected a JSON array of texts");
  std::vector<std::string> names;
  for (const auto& name : tree) {
    TSR_CHECK(name.is_string(), Code::kValue, "names", "expected texts");
    names.push_back(name.get<std::string>());
  }
  return names;
}
// One name for each of `count` tensors.
inline std::vector<std::string> names_arg(std::string_view text, size_t count) {
  std::vector<std::string> names = names_arg(text);
  TSR_CHECK(names.size() == count, Code::kValue, "names", "expected a JSON array of ", count,
            " texts, one for each tensor");
  return names;
}

// A JSON object of texts.
inline std::vector<std::pair<std::string, std::string>> metadata_arg(std::string_view text) {
  const nlohmann::json tree = json_arg(text, "metadata");
  TSR_CHECK(tree.is_object(), Code::kValue, "metadata", "expected a JSON object");
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto& [key, value] : tree.items()) {
    TSR_CHECK(value.is_string(), Code::kValue, "metadata", "expected texts as values");
    metadata.emplace_back(key, value.get<std::string>());
  }
  return metadata;
}

}  // namespace tsr::capi
