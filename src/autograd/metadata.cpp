// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/metadata.h"

#include <mutex>
#include <utility>

#include "autograd/hooks.h"

namespace tsr {
namespace {

// Needs the lock.
NodeMetadata* metadata_of(const Node& node) {
  const NodeHooks* hooks = node.hooks();
  return hooks != nullptr ? hooks->metadata.get() : nullptr;
}

}  // namespace

// What an entry held is destroyed after the lock is given up, because its drop may call the
// library.
void set_metadata(Node& node, std::string_view key, MetadataValue value) {
  NodeHooks& hooks = node.ensure_hooks();
  auto fresh = std::make_shared<NodeMetadata>();
  std::map<std::string, MetadataValue, std::less<>> entry;
  entry.emplace(key, MetadataValue());
  const std::lock_guard guard(node.lock());
  if (hooks.metadata == nullptr) hooks.metadata = std::move(fresh);
  auto& entries = hooks.metadata->entries;
  auto found = entries.find(key);
  if (found == entries.end()) found = entries.insert(entry.extract(entry.begin())).position;
  std::swap(found->second, value);
}

bool remove_metadata(Node& node, std::string_view key) {
  std::map<std::string, MetadataValue, std::less<>>::node_type removed;
  const std::lock_guard guard(node.lock());
  NodeMetadata* metadata = metadata_of(node);
  if (metadata == nullptr) return false;
  const auto found = metadata->entries.find(key);
  if (found == metadata->entries.end()) return false;
  removed = metadata->entries.extract(found);
  return true;
}

std::optional<MetadataValue> find_metadata(const Node& node, std::string_view key) {
  const std::lock_guard guard(node.lock());
  const NodeMetadata* metadata = metadata_of(node);
  if (metadata == nullptr) return std::nullopt;
  const auto found = metadata->entries.find(key);
  if (found == metadata->entries.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> metadata_keys(const Node& node) {
  std::vector<std::string> keys;
  const std::lock_guard guard(node.lock());
  const NodeMetadata* metadata = metadata_of(node);
  if (metadata == nullptr) return keys;
  for (const auto& [key, value] : metadata->entries) keys.push_back(key);
  return keys;
}

}  // namespace tsr
