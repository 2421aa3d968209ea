// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Teams: the threads that share one row of numbers.
//
// Note [Rows by layout]
// Memory moves in pieces of 32 bytes, so neighbouring threads must read neighbouring numbers. Rows
// are the middle axis of (rows, columns, inner), and which numbers are neighbours depends on inner:
//   inner == 1, up to 1024 columns   a warp per row, which keeps the row in registers (Warp)
//   inner == 1, more columns         a block per row, which reads the row again (Together)
//   inner == 1, up to 16 columns     a thread per row (Alone): the 32 short rows that a warp reads
//                                    are neighbours as a whole
//   inner > 1, many positions        a thread per position (Alone), beside that of the neighbour
//   inner > 1, few positions         a block for 32 neighbouring positions (Strip), whose warps
//                                    share the columns
// A position is a row's number times inner, plus the place in inner. The choice depends on the
// shape alone, and a team adds in a fixed order, so results are the same in every run.
#pragma once

#include "backend/cuda/block.cuh"

namespace tsr::cuda {

// A team offers
//   hold(n, load)   the numbers load(0) to load(n - 1), of which each(fn) calls fn(i, number) for
//                   those of this thread; the threads of a team have every number once
//   visit(n, fn)    fn(i) for the same i
//   sum, largest    over the threads of the team, which all get the result
//   leads           true in one thread of the team

// Loads each number again whenever it is asked for. Four loads at a time hide their latency.
template <class Load>
struct Reread {
  int64_t first, step, end;
  Load load;

  template <class Fn>
  __device__ void each(const Fn& fn) const {
    int64_t i = first;
    for (; i + 3 * step < end; i += 4 * step) {
      const auto a = load(i);
      const auto b = load(i + step);
      const auto c = load(i + 2 * step);
      const auto d = load(i + 3 * step);
      fn(i, a);
      fn(i + step, b);
      fn(i + 2 * step, c);
      fn(i + 3 * step, d);
    }
    for (; i < end; i += step) fn(i, load(i));
  }
};

// Keeps the numbers of a lane in registers: loops over them must be unrolled.
template <class T, int kEach>
struct Kept {
  int64_t end;
  T values[kEach];

  template <class Fn>
  __device__ void each(const Fn& fn) const {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t i = lane_of_thread() + k * kWarp;
      if (i < end) fn(i, values[k]);
    }
  }
};

// The members of a team whose threads have the indices first(), first() + step(), ...
template <class Team>
struct Strided {
  template <class Load>
  __device__ auto hold(int64_t n, const Load& load) const {
    const Team& own = static_cast<const Team&>(*this);
    return Reread<Load>{own.first(), own.step(), own.end(n), load};
  }
  template <class Fn>
  __device__ void visit(int64_t n, const Fn& fn) const {
    const Team& own = static_cast<const Team&>(*this);
    for (int64_t i = own.first(); i < own.end(n); i += own.step()) fn(i);
  }
};

struct Alone : Strided<Alone> {
  __device__ static int64_t first() { return 0; }
  __device__ static int64_t step() { return 1; }
  __device__ static int64_t end(int64_t n) { return n; }
  __device__ bool leads() const { return true; }
  __device__ double sum(double value) const { return value; }
  template <class T>
  __device__ T largest(T value) const {
    return value;
  }
};

// Up to kWarp * kEach numbers.
template <int kEach>
struct Warp {
  template <class Load>
  __device__ auto hold(int64_t n, const Load& load) const {
    Kept<decltype(load(n)), kEach> kept;
    kept.end = n;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t i = lane_of_thread() + k * kWarp;
      if (i < n) kept.values[k] = load(i);
    }
    return kept;
  }
  template <class Fn>
  __device__ void visit(int64_t n, const Fn& fn) const {
    for (int64_t i = lane_of_thread(); i < n; i += kWarp) fn(i);
  }
  __device__ bool leads() const {
    return lane_of_thread() == 0;
  }
  __device__ double sum(double value) const {
    return join_warp(value, [](double a, double b) { return a + b; });
  }
  template <class T>
  __device__ T largest(T value) const {
    return join_warp(value, [](T a, T b) { return a < b ? b : a; });
  }
};

