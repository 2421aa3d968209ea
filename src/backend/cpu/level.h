// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The instruction-set levels: the rows of each, and the choice of the running one.
//
// Note [Rows]. A row is a function over contiguous elements of one compute dtype. Rows are compiled
// once per level, in src/backend/cpu/isa; their callers, which are compiled once, handle strides,
// threads, casts and broadcasts. A family declares its rows as a small struct and finds those of
// the running level with rows_of<Struct>().
#pragma once

#include <tuple>

namespace tsr::cpu {

struct CopyRows;
struct IndexRows;
struct IntegerProductRows;
struct PointwiseRows;
struct RandomRows;
struct ReduceRows;
struct ShortProductRows;
template <class T>
struct AttentionRows;
template <class T>
struct BagRows;
template <class T>
struct ClassLossRows;
template <class T>
struct DepthwiseRows;
template <class T>
struct DistanceRows;
template <class T>
struct FftRows;
template <class T>
struct GatesRows;
template <class T>
struct GridRows;
template <class T>
struct NormRows;
template <class T>
struct OptimRows;
template <class T>
struct PackedRows;
template <class T>
struct PoolRows;
template <class T>
struct ResampleRows;
template <class T>
struct SkinnyRows;
template <class T>
struct SoftmaxRows;
template <class T>
struct TriangleRows;
template <class T>
struct WeightedGatherRows;

struct Level {
  template <class... Rows>
  using PointersTo = std::tuple<const Rows*...>;
  // Pointers to the rows that exist for float32 and for float64.
  template <template <class> class... Rows>
  using FloatingPointersTo = std::tuple<const Rows<float>*..., const Rows<double>*...>;
  // The order is that of the initialiser in isa/level.cpp.
  using Tables = decltype(std::tuple_cat(
      PointersTo<CopyRows, IndexRows, IntegerProductRows, PointwiseRows, RandomRows, ReduceRows,
                 ShortProductRows>{},
      FloatingPointersTo<AttentionRows, BagRows, ClassLossRows, DepthwiseRows, DistanceRows,
                         FftRows, GatesRows, GridRows, NormRows, OptimRows, PackedRows, PoolRows,
                         ResampleRows, SkinnyRows, SoftmaxRows, TriangleRows,
                         WeightedGatherRows>{}));

  template <class Rows>
  [[nodiscard]] const Rows& rows() const noexcept {
    return *std::get<const Rows*>(tables);
  }

  const char* name;
  Tables tables;
};

// The best level of this machine among those that were built; null when it can run none.
// TSR_CPU_LEVEL in the environment may name a lower one.
const Level* best_level() noexcept;
// The level of that name, or null when it was not built or this machine cannot run it.
const Level* find_level(const char* name) noexcept;

// What a processor must have for the lowest level that was built, for error texts.
const char* least_processor() noexcept;

// The rows of the best level. The backend does not start on a machine that has none.
template <class Rows>
const Rows& rows_of() noexcept {
  return best_level()->rows<Rows>();
}

}  // namespace tsr::cpu
