// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "io/spelling.h"
#include "ops/create/copy.h"
#include "tensor/layout.h"

namespace tsr::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's own library

// ---- Tensors on the mapping ----

void drop_mapping(void* context, void*, uint64_t) noexcept {
  delete static_cast<std::shared_ptr<const Mapping>*>(context);
}

Tensor on_memory(char* data, const ArchiveEntry& entry, std::shared_ptr<const Mapping> mapping) {
  auto owner = std::make_unique<std::shared_ptr<const Mapping>>(std::move(mapping));
  StoragePtr storage =
      wrap_storage(Device{}, data, entry.end - entry.begin, drop_mapping, owner.get());
  static_cast<void>(owner.release());
  const DimsView shape(entry.shape.data(), entry.shape.size());
  static_cast<void>(checked_numel(shape, itemsize(entry.dtype)));
  return make_fresh(std::move(storage), entry.dtype, shape, contiguous_strides(shape));
}

void check_bools(const char* data, const ArchiveEntry& entry) {
  const auto size = static_cast<ptrdiff_t>(entry.end - entry.begin);
  if (std::any_of(data, data + size, [](char c) { return c != 0 && c != 1; })) {
    refuse("'", entry.name, "' has bools that are neither 0 nor 1");
  }
}

// ---- Writing ----

const char* spelling_of(DType dtype, std::string_view name) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.dtype == dtype) return spelling.text;
  }
  throw_error(Code::kDType, "tensors", __FILE__, __LINE__,
              concat("safetensors cannot hold ", dtype, " ('", name, "')"));
}

std::string quoted(std::string_view text, const char* arg) {
  try {
    return json_quoted(text);
  } catch (const JsonError& error) {
    throw_error(Code::kValue, arg, __FILE__, __LINE__,
                concat("texts must be UTF-8: ", error.what()));
  }
}

std::string header_text(const std::vector<NamedTensor>& order, const Metadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += concat("\"__metadata__\":", metadata_json(metadata));
  uint64_t at = 0;
  for (const auto& [name, tensor] : order) {
    const uint64_t end = at + static_cast<uint64_t>(tensor->nbytes());
    std::string shape;
    for (const int64_t size : tensor->sizes()) shape += concat(shape.empty() ? "" : ",", size);
    text += concat(text.size() > 1 ? "," : "", quoted(name, "names"), ":{\"dtype\":\"",
                   spelling_of(tensor->dtype(), name), "\",\"shape\":[", shape,
                   "],\"data_offsets\":[", at, ",", end, "]}");
    at = end;
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

std::string metadata_json(const Metadata& metadata) {
  std::string text = "{";
  for (const auto& [key, value] : metadata) {
    text +=
        concat(text.size() > 1 ? "," : "", quoted(key, "metadata"), ":", quoted(value, "metadata"));
  }
  return text + "}";
}

IntrusivePtr<Archive> Archive::open(const std::string& path) {
  std::shared_ptr<const Mapping> mapping = Mapping::open(path);
  try {
    return read(std::move(mapping));
  } catch (Error& error) {
    error.prepend(path + ": ");
    throw;
  }
}

IntrusivePtr<Archive> Archive::from_bytes(std::string_view bytes) {
  return read(Mapping::copy(bytes));
}

IntrusivePtr<Archive> Archive::read(std::shared_ptr<const Mapping> mapping) {
  if (mapping->size() < 8) refuse("it has ", mapping->size(), " bytes");
  uint64_t length = 0;
  std::memcpy(&length, mapping->data(), 8);
  if (length > kMaxHeader || length > mapping->size() - 8) {
    refuse("its header takes ", length, " bytes, the file has ", mapping->size());
  }
  auto archive = IntrusivePtr<Archive>::adopt(new Archive());
  archive->header = parse_header({mapping->data() + 8, length}, mapping->size() - 8 - length);
  const std::vector<ArchiveEntry>& entries = archive->header.entries;
  for (size_t i = 0; i < entries.size(); ++i) archive->numbers_.emplace(entries[i].name, i);
  archive->data = mapping->data() + 8 + length;
  archive->mapping = std::move(mapping);
  return archive;
}

void Archive::destroy(Archive* archive) noexcept {
  archive->tag = ObjectTag::kDead;
  delete archive;
}

int64_t Archive::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : static_cast<int64_t>(found->second);
}

Tensor Archive::tensor(size_t index) const {
  TSR_CHECK(index < header.entries.size(), Code::kIndex, "index", "expected a number below ",
            header.entries.size(), ", got ", index);
  const ArchiveEntry& entry = header.entries[index];
  // The mapping is private, so tensors may be written; `const` only says that the archive does not
  // write.
  char* first = const_cast<char*>(data) + entry.begin;
  if (entry.dtype == DType::kBool) check_bools(first, entry);
  const auto address = reinterpret_cast<uintptr_t>(first);
  if (address % static_cast<uintptr_t>(itemsize(entry.dtype)) == 0)
    return on_memory(first, entry, mapping);
  const ArchiveEntry bytes{entry.name,
                           DType::kUInt8,
                           {static_cast<int64_t>(entry.end - entry.begin)},
                           entry.begin,
                           entry.end};
  const Tensor copy = ops::clone(on_memory(first, bytes, nullptr));
  const DimsView shape(entry.shape.data(), entry.shape.size());
  return make_fresh(copy.storage(), entry.dtype, shape, contiguous_strides(shape));
}

namespace {

// Calls write(bytes, count) for each part of the file.
template <class Write>
void write_archive(std::span<const NamedTensor> tensors, const Metadata& metadata,
                   const Write& write) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    TSR_CHECK(names.insert(name).second && name != "__metadata__", Code::kValue, "names",
              "expected names that differ, got '", name, "' again");
  }
  std::vector<NamedTensor> order(tensors.begin(), tensors.end());
  // Larger elements first: then every tensor is aligned and can be loaded without a copy.
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return a.tensor->itemsize() > b.tensor->itemsize();
  });
  const std::string header = header_text(order, metadata);
  const uint64_t length = header.size();
  TSR_CHECK(length <= kMaxHeader, Code::kValue, "metadata",
            "expected names and metadata for which a header of ", kMaxHeader,
            " bytes has room, got ", length, " bytes");
  write(&length, sizeof length);
  write(header.data(), header.size());
  for (const auto& [name, tensor] : order) {
    const Tensor dense = ops::contiguous_memory(*tensor);
    write(dense.data(), static_cast<uint64_t>(dense.nbytes()));
  }
}

}  // namespace

void save_archive(const std::string& path, std::span<const NamedTensor> tensors,
                  const Metadata& metadata, bool durable) {
  NewFile file(path);
  write_archive(tensors, metadata,
                [&](const void* bytes, uint64_t count) { file.write(bytes, count); });
  file.commit(durable);
}

std::string archive_bytes(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  std::string file;
  write_archive(tensors, metadata, [&](const void* bytes, uint64_t count) {
    file.append(static_cast<const char*>(bytes), count);
  });
  return file;
}

}  // namespace tsr::io
