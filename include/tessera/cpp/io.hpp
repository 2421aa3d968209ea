// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Safetensors files. Loaded tensors share memory with the file's pages; nothing is copied.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/cpp/buffer.hpp"
#include "tessera/cpp/json_text.hpp"
#include "tessera/cpp/tensor.hpp"
#include "tessera/io.h"

namespace tessera {

using TensorMap = std::map<std::string, Tensor>;
using TextMap = std::map<std::string, std::string>;

// An open file, or one in memory: names, tensors one by one, metadata.
class Archive {
 public:
  explicit Archive(std::string_view path) : Archive(open(path)) {}

  // A file in memory, whose bytes are copied.
  static Archive from_bytes(std::string_view bytes) {
    tsr_archive archive = nullptr;
    check(tsr_archive_from_bytes(bytes.data(), detail::length(bytes), &archive));
    return Archive(archive);
  }

  // In the order of the file.
  const std::vector<std::string>& names() const noexcept { return names_; }

  Tensor tensor(std::string_view name) const {
    int64_t index = -1;
    check(tsr_archive_find(archive_.get(), name.data(), detail::length(name), &index));
    if (index >= 0) return at(index);
    throw OutOfRangeError("Archive: there is no tensor named '" + std::string(name) + "'",
                          "archive_tensor", 1);
  }

  TensorMap tensors() const {
    TensorMap found;
    for (size_t i = 0; i < names_.size(); ++i) {
      found[names_[i]] = at(static_cast<int64_t>(i));
    }
    return found;
  }

  TextMap metadata() const {
    tsr_buffer buffer = nullptr;
    check(tsr_archive_metadata(archive_.get(), &buffer));
    return detail::parse_texts(detail::take_text(buffer));
  }

 private:
  explicit Archive(tsr_archive archive) : archive_(archive) {
    int64_t count = 0;
    check(tsr_archive_count(archive_.get(), &count));
    for (int64_t i = 0; i < count; ++i) {
      const char* text = nullptr;
      int64_t length = 0;
      check(tsr_archive_name(archive_.get(), i, &text, &length));
      names_.push_back({text, static_cast<size_t>(length)});
    }
  }

  static tsr_archive open(std::string_view path) {
    tsr_archive archive = nullptr;
    check(tsr_archive_open(path.data(), detail::length(path), &archive));
    return archive;
  }

  Tensor at(int64_t index) const {
    tsr_tensor out = nullptr;
    check(tsr_archive_tensor(archive_.get(), index, &out));
    return Tensor::take(out);
  }

  detail::Owned<tsr_archive, &tsr_archive_release> archive_;
  std::vector<std::string> names_;
};

// All tensors of a file.
inline TensorMap load_file(std::string_view path) {
  return Archive(path).tensors();
}

// All tensors of a file in memory, whose bytes are copied.
inline TensorMap load_bytes(std::string_view bytes) {
  return Archive::from_bytes(bytes).tensors();
}

// The texts that were saved with the tensors.
inline TextMap load_metadata(std::string_view path) {
  return Archive(path).metadata();
}

namespace detail {

// Names, tensors and metadata as the ABI takes them.
struct Contents {
  Contents(const TensorMap& tensors, const TextMap& metadata) : texts(write_texts(metadata)) {
    std::vector<std::string> listed;
    for (const auto& [name, tensor] : tensors) {
      listed.push_back(name);
      values.push_back(tensor);
    }
    names = write_texts(listed);
  }

  std::string names, texts;
  std::vector<Tensor> values;
};

}  // namespace detail

// Writes tensors to a file; it replaces an old file only after it is complete.
inline void save_file(const TensorMap& tensors, std::string_view path,
                      const TextMap& metadata = {}) {
  const detail::Contents all(tensors, metadata);
  const TensorList list(all.values);
  check(tsr_archive_save(path.data(), detail::length(path), all.names.data(),
                         detail::length(all.names), list.data(), list.size(), all.texts.data(),
                         detail::length(all.texts)));
}

// The bytes of the file that save_file() writes.
inline std::string save_bytes(const TensorMap& tensors, const TextMap& metadata = {}) {
  const detail::Contents all(tensors, metadata);
  const TensorList list(all.values);
  tsr_buffer bytes = nullptr;
  check(tsr_archive_to_bytes(all.names.data(), detail::length(all.names), list.data(), list.size(),
                             all.texts.data(), detail::length(all.texts), &bytes));
  return detail::take_text(bytes);
}

}  // namespace tessera
