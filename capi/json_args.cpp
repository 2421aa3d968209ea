// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/json_args.h"

#include <algorithm>

#include "base/utf8.h"
#include "capi/handle.h"

namespace tsr::capi {

std::string path_arg(const char* path, int64_t path_len) {
  std::string text(text_arg(path, path_len, "path"));
  TSR_CHECK(text.find('\0') == std::string::npos, Code::kIo, "path",
            "a path has no zero byte in it");
  return text;
}

Json json_arg(std::string_view text, const char* arg) {
  std::optional<Json> tree = Json::try_parse(text);
  TSR_CHECK(tree.has_value(), Code::kValue, arg, "expected JSON, got '", first_characters(text, 80),
            "'");
  return std::move(*tree);
}

std::vector<std::string> names_arg(std::string_view text, const char* arg) {
  const Json tree = json_arg(text, arg);
  TSR_CHECK(tree.is_array(), Code::kValue, arg, "expected a JSON array of texts, got ",
            short_text(tree));
  std::vector<std::string> names;
  for (const Json& name : tree) {
    TSR_CHECK(name.is_string(), Code::kValue, arg, "expected a JSON array of texts, got ",
              short_text(name), " in it");
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::vector<std::string> names_arg(std::string_view text, size_t count, const char* arg) {
  std::vector<std::string> names = names_arg(text, arg);
  TSR_CHECK(names.size() == count, Code::kValue, arg, "expected a JSON array of ", count,
            " texts, one for each tensor, got ", names.size());
  return names;
}

std::vector<std::pair<std::string, std::string>> metadata_arg(std::string_view text) {
  const Json tree = json_arg(text, "metadata");
  TSR_CHECK(tree.is_object(), Code::kValue, "metadata", "expected a JSON object, got ",
            short_text(tree));
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto& [key, value] : tree.items()) {
    TSR_CHECK(value.is_string(), Code::kValue, "metadata", "expected texts as values, got ",
              short_text(value), " as '", key, "'");
    metadata.emplace_back(key, value.get<std::string>());
  }
  std::sort(metadata.begin(), metadata.end());
  return metadata;
}

}  // namespace tsr::capi
