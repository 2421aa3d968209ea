// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// 16-bit floats in kernels whose rows are compiled for float and double: elements are widened to
// float32 in a row buffer, computed there, and rounded once when they are written back.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "base/half.h"

namespace tsr::cpu {

template <class S>
inline constexpr bool kIsShort = std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>;
// The type in which elements stored as S are computed.
template <class S>
using Opmath = std::conditional_t<kIsShort<S>, float, S>;

// Converts runs of elements stored as S for the rows, and back. Float and double are used in place,
// without a buffer.
template <class S>
class Widen {
 public:
  using T = Opmath<S>;

  Widen() {
    if constexpr (!kIsShort<S>) return;
    in_ = rows_of<CopyRows>().cast(dtype_of<S>(), DType::kFloat32);
    out_ = rows_of<CopyRows>().cast(DType::kFloat32, dtype_of<S>());
  }

  // Returns `count` elements as T: in the buffer, or in place.
  const T* read(int64_t count, const S* from, T* buffer) const {
    if constexpr (kIsShort<S>) {
      in_(count, buffer, from);
      return buffer;
    } else {
      return from;
    }
  }
  // Where a row writes its results for `to`: into the buffer, from which `write` converts them, or
  // to `to` itself.
  T* target(S* to, T* buffer) const {
    if constexpr (kIsShort<S>)
      return buffer;
    else
      return to;
  }
  void write(int64_t count, S* to, const T* buffer) const {
    if constexpr (kIsShort<S>) out_(count, to, buffer);
  }

 private:
  CastRow in_ = nullptr;
  CastRow out_ = nullptr;
};

// A buffer of `count` floats if S needs one, else none.
template <class S>
class RowBuffer {
 public:
  explicit RowBuffer(int64_t count) : space_(count * static_cast<int64_t>(sizeof(float))) {}

  [[nodiscard]] bool missing() const { return kIsShort<S> && space_.data() == nullptr; }
  [[nodiscard]] Opmath<S>* at(int64_t offset = 0) const {
    return kIsShort<S> ? static_cast<Opmath<S>*>(space_.data()) + offset : nullptr;
  }

 private:
  struct Nothing {
    explicit Nothing(int64_t) {}
    [[nodiscard]] void* data() const { return nullptr; }
  };
  std::conditional_t<kIsShort<S>, Workspace, Nothing> space_;
};

// Calls visit.operator()<S>() with the storage type of a real floating dtype. `text` is the error
// message for any other dtype.
template <class Visit>
kernel::Status visit_storage(DType dtype, const char* text, const Visit& visit) {
  switch (dtype) {
    case DType::kFloat16:
      return visit.template operator()<Half>();
    case DType::kBFloat16:
      return visit.template operator()<BFloat16>();
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      return visit.template operator()<double>();
    default:
      return failure(Code::kNotImplemented, text);
  }
}

}  // namespace tsr::cpu
