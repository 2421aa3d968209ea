// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "ops/copy.h"
#include "tensor/layout.h"

namespace tsr::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

using Json = nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's own library
constexpr size_t kMaxRank = 64;

struct Spelling {
  const char* text;
  DType dtype;
};
constexpr std::array kSpellings{
    Spelling{"BOOL", DType::kBool},     Spelling{"U8", DType::kUInt8},
    Spelling{"U16", DType::kUInt16},    Spelling{"U32", DType::kUInt32},
    Spelling{"U64", DType::kUInt64},    Spelling{"I8", DType::kInt8},
    Spelling{"I16", DType::kInt16},     Spelling{"I32", DType::kInt32},
    Spelling{"I64", DType::kInt64},     Spelling{"F16", DType::kFloat16},
    Spelling{"BF16", DType::kBFloat16}, Spelling{"F32", DType::kFloat32},
    Spelling{"F64", DType::kFloat64},   Spelling{"C64", DType::kComplex64},
};

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw_error(Code::kIo, "path", __FILE__, __LINE__, concat("not a safetensors file: ", pieces...));
}

// ---- Reading ----

// Parses JSON that repeats no key and is no deeper than the format needs.
Json parse_strictly(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (depth > 2) refuse("its header is nested too deeply");
      keys.resize(static_cast<size_t>(depth) + 1);
      keys.emplace_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!keys[static_cast<size_t>(depth)].insert(name).second) {
        refuse("its header has the key '", name, "' twice");
      }
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::exception& error) {
    refuse("its header is not JSON: ", error.what());
  }
}

uint64_t natural(const Json& value, const std::string& name, const char* what) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    refuse("'", name, "' has a ", what, " that is no natural number");
  }
  return value.get<uint64_t>();
}

DType dtype_called(const Json& value, const std::string& name) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  for (const Spelling& spelling : kSpellings) {
    if (text == spelling.text) return spelling.dtype;
  }
  refuse("'", name, "' has the unknown dtype ", text);
}

ArchiveEntry read_entry(const std::string& name, const Json& value) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    refuse("'", name, "' needs dtype, shape and data_offsets, and nothing else");
  }
  ArchiveEntry entry{name, dtype_called(value["dtype"], name), {}, 0, 0};
  const Json& shape = value["shape"];
  if (!shape.is_array() || shape.size() > kMaxRank) refuse("'", name, "' has an impossible shape");
  uint64_t nbytes = static_cast<uint64_t>(itemsize(entry.dtype));
  bool overflow = false, empty = false;
  for (const Json& size : shape) {
    const uint64_t count = natural(size, name, "size");
    overflow |= __builtin_mul_overflow(nbytes, std::max<uint64_t>(count, 1), &nbytes);
    empty |= count == 0;
    entry.shape.push_back(static_cast<int64_t>(count));
  }
  const Json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) refuse("'", name, "' needs two data_offsets");
  entry.begin = natural(offsets[0], name, "data offset");
  entry.end = natural(offsets[1], name, "data offset");
  overflow |= nbytes > static_cast<uint64_t>(INT64_MAX);
  if (empty) nbytes = 0;
  if (overflow || entry.end < entry.begin || entry.end - entry.begin != nbytes) {
    refuse("'", name, "' has data_offsets that do not fit its shape and dtype");
  }
  return entry;
}

Metadata read_metadata(const Json& value) {
  if (!value.is_object()) refuse("its __metadata__ is no object");
  Metadata found;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse("its __metadata__ has a value that is no text");
    found.emplace_back(key, text.get<std::string>());
  }
  return found;
}

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

std::string header_text(const std::vector<NamedTensor>& order, const Metadata& metadata) {
  nlohmann::ordered_json tree = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    for (const auto& [key, value] : metadata) tree["__metadata__"][key] = value;
  }
  uint64_t at = 0;
  for (const auto& [name, tensor] : order) {
    const uint64_t end = at + static_cast<uint64_t>(tensor->nbytes());
    const std::vector<int64_t> shape(tensor->sizes().begin(), tensor->sizes().end());
    tree[std::string(name)] = {{"dtype", spelling_of(tensor->dtype(), name)},
                               {"shape", shape},
                               {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {
    text = tree.dump();
  } catch (const Json::exception& error) {
    throw_error(Code::kValue, "tensors", __FILE__, __LINE__,
                concat("names must be UTF-8: ", error.what()));
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

ArchiveHeader parse_header(std::string_view json, uint64_t data_size) {
  if (json.empty() || json.front() != '{') refuse("its header does not start with '{'");
  const Json tree = parse_strictly(json);
  ArchiveHeader header;
  for (const auto& [name, value] : tree.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(value);
    } else {
      header.entries.push_back(read_entry(name, value));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const ArchiveEntry& entry : header.entries) {
    if (entry.begin != at) refuse("'", entry.name, "' leaves a hole or overlaps its neighbour");
    at = entry.end;
  }
  if (at != data_size) refuse("its tensors take ", at, " bytes, the file has ", data_size);
  return header;
}

IntrusivePtr<Archive> Archive::open(const std::string& path) {
  auto mapping = Mapping::open(path);
  if (mapping->size() < 8) refuse("it has ", mapping->size(), " bytes");
  uint64_t length = 0;
  std::memcpy(&length, mapping->data(), 8);
  if (length > kMaxHeader || length > mapping->size() - 8) {
    refuse("its header takes ", length, " bytes, the file has ", mapping->size());
  }
  auto archive = IntrusivePtr<Archive>::adopt(new Archive());
  archive->header = parse_header({mapping->data() + 8, length}, mapping->size() - 8 - length);
  archive->data = mapping->data() + 8 + length;
  archive->mapping = std::move(mapping);
  return archive;
}

void Archive::destroy(Archive* archive) noexcept {
  archive->tag = ObjectTag::kDead;
  delete archive;
}

Tensor Archive::tensor(size_t index) const {
  TSR_CHECK(index < header.entries.size(), Code::kIndex, "index", "expected a number below ",
            header.entries.size(), ", got ", index);
  const ArchiveEntry& entry = header.entries[index];
  // The mapping is private: the const of `data` only says that the archive itself does not write.
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

void save_archive(const std::string& path, std::span<const NamedTensor> tensors,
                  const Metadata& metadata) {
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
  NewFile file(path);
  const uint64_t length = header.size();
  file.write(&length, 8);
  file.write(header.data(), header.size());
  for (const auto& [name, tensor] : order) {
    const Tensor dense = ops::contiguous_memory(*tensor);
    file.write(dense.data(), static_cast<uint64_t>(dense.nbytes()));
  }
  file.commit();
}

}  // namespace tsr::io
