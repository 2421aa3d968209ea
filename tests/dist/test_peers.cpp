// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The processes of other ranks, as the transport over MPI watches them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "dist/mpi/peers.h"

namespace tsr::dist::mpi::test_peers {
namespace {

// A process that tells who it is and lives until it is stopped.
struct Child {
  Identity identity;
  pid_t process = -1;

  Child() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is stopped leaves no process
      const Identity own = Identity::own();
      if (write(ends[1], &own, sizeof own) != ssize_t{sizeof own}) _exit(1);
      while (true) pause();
    }
    close(ends[1]);
    EXPECT_EQ(read(ends[0], &identity, sizeof identity), ssize_t{sizeof identity});
    close(ends[0]);
  }
  void stop() const {
    EXPECT_EQ(kill(process, SIGKILL), 0);
    EXPECT_EQ(waitpid(process, nullptr, 0), process);
  }
};

TEST(Peers, D9_a_rank_that_ends_is_found) {
  const Child child;
  Peers peers;
  peers.watch({Identity::own(), child.identity}, 0);
  EXPECT_FALSE(peers.ended().has_value());
  EXPECT_FALSE(peers.has_ended(1));
  child.stop();
  EXPECT_EQ(peers.ended().value_or(""),
            "rank 1 (process " + std::to_string(child.process) + ") has ended");
  EXPECT_TRUE(peers.has_ended(1));
}

TEST(Peers, D9_a_rank_that_has_ended_before_it_is_watched_is_found) {
  const Child gone, alive;
  gone.stop();
  Peers peers;
  peers.watch({Identity::own(), alive.identity, gone.identity}, 0);
  EXPECT_EQ(peers.ended().value_or(""),
            "rank 2 (process " + std::to_string(gone.process) + ") has ended");
  EXPECT_TRUE(peers.has_ended(2));
  EXPECT_FALSE(peers.has_ended(1));
  alive.stop();
}

// A number that another process got since.
TEST(Peers, D9_a_process_of_the_same_number_is_another_one) {
  const Child child;
  Identity before = child.identity;
  before.started -= 1;
  Peers peers;
  peers.watch({Identity::own(), before}, 0);
  EXPECT_TRUE(peers.has_ended(1));
  child.stop();
}

}  // namespace
}  // namespace tsr::dist::mpi::test_peers
