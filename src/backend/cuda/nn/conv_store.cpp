// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nn/conv_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace tsr::cuda {
namespace {

constexpr int kFormat = 1;
constexpr size_t kLargestFile = size_t{16} << 20;
// What one process writes at most, where shapes keep changing.
constexpr int64_t kMostWritten = 4096;

// Empty: nothing is kept.
std::string find_folder() {
  if (const char* named = std::getenv("TESSERA_CACHE"); named != nullptr)
    return named == std::string_view("off") ? std::string() : named;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/tessera";
  const char* const home = std::getenv("HOME");
  return home == nullptr || home[0] != '/' ? std::string() : std::string(home) + "/.cache/tessera";
}
const std::string& folder() {
  static const auto& one = *new std::string(find_folder());
  return one;
}

// The devices' names, asked for once, because that takes milliseconds.
std::string name_of_device(int32_t device) {
  struct Names {
    std::mutex mutex;
    std::array<std::string, kMaxDevices> of;
  };
  static auto& names = *new Names;
  if (device < 0 || device >= kMaxDevices) return {};
  const std::lock_guard lock(names.mutex);
  std::string& name = names.of[static_cast<size_t>(device)];
  if (!name.empty()) return name;
  cudaDeviceProp facts{};
  if (cudaGetDeviceProperties(&facts, device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  return name = facts.name;
}

// FNV-1a.
uint64_t checksum(std::string_view text) {
  uint64_t sum = 0xcbf29ce484222325U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return sum;
}
template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Entry {
  std::string path;
  std::string head;  // all that comes before the plan's text
};
// An empty path where nothing is kept.
Entry describe(const StoredPlan& plan) {
  const std::string device = name_of_device(plan.device);
  if (folder().empty() || device.empty()) return {};
  Entry entry;
  entry.head = "tessera convolution " + std::to_string(kFormat) + "\ncuDNN " +
               std::to_string(plan.dnn.version()) + "\n" + device + "\n";
  for (const int64_t number : plan.key) append(entry.head, number);
  char name[32];
  std::snprintf(name, sizeof name, "/conv-%016llx",
                static_cast<unsigned long long>(checksum(entry.head)));
  entry.path = folder() + name;
  return entry;
}

// ---- Files ----

class File {
 public:
  File(const char* path, int flags) : number_(open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

  // All of a file that belongs to this user; empty on any failure.
  [[nodiscard]] std::string contents() const {
    struct stat facts {};
    if (fstat(number_, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid() ||
        static_cast<size_t>(facts.st_size) > kLargestFile)
      return {};
    std::string text(static_cast<size_t>(facts.st_size), '\0');
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t got = ::read(number_, text.data() + done, text.size() - done);
      if (got <= 0) return {};
      done += static_cast<size_t>(got);
    }
    return text;
  }
  [[nodiscard]] bool put(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t done = ::write(number_, text.data(), text.size());
      if (done <= 0) return false;
      text.remove_prefix(static_cast<size_t>(done));
    }
    return true;
  }

 private:
  int number_;
};

void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
}

// The plan as cuDNN writes it; empty if it cannot.
std::string text_of(const StoredPlan& plan, const Descriptor& made) {
  int64_t size = 0;
  const auto get = [&](int64_t room, void* to) {
    return plan.dnn.get(made.value(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                        CUDNN_TYPE_CHAR, room, &size, to) == CUDNN_STATUS_SUCCESS;
  };
  if (!get(0, nullptr) || size <= 0 || static_cast<size_t>(size) > kLargestFile / 2) return {};
  std::string text(static_cast<size_t>(size), '\0');
  if (!get(size, text.data())) return {};
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace

Descriptor StoredPlan::read(cudnnHandle_t handle) const {
  Descriptor made(dnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  const Entry entry = describe(*this);
  std::string_view text;
  std::string contents;
  if (!entry.path.empty()) {
    const File file(entry.path.c_str(), O_RDONLY);
    if (file.is_open()) contents = file.contents();
    text = contents;
  }
  const bool is_ours = text.size() > entry.head.size() + sizeof(uint64_t) &&
                       text.substr(0, entry.head.size()) == entry.head;
  std::string sum;
  if (is_ours) append(sum, checksum(text.substr(0, text.size() - sizeof(uint64_t))));
  if (!is_ours || text.substr(text.size() - sizeof(uint64_t)) != sum) {
    made.refuse();
    return made;
  }
  text.remove_prefix(entry.head.size());
  text.remove_suffix(sizeof(uint64_t));
  made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
      .set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
           static_cast<int64_t>(text.size()), text.data());
  made.finalize();
  return made;
}

void StoredPlan::write(const Descriptor& plan) const {
  static std::atomic<int64_t> written{0};
  const Entry entry = describe(*this);
  if (entry.path.empty()) return;
  const std::string text = text_of(*this, plan);
  const int64_t number = written.fetch_add(1);
  if (text.empty() || number >= kMostWritten) return;
  std::string contents = entry.head + text;
  append(contents, checksum(contents));
  const std::string beside =
      entry.path + "." + std::to_string(getpid()) + "." + std::to_string(number);
  make_folders(entry.path);
  bool is_whole = false;
  {
    const File file(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open()) return;
    is_whole = file.put(contents);
  }
  if (!is_whole || rename(beside.c_str(), entry.path.c_str()) != 0) unlink(beside.c_str());
}

}  // namespace tsr::cuda
