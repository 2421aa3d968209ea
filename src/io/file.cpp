// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"

namespace tsr::io {
namespace {

[[noreturn]] void fail_io(const char* what, const std::string& path) {
  const int number = errno;
  Error error(Code::kIo, "path", concat(what, " ", path, ": ", std::strerror(number)), __FILE__,
              __LINE__);
  error.set_native_code(number);
  throw error;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// The name at the end of a chain of symbolic links, also of a file that does not exist yet.
std::string behind_links(std::string path) {
  constexpr int kMost = 40;  // as many as Linux follows
  for (int i = 0; i < kMost; ++i) {
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0) return path;  // no link; other errors come up when the file is created
    const std::string next(target, static_cast<size_t>(length));
    path = next.starts_with('/') ? next : folder_of(path) + next;
  }
  errno = ELOOP;
  fail_io("cannot open", path);
}

// EINVAL and EROFS are no failures: the file system cannot sync a folder, but the file is there.
void sync_folder_of(const std::string& path) {
  const std::string named = folder_of(path), folder = named.empty() ? "." : named;
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (descriptor.get() >= 0 && ::fsync(descriptor.get()) != 0 && errno != EINVAL &&
      errno != EROFS) {
    fail_io("cannot write", folder);
  }
}

}  // namespace

std::shared_ptr<const Mapping> Mapping::copy(std::string_view bytes) {
  void* data = nullptr;
  if (!bytes.empty()) {
    data =
        ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    std::memcpy(data, bytes.data(), bytes.size());
  }
  return std::shared_ptr<const Mapping>(new Mapping(static_cast<char*>(data), bytes.size()));
}

std::shared_ptr<const Mapping> Mapping::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail_io("cannot open", path);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail_io("cannot examine", path);
  TSR_CHECK(S_ISREG(facts.st_mode), Code::kIo, "path", path, " is not a file");
  const auto size = static_cast<uint64_t>(facts.st_size);
  void* data = nullptr;
  if (size > 0) {
    data =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
    if (data == MAP_FAILED) fail_io("cannot map", path);
  }
  return std::shared_ptr<const Mapping>(new Mapping(static_cast<char*>(data), size));
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

NewFile::NewFile(std::string path) : path_(behind_links(std::move(path))) {
  struct stat facts {};
  const bool exists = ::stat(path_.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);  // EISDIR for a folder
    if (descriptor_ < 0) fail_io("cannot open", path_);
    return;
  }
  static std::atomic<uint32_t> counter{0};
  // A file of this name is what an earlier process with this number left.
  do {
    temporary_ = concat(path_, ".", ::getpid(), ".", counter.fetch_add(1), ".tmp");
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_io("cannot create", temporary_);
  // Best effort: some file systems have no permissions.
  if (exists) (void)!::fchmod(descriptor_, facts.st_mode & 0777);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

const std::string& NewFile::written_name() const noexcept {
  return temporary_.empty() ? path_ : temporary_;
}

void NewFile::write(const void* bytes, uint64_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, at, std::min<uint64_t>(count, 1U << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_io("cannot write", written_name());
    at += written;
    count -= static_cast<uint64_t>(written);
  }
}

// Writes the bytes to the disk before the rename, and the rename before it returns. After a power
// failure, either the old file or the new one is there.
void NewFile::commit(bool durable) {
  const bool replaces = !temporary_.empty();
  if (durable && replaces && ::fsync(descriptor_) != 0) fail_io("cannot write", temporary_);
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail_io("cannot write", written_name());
  if (!replaces) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_io("cannot rename to", path_);
  temporary_.clear();
  if (durable) sync_folder_of(path_);
}

}  // namespace tsr::io
