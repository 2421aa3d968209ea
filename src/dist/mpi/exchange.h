// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Exchange: a long reduction as messages of MPI, in pieces.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dist/contract.h"

namespace tsr::dist::mpi {

// Note [Long reductions]
// Open MPI's reductions that do not block are slow for long buffers: one rank reduces all of them
// in one piece, in memory that is new each time. Here every rank reduces a segment of the buffer:
// it gets the others' elements of it, in pieces that stay in the cache, and sends the results.
// MPI carries the messages and computes (MPI_Reduce_local).
// A few lanes are under way at a time. Each takes every n-th piece, through both steps, and has a
// tag of its own, so that its messages match in their order on all ranks. The elements of a segment
// are added in the order of ranks, whichever message arrives first.
class Exchange {
 public:
  struct Plan {
    MPI_Comm comm = MPI_COMM_NULL;  // on which nobody else sends messages
    int32_t rank = 0;
    int32_t size = 1;
    int64_t number = 0;  // of the operation, the same on all ranks
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    int64_t itemsize = 1;
    char* source = nullptr;  // the segments of all ranks
    int64_t count = 0;       // of elements in it
    int64_t segment = 0;     // of elements of a rank; the last ranks may have fewer
    char* result = nullptr;  // of the own segment, which may lie in the source
    bool all = false;        // the results go to all ranks, into the source
  };

  // Whether a reduction of so many bytes over all ranks is one of these.
  [[nodiscard]] static bool suits(int64_t nbytes, int32_t ranks) noexcept;
  // Elements of a segment of an all_reduce.
  [[nodiscard]] static int64_t segment_of(int64_t count, int32_t ranks) noexcept;

  explicit Exchange(const Plan& plan);
  // Starts the first pieces. Returns MPI's code, as move does.
  int start();
  // Moves on what can be moved; never blocks.
  int move();
  [[nodiscard]] bool done() const noexcept { return running_ == 0; }

 private:
  struct Lane {
    int64_t piece = 0;
    bool gathering = false;  // the second step
    char* received = nullptr;
    std::vector<MPI_Request> requests;
  };

  [[nodiscard]] int64_t length(int32_t rank, int64_t piece) const noexcept;
  [[nodiscard]] char* place(int32_t rank, int64_t piece) const noexcept;
  int begin(Lane& lane);
  int reduce(Lane& lane);
  int gather(Lane& lane);
  [[nodiscard]] int tag_of(const Lane& lane) const noexcept;

  Plan plan_;
  int64_t length_;  // of a piece, elements
  int64_t pieces_;
  int64_t running_ = 0;
  std::vector<Lane> lanes_;
  std::unique_ptr<char[]> received_;
};

}  // namespace tsr::dist::mpi
