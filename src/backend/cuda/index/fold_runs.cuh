// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Folding the values that are written to equal positions.
//
// Note [Runs in pieces]
// After sorting, equal positions stand beside each other: a run. A gradient may have a run of
// millions (the padding of a batch), which one thread would fold alone. So the sorted sequence is
// cut into pieces of kPiece elements, and one thread folds what a run has in a piece. A run that
// lies within one piece is done. Of any other run the results of its pieces form a new, shorter
// sequence, in the same order, which is folded in the same way, until one piece holds everything.
// A piece can have two such results, at its beginning and at its end; it always has two slots for
// them, of which an unused one is marked as empty. So all sizes are known before the first launch.
#pragma once

#include <algorithm>

#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

inline constexpr int64_t kPiece = 128;
inline int64_t pieces_of(int64_t count) {
  return (count + kPiece - 1) / kPiece;
}

template <class V>
__device__ V folded(kernel::IndexOp op, V a, V b) {
  if (op == kernel::IndexOp::kAccumulate) return a + b;
  if (op == kernel::IndexOp::kMultiply) return a * b;
  if constexpr (requires { a < b; }) {
    const bool beats = op == kernel::IndexOp::kMaximum ? b > a : b < a;
    return beats || ((b != b) && (a == a)) ? b : a;  // NaN wins
  }
  return a;
}

// ---- Sequences: element s has a key, and a value for each index f of the free dims ----

// The values as they are given.
template <class V>
struct GivenValues {
  const uint64_t* keys;
  int64_t count;
  const char* values;
  const int64_t* positions;
  DType dtype;

  __device__ bool empty(int64_t) const { return false; }
  // `offset` is that of f in the values.
  __device__ V value(int64_t s, int64_t, int64_t offset) const {
    return load_value<V>(dtype, values + positions[s] + offset);
  }
};

// Results of pieces.
template <class V>
struct Slots {
  uint64_t* keys;
  int64_t count;
  V* values;  // of slot s and f: s * free + f
  int32_t* used;
  int64_t free;

  [[nodiscard]] static int64_t bytes(int64_t count, int64_t free) {
    return count * (static_cast<int64_t>(sizeof(uint64_t)) +
                    free * static_cast<int64_t>(sizeof(V)) + static_cast<int64_t>(sizeof(int32_t)));
  }
  // Values first: their type has the largest alignment.
  static Slots in(void* memory, int64_t count, int64_t free) {
    auto* const values = static_cast<V*>(memory);
    auto* const keys = reinterpret_cast<uint64_t*>(values + count * free);
    return {keys, count, values, reinterpret_cast<int32_t*>(keys + count), free};
  }
  __device__ bool empty(int64_t s) const { return used[s] == 0; }
  __device__ V value(int64_t s, int64_t f, int64_t) const { return values[s * free + f]; }
};

// ---- Kernels ----

// All slots are empty. Their keys are those of the ends of the piece, so that an empty slot between
// two parts of a run has the run's key.
template <class From, class V>
__global__ void clear_slots_kernel(From from, Slots<V> to) {
  for (int64_t slot = first_index(); slot < to.count; slot += index_step()) {
    const int64_t first = slot / 2 * kPiece;
    const int64_t last = first + kPiece < from.count ? first + kPiece - 1 : from.count - 1;
    to.keys[slot] = from.keys[slot % 2 == 0 ? first : last];
    to.used[slot] = 0;
  }
}

// Where results go: key k stands for array + low + k * unit.
struct FoldTarget {
  const int32_t* refused;  // not 0: an index was out of range, and nothing is written
  char* array;
  int64_t low, unit;
  Walk<2> free;  // strides of the values and of the array
  DType dtype;
  kernel::IndexOp op;
};

template <class V, class From>
__global__ void fold_pieces_kernel(From from, const __grid_constant__ FoldTarget target,
                                   Slots<V> to) {
  if (*target.refused != 0) return;
  const int64_t free = target.free.numel;
  for (int64_t t = first_index(); t < from.count * free; t += index_step()) {
    const int64_t first = divide(t, free);
    const uint64_t key = from.keys[first];
    const bool begins = first == 0 || from.keys[first - 1] != key;
    if (!begins && first % kPiece != 0) continue;  // folded by an earlier thread
    const int64_t f = t - first * free;
    int64_t at[2];
    target.free.offsets(f, at);
    const int64_t piece = first / kPiece;
    const int64_t end = (piece + 1) * kPiece < from.count ? (piece + 1) * kPiece : from.count;
    V total(0);
    bool any = false;
    int64_t s = first;
    for (; s < end && from.keys[s] == key; ++s) {
      if (from.empty(s)) continue;
      const V value = from.value(s, f, at[0]);
      total = any ? folded(target.op, total, value) : value;
      any = true;
    }
    if (!any) continue;
    const bool ends = s == from.count || from.keys[s] != key;
    if (begins && ends) {
      char* const place =
          target.array + target.low + static_cast<int64_t>(key) * target.unit + at[1];
      store_value(target.dtype, place,
                  folded(target.op, load_value<V>(target.dtype, place), total));
    } else {
      const int64_t slot = 2 * piece + (begins ? 1 : 0);
      to.values[slot * free + f] = total;
      to.used[slot] = 1;  // by the threads of all f
    }
  }
}

// ---- The passes ----

template <class V, class From>
kernel::Status fold_runs(kernel::Place place, const From& from, const FoldTarget& target) {
  const int64_t free = target.free.numel;
  const int64_t count = pieces_of(from.count) > 1 ? 2 * pieces_of(from.count) : 0;
  const Workspace space(place, Slots<V>::bytes(count, free));
  if (space.missing()) return no_workspace();
  const auto to = Slots<V>::in(space.data<void>(), count, free);
  kernel::Status status = launch(place, count, &clear_slots_kernel<From, V>, from, to);
  if (status != kernel::kOk) return status;
  status = launch(place, from.count * free, &fold_pieces_kernel<V, From>, from, target, to);
  if (status != kernel::kOk || count == 0) return status;
  return fold_runs<V>(place, to, target);
}

}  // namespace tsr::cuda
