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

// An open file: names, tensors one by one, metadata.
class Archive {
 public:
  explicit Archive(std::string_view path) : archive_(open(path)) {
    int64_t count = 0;
    check(tsr_archive_count(archive_.get(), &count));
    for (int64_t i = 0; i < count; ++i) {
      const char* text = nullptr;
      int64_t length = 0;
      check(tsr_archive_name(archive_.get(), i, &text, &length));
      names_.push_back({text, static_cast<size_t>(length)});
    }
  }

  // In the order of the file.
  const std::vector<std::string>& names() const noexcept { return names_; }

  Tensor tensor(std::string_view name) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return at(static_cast<int64_t>(i));
    }
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

// The texts that were saved with the tensors.
inline TextMap load_metadata(std::string_view path) {
  return Archive(path).metadata();
}

// Writes tensors to a file; it replaces an old file only after it is complete.
inline void save_file(const TensorMap& tensors, std::string_view path,
                      const TextMap& metadata = {}) {
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(name);
    values.push_back(tensor);
  }
  const std::string listed = detail::write_texts(names);
  const std::string texts = detail::write_texts(metadata);
  const TensorList list(values);
  check(tsr_archive_save(path.data(), detail::length(path), listed.data(), detail::length(listed),
                         list.data(), list.size(), texts.data(), detail::length(texts)));
}

}  // namespace tessera
