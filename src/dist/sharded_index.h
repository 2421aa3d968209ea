// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The index of a sharded checkpoint, as text and as data.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dist/sharded_files.h"

namespace tsr::dist {

inline constexpr std::string_view kIndexFile = "index.json";

struct IndexPart {
  std::string file;  // in the folder
  Region region;
};
struct IndexEntry {
  DType dtype = DType::kFloat32;
  Dims shape;
  std::vector<IndexPart> parts;
};
struct ShardIndex {
  std::map<std::string, IndexEntry> tensors;
  io::Metadata metadata;
};

// The elements that both regions have; nothing if there are none.
std::optional<Region> intersection(const Region& a, const Region& b);
// The part of `tensor` that the region is; `origin` is where the tensor begins.
Tensor window(const Tensor& tensor, const Region& region, const Dims& origin);

std::string write_index(const ShardIndex& index);
// Throws kIo for a text that is no index, names files outside its folder, or has parts that overlap
// or leave gaps.
ShardIndex read_index(std::string_view text);
// Throws kValue if the region of the tensor `name` goes beyond its shape.
void check_inside(const std::string& name, const Dims& shape, const Region& region);
// Throws kValue naming `name` if the parts overlap, leave gaps or are outside the tensor.
void check_cover(const std::string& name, const IndexEntry& entry);

}  // namespace tsr::dist
