// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/fork_mutex.h"
#include "memory/name_keeper.h"

namespace tsr {
namespace {

// In front of the data of memory with a name.
struct alignas(64) Header {
  char mark[8];
  uint64_t version;
  uint64_t nbytes;
  std::atomic<int64_t> users;
};
static_assert(sizeof(Header) == 64 && std::atomic<int64_t>::is_always_lock_free);
constexpr char kMark[8] = {'t', 'e', 's', 's', 'e', 'r', 'a', '\0'};
constexpr uint64_t kVersion = 1;

std::atomic<int64_t> g_blocks{0};
std::atomic<int64_t> g_nbytes{0};
std::atomic<int64_t> g_kept{0};

[[noreturn]] void fail_io(const char* what, int number) {
  const bool full = number == ENOMEM || number == ENOSPC;
  Error error(full ? Code::kOutOfMemory : Code::kIo, nullptr,
              concat("shared memory: ", what, ": ", std::strerror(number)), __FILE__, __LINE__);
  error.set_native_code(number);
  throw error;
}

// A program needs descriptors for other things too.
int64_t most_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1024;
  return std::min<int64_t>(static_cast<int64_t>(limit.rlim_cur / 4), 1024);
}

bool few_descriptors() noexcept {
  return g_kept.load(std::memory_order_relaxed) < most_descriptors();
}

uint64_t size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_io("fstat", errno);
  return static_cast<uint64_t>(status.st_size);
}

int anonymous_file(uint64_t size) {
  Descriptor file(::memfd_create("tessera", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) fail_io("memfd_create", errno);
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) fail_io("ftruncate", errno);
  // A process that shrank the file would end the others with SIGBUS.
  static_cast<void>(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  return file.take();
}

// The end of the file, so that a receiver that knows nothing of it finds the data at the start.
RecycledMark* mark_behind(void* data, uint64_t nbytes) noexcept {
  return reinterpret_cast<RecycledMark*>(static_cast<char*>(data) + nbytes);
}

Header* header_of(void* data) noexcept {
  return static_cast<Header*>(data) - 1;
}

}  // namespace

SharedKey SharedMemory::key_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_io("expected an open file descriptor", errno);
  return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)};
}

SharedCounts SharedMemory::counts() noexcept {
  return {g_blocks.load(std::memory_order_relaxed), g_nbytes.load(std::memory_order_relaxed),
          g_kept.load(std::memory_order_relaxed)};
}

void SharedMemory::map(int descriptor, uint64_t nbytes, uint64_t front, uint64_t back) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  read_only_ = flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
  const int protection = read_only_ ? PROT_READ : PROT_READ | PROT_WRITE;
  key_ = key_of(descriptor);
  const uint64_t all = front + nbytes + back;
  void* base = ::mmap(nullptr, all, protection, MAP_SHARED, descriptor, 0);
  if (base == MAP_FAILED) fail_io("mmap", errno);
  process_ = fork_mark();
  data_ = static_cast<char*>(base) + front;
  nbytes_ = nbytes;
  front_ = front;
  mapped_ = all;
  g_blocks.fetch_add(1, std::memory_order_relaxed);
  g_nbytes.fetch_add(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
}

void SharedMemory::keep(int descriptor) noexcept {
  descriptor_ = descriptor;
  g_kept.fetch_add(1, std::memory_order_relaxed);
}

std::unique_ptr<SharedMemory> SharedMemory::create(uint64_t nbytes, ShareStrategy strategy) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  const uint64_t size = std::max<uint64_t>(nbytes, 1);
  if (strategy != ShareStrategy::kFileSystem && few_descriptors()) {
    Descriptor file(anonymous_file(size));
    memory->map(file.get(), size, 0);
    memory->keep(file.take());
    return memory;
  }
  const std::string name = next_shared_name();
  const Descriptor file(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) fail_io("shm_open", errno);
  try {
    // Reserved now, because a write to a full /dev/shm later would be a SIGBUS.
    const int status = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size + sizeof(Header)));
    if (status != 0) fail_io("posix_fallocate", status);
    memory->map(file.get(), size, sizeof(Header));
  } catch (...) {
    ::shm_unlink(name.c_str());
    throw;
  }
  auto* header = ::new (static_cast<void*>(header_of(memory->data_))) Header{};
  std::memcpy(header->mark, kMark, sizeof(kMark));
  header->version = kVersion;
  header->nbytes = size;
  header->users.store(1, std::memory_order_release);
  memory->name_ = name;
  return memory;
}

std::unique_ptr<SharedMemory> SharedMemory::open(int descriptor, uint64_t nbytes, bool keep) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  const uint64_t there = size_of(descriptor);
  TSR_CHECK(nbytes >= 1 && nbytes <= there, Code::kValue, "handle", "expected 1 to ", there,
            " bytes, the size of the file, got ", nbytes);
  memory->map(descriptor, nbytes, 0);
  if (keep && few_descriptors()) {
    const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own >= 0) memory->keep(own);
  }
  return memory;
}

