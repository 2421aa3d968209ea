// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Metadata of a node: what the host, and anomaly mode, attach to it by name. The node drops it when
// it is destroyed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/node.h"

namespace tsr {

// A text, or an object of the host.
struct MetadataValue {
  std::string text;
  std::shared_ptr<void> object;  // null for a text
  HostData host;                 // what the object is, for collectors and for its owner
};

// Guarded by the node's lock. Part of NodeHooks, because few nodes have any.
struct NodeMetadata {
  std::map<std::string, MetadataValue, std::less<>> entries;
};

// Keys of anomaly mode.
inline constexpr std::string_view kStackKey = "stack";
inline constexpr std::string_view kParentKey = "parent";

void set_metadata(Node& node, std::string_view key, MetadataValue value);
// False if there is no such entry.
bool remove_metadata(Node& node, std::string_view key);
std::optional<MetadataValue> find_metadata(const Node& node, std::string_view key);
// In alphabetical order.
std::vector<std::string> metadata_keys(const Node& node);

}  // namespace tsr
