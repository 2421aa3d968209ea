// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/name_keeper.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/fork_mutex.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr {
namespace {

constexpr std::string_view kPrefix = "/tessera-";

struct Names {
  GuardedMutex mutex{LockLevel::kOuter};
  std::string prefix;
  uint64_t count = 0;
  int32_t process = -1;  // fork_mark of the process that the keeper watches
  int pipe = -1;         // the keeper ends when every copy of it is closed
};

[[noreturn]] void fail_keeper(int number) {
  Error error(
      Code::kIo, nullptr,
      concat("cannot start the process that cleans up shared memory: ", std::strerror(number)),
      __FILE__, __LINE__);
  error.set_native_code(number);
  throw error;
}

// The keeper is a shell in the background, not a copy of this process: a copy would keep this
// process' pages from being freed. Its parent ends at once, so that no wait() of the host ever sees
// it.
// Note [The keeper's pipe]: children that are forked inherit the writing end, children that are
// spawned do not.
void start_keeper(Names& names) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_keeper(errno);
  const std::string files = "/dev/shm" + names.prefix;
  const char* script = "(read _ <&3; rm -f \"$0\"*) 3<&3 >/dev/null 2>&1 &";
  char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                             const_cast<char*>(script), const_cast<char*>(files.c_str()), nullptr};
  char path[] = "PATH=/usr/bin:/bin";
  char* const environment[] = {path, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // 3 may be the number of either end: the copies at 100 and above are out of the way.
  const int reading = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 100);
  posix_spawn_file_actions_adddup2(&actions, reading, 3);
  for (int standard = 0; standard < 3; ++standard)
    posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = -1;
  const int status =
      reading < 0 ? EMFILE
                  : ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[0]);
  if (reading >= 0) ::close(reading);
  if (status != 0) {
    ::close(ends[1]);
    fail_keeper(status);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  names.pipe = ends[1];
}

}  // namespace

std::string next_shared_name() {
  auto& names = immortal<Names>();
  const std::lock_guard lock(names.mutex);
  if (names.process != fork_mark()) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    names.prefix =
        concat(kPrefix, static_cast<int64_t>(::getpid()), "-", static_cast<int64_t>(now.tv_sec),
               "-", static_cast<int64_t>(now.tv_nsec), "-");
    start_keeper(names);
    names.process = fork_mark();
  }
  return concat(names.prefix, names.count++);
}

bool is_shared_name(const std::string& name) noexcept {
  return name.starts_with(kPrefix) && name.size() < 100 &&
         std::all_of(name.begin() + kPrefix.size(), name.end(),
                     [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

}  // namespace tsr
