// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Peers: the processes of the other ranks on this host, and which of them have ended. MPI itself
// does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tsr::dist::mpi {

// What a rank tells the others about its process; exchanged as bytes.
struct Identity {
  int64_t process = 0;
  uint64_t host = 0;       // a hash of the host's name and boot
  uint64_t processes = 0;  // the name space of process numbers
  uint64_t started = 0;    // when the process started, as a number is used again

  static Identity own();
};

class Peers {
 public:
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers();

  // Watches those ranks of `all` that run on this host, also those that have ended before.
  void watch(const std::vector<Identity>& all, int32_t own_rank);
  // A sentence about a rank that has ended, or nothing. Cheap: one system call.
  [[nodiscard]] std::optional<std::string> ended() const;
  // A sentence about ranks that are stopped (SIGSTOP, a debugger), or nothing.
  [[nodiscard]] std::optional<std::string> stopped() const;
  [[nodiscard]] bool has_ended(int32_t rank) const;

 private:
  static constexpr int kEnded = -1;  // instead of the descriptor of a process that has ended
  struct Watched {
    int descriptor;
    int32_t rank;
    int64_t process;
  };
  std::vector<Watched> watched_;
};

}  // namespace tsr::dist::mpi
