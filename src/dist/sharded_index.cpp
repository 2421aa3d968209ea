// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/sharded_index.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "io/spelling.h"

namespace tsr::dist {
namespace {

constexpr const char* kFormat = "tessera.shards.1";

const char* spelling_of(DType dtype, const std::string& name) {
  for (const io::Spelling& spelling : io::kSpellings) {
    if (spelling.dtype == dtype) return spelling.text;
  }
  fail(Code::kDType, "tensors", __FILE__, __LINE__, "safetensors cannot hold ", dtype, " ('", name,
       "')");
}

[[noreturn]] void refuse(std::string_view what) {
  fail(Code::kIo, "path", __FILE__, __LINE__, "not the index of a sharded checkpoint: ", what);
}

DType dtype_in(const Json& tree) {
  const auto text = tree.at("dtype").get<std::string>();
  for (const io::Spelling& spelling : io::kSpellings) {
    if (text == spelling.text) return spelling.dtype;
  }
  refuse(concat("unknown dtype '", text, "'"));
}

Json numbers(const Dims& dims) {
  return std::vector<int64_t>(dims.begin(), dims.end());
}

Dims dims_in(const Json& tree, const char* key) {
  const auto list = tree.at(key).get<std::vector<int64_t>>();
  if (list.size() > static_cast<size_t>(kMaxTensorRank)) refuse("too many dims");
  return Dims(DimsView(list.data(), list.size()));
}

ShardIndex parsed(const Json& tree) {
  ShardIndex index;
  if (tree.at("format") != kFormat) refuse("unknown format");
  for (const auto& [key, value] : tree.at("metadata").items()) {
    index.metadata.emplace_back(key, value.get<std::string>());
  }
  for (const auto& [name, value] : tree.at("tensors").items()) {
    IndexEntry entry{dtype_in(value), dims_in(value, "shape"), {}};
    for (const Json& part : value.at("parts")) {
      auto file = part.at("file").get<std::string>();
      if (file.empty() || file.find('/') != std::string::npos || file[0] == '.' ||
          file.find('\0') != std::string::npos) {
        refuse("a file outside the folder");
      }
      entry.parts.push_back({std::move(file), {dims_in(part, "offset"), dims_in(part, "shape")}});
    }
    check_cover(name, entry);
    index.tensors.emplace(name, std::move(entry));
  }
  return index;
}

bool is_inside(const Region& region, const Dims& shape) {
  if (region.offset.size() != shape.size() || region.sizes.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (region.offset[i] < 0 || region.sizes[i] < 0 || region.offset[i] > shape[i] ||
        region.sizes[i] > shape[i] - region.offset[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Region> intersection(const Region& a, const Region& b) {
  Region common;
  for (size_t i = 0; i < a.offset.size(); ++i) {
    const int64_t first = std::max(a.offset[i], b.offset[i]);
    const int64_t end = std::min(a.offset[i] + a.sizes[i], b.offset[i] + b.sizes[i]);
    if (end <= first) return std::nullopt;
    common.offset.push_back(first);
    common.sizes.push_back(end - first);
  }
  return common;
}

Tensor window(const Tensor& tensor, const Region& region, const Dims& origin) {
  int64_t offset = tensor.offset();
  for (size_t i = 0; i < origin.size(); ++i) {
    offset += (region.offset[i] - origin[i]) * tensor.strides()[i];
  }
  return make_view(tensor, region.sizes, tensor.strides(), offset);
}

void check_inside(const std::string& name, const Dims& shape, const Region& region) {
  TSR_CHECK(is_inside(region, shape), Code::kValue, "slices", "expected parts inside the shape ",
            shape, " of '", name, "', got offset ", region.offset, " and shape ", region.sizes);
}

void check_cover(const std::string& name, const IndexEntry& entry) {
  int64_t covered = 0;
  const int64_t numel = checked_numel(entry.shape, itemsize(entry.dtype));
  for (size_t i = 0; i < entry.parts.size(); ++i) {
    const Region& part = entry.parts[i].region;
    check_inside(name, entry.shape, part);
    covered += numel_of(part.sizes);
    for (size_t k = 0; k < i; ++k) {
      TSR_CHECK(numel == 0 || !intersection(part, entry.parts[k].region), Code::kValue, "slices",
                "expected parts of '", name, "' that do not overlap, got offsets ",
                entry.parts[k].region.offset, " and ", part.offset);
    }
  }
  TSR_CHECK(covered == numel, Code::kValue, "slices", "expected parts that cover '", name,
            "' with ", numel, " elements, got ", covered);
}

std::string write_index(const ShardIndex& index) {
  Json metadata = Json::object(), tensors = Json::object();
  for (const auto& [key, value] : index.metadata) metadata.append(key, value);
  for (const auto& [name, entry] : index.tensors) {
    Json parts = Json::array();
    for (const IndexPart& part : entry.parts) {
      parts.push_back({{"file", part.file},
                       {"offset", numbers(part.region.offset)},
                       {"shape", numbers(part.region.sizes)}});
    }
    tensors.append(name, {{"dtype", spelling_of(entry.dtype, name)},
                          {"shape", numbers(entry.shape)},
                          {"parts", std::move(parts)}});
  }
  try {
    const Json tree = {
        {"format", kFormat}, {"metadata", std::move(metadata)}, {"tensors", std::move(tensors)}};
    return tree.dump_in_order(1) + "\n";
  } catch (const JsonError& error) {
    fail(Code::kValue, "names", __FILE__, __LINE__, "texts must be UTF-8: ", error.what());
  }
}

ShardIndex read_index(std::string_view text) {
  try {
    return parsed(Json::parse(text));
  } catch (const JsonError& error) {
    refuse(error.what());
  } catch (const Error& error) {
    if (error.code() == Code::kIo) throw;
    refuse(error.message());
  }
}

}  // namespace tsr::dist