// `place` is shared memory for kWarps numbers.
struct Together : Strided<Together> {
  double* place;

  __device__ explicit Together(double* shared) : place(shared) {}
  __device__ static int64_t first() { return threadIdx.x; }
  __device__ static int64_t step() { return blockDim.x; }
  __device__ static int64_t end(int64_t n) { return n; }
  __device__ bool leads() const { return threadIdx.x == 0; }
  __device__ double sum(double value) const {
    return join_block(value, place, [](double a, double b) { return a + b; });
  }
  template <class T>
  __device__ T largest(T value) const {
    return static_cast<T>(join_block(static_cast<double>(value), place,
                                     [](double a, double b) { return a < b ? b : a; }));
  }
};

// The threads of a block that have the same lane. `place` is shared memory for kThreads numbers.
struct Strip : Strided<Strip> {
  double* place;
  bool outside;  // beyond the last position: takes part in the barriers only

  __device__ Strip(double* shared, bool idle) : place(shared), outside(idle) {}
  __device__ static int64_t first() { return warp_of_thread(); }
  __device__ static int64_t step() { return warps_of_block(); }
  __device__ int64_t end(int64_t n) const { return outside ? 0 : n; }
  __device__ bool leads() const { return !outside && warp_of_thread() == 0; }
  __device__ double sum(double value) const {
    return joined(value, [](double a, double b) { return a + b; });
  }
  template <class T>
  __device__ T largest(T value) const {
    return static_cast<T>(
        joined(static_cast<double>(value), [](double a, double b) { return a < b ? b : a; }));
  }

 private:
  template <class Join>
  __device__ double joined(double value, const Join& join) const {
    place[threadIdx.x] = value;
    __syncthreads();
    double whole = place[lane_of_thread()];
    for (int warp = 1; warp < warps_of_block(); ++warp)
      whole = join(whole, place[warp * kWarp + lane_of_thread()]);
    __syncthreads();  // the next call writes here
    return whole;
  }
};

// ---- Rows of work: work(position, team) for each ----

template <class Work>
__global__ void positions_kernel(int64_t positions, Work work) {
  for (int64_t i = first_index(); i < positions; i += index_step()) work(i, Alone{});
}
template <int kEach, class Work>
__global__ void rows_by_warp_kernel(int64_t rows, Work work) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * warps_of_block();
  for (int64_t row = first_index() / kWarp; row < rows; row += step) work(row, Warp<kEach>{});
}
template <class Work>
__global__ void rows_by_block_kernel(int64_t rows, Work work) {
  __shared__ double place[kWarps];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) work(row, Together(place));
}
template <class Work>
__global__ void strips_kernel(int64_t positions, Work work) {
  __shared__ double place[kThreads];
  for (int64_t begin = int64_t{blockIdx.x} * kWarp; begin < positions;
       begin += int64_t{gridDim.x} * kWarp) {
    const int64_t own = begin + lane_of_thread();
    const bool outside = own >= positions;
    work(outside ? positions - 1 : own, Strip(place, outside));
  }
}

// See Note [Rows by layout].
template <class Work>
kernel::Status launch_rows(kernel::Place where, int64_t rows, int64_t columns, int64_t inner,
                           const Work& work) {
  constexpr int64_t kFewColumns = 16;
  constexpr int64_t kManyPositions = 16384;  // enough to fill the device with one thread each
  const int64_t positions = rows * inner;
  if (columns <= kFewColumns || (inner > 1 && positions >= kManyPositions))
    return launch(where, positions, &positions_kernel<Work>, positions, work);
  if (inner > 1) {
    return launch_blocks(where, (positions + kWarp - 1) / kWarp, kThreads, &strips_kernel<Work>,
                         positions, work);
  }
  const int64_t blocks = (rows + kWarps - 1) / kWarps;
  if (columns <= int64_t{8} * kWarp)
    return launch_blocks(where, blocks, kThreads, &rows_by_warp_kernel<8, Work>, rows, work);
  if (columns <= int64_t{32} * kWarp)
    return launch_blocks(where, blocks, kThreads, &rows_by_warp_kernel<32, Work>, rows, work);
  return launch_blocks(where, rows, kThreads, &rows_by_block_kernel<Work>, rows, work);
}

}  // namespace tsr::cuda
