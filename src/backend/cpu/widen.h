// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// 16-bit floats in kernels whose rows are compiled for float and double: elements are widened to
// float32 into a row buffer, worked on there, and rounded once on the way out.
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
// What elements stored as S are computed in.
template <class S>
using Opmath = std::conditional_t<kIsShort<S>, float, S>;

// Brings runs of elements stored as S to the rows and back. Float and double stay where they are,
// and no buffer of theirs is touched.
template <class S>
class Widen {
 public:
  using T = Opmath<S>;

  Widen() {
    if constexpr (!kIsShort<S>) return;
    in_ = rows_of<CopyRows>().cast(dtype_of<S>(), DType::kFloat32);
    out_ = rows_of<CopyRows>().cast(DType::kFloat32, dtype_of<S>());
  }

  // `count` elements as T: in the buffer, or where they are.
  const T* read(int64_t count, const S* from, T* buffer) const {
    if constexpr (kIsShort<S>) {
      in_(count, buffer, from);
      return buffer;
    } else {
      return from;
    }
  }
  // Where results for `to` go: into the buffer, from which `write` takes them, or there.
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

// Room for `count` floats where S needs buffers; none otherwise.
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

// Calls visit.operator()<S>() with the storage type of a real floating dtype; `text` says what was
// expected where it is another.
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