std::unique_ptr<SharedMemory> SharedMemory::open(std::string_view given, uint64_t nbytes) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  const std::string name(given);
  TSR_CHECK(is_shared_name(name), Code::kValue, "handle",
            "expected a name of shared memory, such as /tessera-1-2-3-4, got ", name);
  const Descriptor file(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (file.get() < 0) fail_io("the memory is gone", errno);
  const uint64_t there = size_of(file.get());
  TSR_CHECK(there > sizeof(Header) && nbytes >= 1 && nbytes <= there - sizeof(Header), Code::kValue,
            "handle", "expected at most ", there,
            " bytes with a header, the size of the file, got ", nbytes);
  memory->map(file.get(), nbytes, sizeof(Header));
  const Header* header = header_of(memory->data_);
  TSR_CHECK(std::memcmp(header->mark, kMark, sizeof(kMark)) == 0 && header->version == kVersion,
            Code::kValue, "handle", "expected memory that this version of the library made");
  memory->name_ = name;
  memory->add_user();
  return memory;
}

std::unique_ptr<SharedMemory> SharedMemory::create_recycled(uint64_t nbytes) {
  if (!few_descriptors()) return create(nbytes, ShareStrategy::kFileDescriptor);
  constexpr uint64_t kPage = 4096;
  const uint64_t size = (nbytes + sizeof(RecycledMark) + kPage - 1) / kPage * kPage;
  Descriptor file(anonymous_file(size));
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  memory->map(file.get(), size - sizeof(RecycledMark), 0, sizeof(RecycledMark));
  memory->keep(file.take());
  auto* mark =
      ::new (static_cast<void*>(mark_behind(memory->data_, memory->nbytes_))) RecycledMark{};
  std::memcpy(mark->mark, kMark, sizeof(kMark));
  mark->version = kVersion;
  memory->recycled_ = mark;
  return memory;
}

std::unique_ptr<SharedMemory> SharedMemory::open_recycled(int descriptor, uint64_t nbytes) {
  const uint64_t size = size_of(descriptor);
  const bool fits = size > sizeof(RecycledMark) && size % sizeof(RecycledMark) == 0 &&
                    nbytes <= size - sizeof(RecycledMark);
  TSR_CHECK(fits, Code::kValue, "handle", "expected recycled memory of at least ", nbytes,
            " bytes and a mark, got a file of ", size);
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  memory->map(descriptor, size - sizeof(RecycledMark), 0, sizeof(RecycledMark));
  RecycledMark* mark = mark_behind(memory->data_, memory->nbytes_);
  const bool made = std::memcmp(mark->mark, kMark, sizeof(kMark)) == 0 && mark->version == kVersion;
  TSR_CHECK(made && !memory->read_only_, Code::kValue, "handle",
            "expected recycled memory that this version of the library made");
  memory->recycled_ = mark;
  return memory;
}

int SharedMemory::descriptor() {
  if (descriptor_ >= 0) return descriptor_;
  // The system knows the file behind every mapping, but opens it only for privileged processes.
  char path[96];
  const auto begin = reinterpret_cast<uintptr_t>(data_) - front_;
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  std::snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
                static_cast<unsigned long>(begin),
                static_cast<unsigned long>(begin + (mapped_ + page - 1) / page * page));
  const int opened = ::open(path, O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    fail_io(
        "this process keeps no descriptor of it, because it has too many (ulimit -n) or was not to "
        "send it on",
        errno);
  }
  keep(opened);
  return descriptor_;
}

void SharedMemory::add_user() {
  if (recycled_ != nullptr) {
    recycled_->users.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
  std::atomic<int64_t>& users = header_of(data_)->users;
  int64_t count = users.load(std::memory_order_acquire);
  do {
    if (count <= 0) fail_io("its last user has gone", ENOENT);
  } while (!users.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel));
}

void SharedMemory::remove_user() noexcept {
  if (recycled_ != nullptr) {
    recycled_->users.fetch_sub(1, std::memory_order_acq_rel);
    return;
  }
  if (header_of(data_)->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    ::shm_unlink(name_.c_str());
}

SharedMemory::~SharedMemory() {
  if (data_ == nullptr) return;
  // The child of a fork has its parent's mapping, but only the parent was counted.
  if (!name_.empty() && process_ == fork_mark()) remove_user();
  ::munmap(static_cast<char*>(data_) - front_, mapped_);
  g_blocks.fetch_sub(1, std::memory_order_relaxed);
  g_nbytes.fetch_sub(static_cast<int64_t>(nbytes_), std::memory_order_relaxed);
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    g_kept.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace tsr
