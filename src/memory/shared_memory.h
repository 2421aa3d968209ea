// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// SharedMemory: pages that several processes map, reached by a file descriptor or by a name.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tsr {

// Note [Shared memory]
// kFileDescriptor: an anonymous file (memfd). Another process gets its descriptor through a socket,
// by fork or by spawn. The system frees the pages when the last descriptor is closed and the last
// mapping is gone, however the processes ended. A block keeps its descriptor, because it may be
// sent again, as long as there are few of them; beyond that number new blocks are made by name, and
// opened ones close theirs.
//
// kFileSystem: a file in /dev/shm, for processes that cannot pass descriptors. A header in front of
// the data counts the users: mappings, and handles on their way. The last user removes the name. A
// process that is killed cannot count down, so a small keeper process removes all names that a
// process has made when that process, and the children that it forked, are gone.
//
// kRecycled: as kFileDescriptor, for a stream of blocks from one process to another, see
// recycled_memory.h.
enum class ShareStrategy : int32_t { kFileDescriptor = 1, kFileSystem = 2, kRecycled = 3 };

// Behind the data of recycled memory.
struct alignas(64) RecycledMark {
  char mark[8];
  uint64_t version;
  // Handles on their way, and processes other than the maker that have a storage on the memory.
  std::atomic<int32_t> users;
  std::atomic<int32_t> retired;  // 1: is never used again after this use
};
static_assert(sizeof(RecycledMark) == 64 && std::atomic<int32_t>::is_always_lock_free);

// The identity of a file: two handles of the same memory have equal keys as long as it is mapped.
struct SharedKey {
  uint64_t device;
  uint64_t inode;
  auto operator<=>(const SharedKey&) const = default;
};

struct SharedCounts {
  int64_t blocks;
  int64_t nbytes;
  int64_t descriptors;  // kept open
};

// One mapping of this process. Functions throw Error kIo with errno, kOutOfMemory.
class SharedMemory {
 public:
  static std::unique_ptr<SharedMemory> create(uint64_t nbytes, ShareStrategy strategy);
  // `descriptor` stays the caller's; with `keep` the memory has a copy of it. Throws kValue when
  // the file holds less than `nbytes`. A file that was opened for reading only gives memory that
  // cannot be written.
  static std::unique_ptr<SharedMemory> open(int descriptor, uint64_t nbytes, bool keep);
  // Throws kValue when no process of this library made the name.
  static std::unique_ptr<SharedMemory> open(std::string_view name, uint64_t nbytes);
  // New memory, or memory of a descriptor, with a mark behind the data; recycled_memory.h decides
  // when. nbytes() is what the memory holds, at least `nbytes`. create_recycled gives memory
  // without a mark when this process has too many descriptors.
  static std::unique_ptr<SharedMemory> create_recycled(uint64_t nbytes);
  static std::unique_ptr<SharedMemory> open_recycled(int descriptor, uint64_t nbytes);
  static SharedKey key_of(int descriptor);

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] uint64_t nbytes() const noexcept { return nbytes_; }
  [[nodiscard]] SharedKey key() const noexcept { return key_; }
  [[nodiscard]] bool read_only() const noexcept { return read_only_; }
  // Empty for memory that is reached by a descriptor.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Null for memory that is not recycled.
  [[nodiscard]] RecycledMark* recycled() const noexcept { return recycled_; }
  // Recycled memory is not used again after this use.
  void retire() noexcept { recycled_->retired.store(1, std::memory_order_release); }
  // fork_mark of the process that made this object.
  [[nodiscard]] uint8_t process() const noexcept { return process_; }
  // Borrowed, open as long as this object lives. Throws kIo when none was kept and
  // this process may not open the pages again.
  [[nodiscard]] int descriptor();
  // Count a handle of a name, or of recycled memory, that is on its way to another process.
  // add_user throws kIo when the last user of a name has gone.
  void add_user();
  void remove_user() noexcept;

  [[nodiscard]] static SharedCounts counts() noexcept;

 private:
  SharedMemory() = default;
  // `front` and `back`: bytes of the file before and behind the data.
  void map(int descriptor, uint64_t nbytes, uint64_t front, uint64_t back = 0);
  void keep(int descriptor) noexcept;

  void* data_ = nullptr;
  uint64_t nbytes_ = 0;
  uint64_t front_ = 0;
  uint64_t mapped_ = 0;  // bytes, with what is before and behind the data
  SharedKey key_{};
  int descriptor_ = -1;
  bool read_only_ = false;
  uint8_t process_ = 0;
  RecycledMark* recycled_ = nullptr;
  std::string name_;
};

}  // namespace tsr
