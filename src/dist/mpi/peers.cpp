// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/mpi/peers.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <iterator>

namespace tsr::dist::mpi {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Field 22 of /proc/<process>/stat, counted behind the name, which may hold spaces; 0 if there is
// no such process.
uint64_t start_of(int64_t process) {
  const std::string text = contents("/proc/" + std::to_string(process) + "/stat");
  size_t at = text.rfind(')');
  if (at == std::string::npos) return 0;
  constexpr int kFields = 20;
  for (int field = 0; field < kFields; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return 0;
  }
  return std::stoull(text.substr(at + 1));
}

}  // namespace

Identity Identity::own() {
  Identity one;
  one.process = getpid();
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  one.host = std::hash<std::string>{}(host + contents("/proc/sys/kernel/random/boot_id"));
  struct stat info {};
  if (stat("/proc/self/ns/pid", &info) == 0) one.processes = info.st_ino;
  one.started = start_of(one.process);
  return one;
}

Peers::~Peers() {
  for (const Watched& one : watched_) {
    if (one.descriptor != kEnded) close(one.descriptor);
  }
}

void Peers::watch(const std::vector<Identity>& all, int32_t own_rank) {
  const Identity& own = all[static_cast<size_t>(own_rank)];
  for (size_t i = 0; i < all.size(); ++i) {
    const Identity& other = all[i];
    if (static_cast<int32_t>(i) == own_rank || other.host != own.host ||
        other.processes != own.processes) {
      continue;
    }
    // A descriptor of a process stays its own, whoever gets the number next. Kernels before 5.3
    // have none: then only the timeouts find a rank that has ended.
    auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, other.process, 0));
    if (descriptor < 0 && errno != ESRCH) continue;
    // 0: the start of a process of another user may be hidden.
    const uint64_t start = descriptor >= 0 ? start_of(other.process) : 0;
    if (start != 0 && start != other.started) {
      close(descriptor);
      descriptor = kEnded;  // the number is another process's now
    }
    watched_.push_back(
        {descriptor < 0 ? kEnded : descriptor, static_cast<int32_t>(i), other.process});
  }
}

std::optional<std::string> Peers::ended() const {
  std::vector<pollfd> entries;
  bool any = false;
  for (const Watched& one : watched_) {
    entries.push_back({one.descriptor, POLLIN, 0});  // poll passes over kEnded
    any = any || one.descriptor == kEnded;
  }
  if (entries.empty() || (poll(entries.data(), entries.size(), 0) <= 0 && !any)) return {};
  std::string text;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].revents == 0 && entries[i].fd != kEnded) continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(watched_[i].rank) + " (process " +
            std::to_string(watched_[i].process) + ")";
  }
  return text + " has ended";
}

bool Peers::has_ended(int32_t rank) const {
  for (const Watched& one : watched_) {
    pollfd entry{one.descriptor, POLLIN, 0};
    if (one.rank == rank) return one.descriptor == kEnded || poll(&entry, 1, 0) > 0;
  }
  return false;
}

std::optional<std::string> Peers::stopped() const {
  std::string text;
  for (const Watched& one : watched_) {
    const std::string line = contents("/proc/" + std::to_string(one.process) + "/stat");
    const size_t at = line.rfind(')');
    if (at == std::string::npos || at + 2 >= line.size()) continue;
    const char state = line[at + 2];
    if (state != 'T' && state != 't') continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(one.rank) + " (process " +
            std::to_string(one.process) + ")";
  }
  if (text.empty()) return {};
  return text + " is stopped";
}

}  // namespace tsr::dist::mpi
