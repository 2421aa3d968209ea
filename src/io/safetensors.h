// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The safetensors format: a JSON header with names, dtypes, shapes and offsets, then raw elements.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/intrusive_ptr.h"
#include "io/file.h"
#include "tensor/tensor.h"

namespace tsr::io {

struct ArchiveEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;  // bytes after the header
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// A JSON object of strings. Throws kValue for a string that is not UTF-8.
std::string metadata_json(const Metadata& metadata);

// The entries of a header, in the order of their data. Throws kIo for a header that violates the
// format: the entries must cover `data_size` bytes without gaps or overlaps.
struct ArchiveHeader {
  std::vector<ArchiveEntry> entries;
  Metadata metadata;
};
ArchiveHeader parse_header(std::string_view json, uint64_t data_size);

inline constexpr auto kArchiveTag = static_cast<ObjectTag>(0x54534152U);

// An open file. Tensors share its mapping and keep it alive; writes to them never reach the file.
struct Archive final : Object {
  // Throws kIo.
  static IntrusivePtr<Archive> open(const std::string& path);
  // Of a file in memory; the bytes are copied.
  static IntrusivePtr<Archive> from_bytes(std::string_view bytes);
  static void destroy(Archive* archive) noexcept;

  // The number of the entry with this name, -1 if there is none.
  [[nodiscard]] int64_t find(std::string_view name) const;

  // Zero-copy if the data is aligned for its dtype, as in files of most writers.
  [[nodiscard]] Tensor tensor(size_t index) const;

  ArchiveHeader header;
  std::shared_ptr<const Mapping> mapping;
  const char* data;  // after the header

 private:
  Archive() : Object(kArchiveTag) {}
  static IntrusivePtr<Archive> read(std::shared_ptr<const Mapping> mapping);

  std::unordered_map<std::string_view, size_t> numbers_;  // of the entries by name
};

struct NamedTensor {
  std::string_view name;
  const Tensor* tensor;
};
// Writes a new file beside `path` and then renames it, so that a failure does not change the old
// file. Throws kIo, kValue for a repeated name and for names and metadata that are too long to be
// read again, kDType for complex128. `durable`: see NewFile.
void save_archive(const std::string& path, std::span<const NamedTensor> tensors,
                  const Metadata& metadata, bool durable = true);
// The same file as bytes.
std::string archive_bytes(std::span<const NamedTensor> tensors, const Metadata& metadata);

}  // namespace tsr::io
