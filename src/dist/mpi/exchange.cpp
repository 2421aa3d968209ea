// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/mpi/exchange.h"

#include <algorithm>
#include <cstring>

namespace tsr::dist::mpi {
namespace {

// Below, MPI's own operation is faster.
constexpr int64_t kShortest = int64_t{64} << 10;
// With more ranks every one would send too many messages.
constexpr int32_t kMostRanks = 16;
constexpr int64_t kPieceBytes = int64_t{256} << 10;
constexpr int64_t kLanes = 4;
constexpr int64_t kAlignment = 64;  // elements, so that segments begin with a cache line
constexpr int kTags = 32768;        // MPI promises so many

int64_t rounded_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

bool Exchange::suits(int64_t nbytes, int32_t ranks) noexcept {
  return nbytes >= kShortest && ranks > 1 && ranks <= kMostRanks;
}

int64_t Exchange::segment_of(int64_t count, int32_t ranks) noexcept {
  return rounded_up((count + ranks - 1) / ranks, kAlignment);
}

Exchange::Exchange(const Plan& plan)
    : plan_(plan),
      length_(std::min(plan.segment, kPieceBytes / plan.itemsize)),
      pieces_((plan.segment + length_ - 1) / length_),
      lanes_(static_cast<size_t>(std::min(kLanes, pieces_))) {
  const auto others = static_cast<size_t>(plan.size - 1);
  const size_t each = static_cast<size_t>(length_ * plan.itemsize) * others;
  received_.reset(new char[each * lanes_.size()]);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].piece = static_cast<int64_t>(i);
    lanes_[i].received = received_.get() + i * each;
    lanes_[i].requests.reserve(2 * others);
  }
}

// Elements of a piece of a rank's segment.
int64_t Exchange::length(int32_t rank, int64_t piece) const noexcept {
  const int64_t first = rank * plan_.segment + piece * length_;
  const int64_t end = std::min((rank + 1) * plan_.segment, plan_.count);
  return std::clamp(end - first, int64_t{0}, length_);
}

char* Exchange::place(int32_t rank, int64_t piece) const noexcept {
  return plan_.source + (rank * plan_.segment + piece * length_) * plan_.itemsize;
}

int Exchange::tag_of(const Lane& lane) const noexcept {
  const int64_t number = plan_.number * kLanes + (&lane - lanes_.data());
  return static_cast<int>(number % kTags);
}

// The first step: every rank gets the others' elements of its piece.
int Exchange::begin(Lane& lane) {
  lane.gathering = false;
  lane.requests.clear();
  const int64_t own = length(plan_.rank, lane.piece);
  char* into = lane.received;
  for (int32_t other = 0; other < plan_.size; ++other) {
    if (other == plan_.rank) continue;
    if (own > 0) {
      lane.requests.push_back(MPI_REQUEST_NULL);
      const int code = MPI_Irecv(into, static_cast<int>(own), plan_.type, other, tag_of(lane),
                                 plan_.comm, &lane.requests.back());
      if (code != MPI_SUCCESS) return code;
      into += own * plan_.itemsize;
    }
    const int64_t theirs = length(other, lane.piece);
    if (theirs == 0) continue;
    lane.requests.push_back(MPI_REQUEST_NULL);
    const int code = MPI_Isend(place(other, lane.piece), static_cast<int>(theirs), plan_.type,
                               other, tag_of(lane), plan_.comm, &lane.requests.back());
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Exchange::reduce(Lane& lane) {
  const int64_t own = length(plan_.rank, lane.piece);
  if (own == 0) return MPI_SUCCESS;
  const auto nbytes = static_cast<size_t>(own * plan_.itemsize);
  char* mine = place(plan_.rank, lane.piece);
  char* result = plan_.result + lane.piece * length_ * plan_.itemsize;
  // MPI computes `in op inout` into inout: the sum so far moves on from rank to rank. Two values
  // may change places, which saves a copy.
  std::vector<char*> terms;
  char* next = lane.received;
  for (int32_t rank = 0; rank < plan_.size; ++rank) {
    terms.push_back(rank == plan_.rank ? mine : next);
    if (rank != plan_.rank) next += nbytes;
  }
  // Only the own segment of an all_reduce may be written in the source.
  const bool in_place = result == mine;
  if (in_place && plan_.size == 2 && plan_.rank == 0) std::swap(terms[0], terms[1]);
  for (size_t rank = 1; rank < terms.size(); ++rank) {
    if (terms[rank] == mine && !in_place) {
      std::memcpy(result, mine, nbytes);
      terms[rank] = result;
    }
    const int code =
        MPI_Reduce_local(terms[rank - 1], terms[rank], static_cast<int>(own), plan_.type, plan_.op);
    if (code != MPI_SUCCESS) return code;
  }
  if (terms.back() != result) std::memcpy(result, terms.back(), nbytes);
  return MPI_SUCCESS;
}

// The second step: every rank sends its result to the others.
int Exchange::gather(Lane& lane) {
  lane.gathering = true;
  lane.requests.clear();
  const int64_t own = length(plan_.rank, lane.piece);
  for (int32_t other = 0; other < plan_.size; ++other) {
    if (other == plan_.rank) continue;
    const int64_t theirs = length(other, lane.piece);
    if (theirs > 0) {
      lane.requests.push_back(MPI_REQUEST_NULL);
      const int code = MPI_Irecv(place(other, lane.piece), static_cast<int>(theirs), plan_.type,
                                 other, tag_of(lane), plan_.comm, &lane.requests.back());
      if (code != MPI_SUCCESS) return code;
    }
    if (own == 0) continue;
    lane.requests.push_back(MPI_REQUEST_NULL);
    const int code = MPI_Isend(place(plan_.rank, lane.piece), static_cast<int>(own), plan_.type,
                               other, tag_of(lane), plan_.comm, &lane.requests.back());
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Exchange::start() {
  for (Lane& lane : lanes_) {
    ++running_;
    if (const int code = begin(lane); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Exchange::move() {
  for (Lane& lane : lanes_) {
    while (lane.piece < pieces_) {
      int ended = 0;
      int code = MPI_Testall(static_cast<int>(lane.requests.size()), lane.requests.data(), &ended,
                             MPI_STATUSES_IGNORE);
      if (code != MPI_SUCCESS) return code;
      if (ended == 0) break;
      if (!lane.gathering) {
        code = reduce(lane);
        if (code != MPI_SUCCESS) return code;
        if (plan_.all) {
          code = gather(lane);
          if (code != MPI_SUCCESS) return code;
          continue;
        }
      }
      lane.piece += static_cast<int64_t>(lanes_.size());
      if (lane.piece >= pieces_) {
        --running_;
        break;
      }
      code = begin(lane);
      if (code != MPI_SUCCESS) return code;
    }
  }
  return MPI_SUCCESS;
}

}  // namespace tsr::dist::mpi
