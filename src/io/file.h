// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Files: a private memory mapping for reading, an atomic replacement for writing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tsr::io {

// A whole file in memory. Pages come from the file; writes to them do not reach the file.
class Mapping {
 public:
  // Throws kIo with errno.
  static std::shared_ptr<const Mapping> open(const std::string& path);
  // Memory with these bytes and no file behind it. Throws kOutOfMemory.
  static std::shared_ptr<const Mapping> copy(std::string_view bytes);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] char* data() const noexcept { return data_; }
  [[nodiscard]] uint64_t size() const noexcept { return size_; }

 private:
  Mapping(char* data, uint64_t size) noexcept : data_(data), size_(size) {}
  char* data_;
  uint64_t size_;
};

// A file that appears under its name only when it is complete. It replaces an existing file, whose
// permissions it takes over; of a symbolic link it replaces the file that the link leads to. Pipes
// and devices are written to as they are.
class NewFile {
 public:
  // Throws kIo with errno.
  explicit NewFile(std::string path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  // Removes the temporary file unless commit() succeeded.
  ~NewFile();
  void write(const void* bytes, uint64_t count);
  // Without `durable` the file is as complete for other processes, but a power failure may lose it.
  void commit(bool durable = true);

 private:
  [[nodiscard]] const std::string& written_name() const noexcept;

  std::string path_, temporary_;  // no temporary file: the path itself is written to
  int descriptor_;
};

}  // namespace tsr::io
