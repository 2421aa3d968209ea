// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The positions of nonzero elements: chunks are counted first, so that each knows where it writes.
#include <algorithm>
#include <cstring>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::NonzeroPlan;
using kernel::Status;

constexpr int64_t kChunk = 65536;  // elements

// Tests the stored bits of an element; -0 counts as zero.
template <class T>
bool holds(const std::byte* element) {
  if constexpr (std::is_same_v<T, bool>) {
    return *element != std::byte{0};
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    uint16_t bits;
    std::memcpy(&bits, element, sizeof(bits));
    return (bits & 0x7fff) != 0;
  } else {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return value != T{};
  }
}

// Calls row(cursor, first, stride, count) for the rows of elements [begin, end).
template <class Row>
void each_row(const NonzeroPlan& plan, int64_t begin, int64_t end, Row row) {
  constexpr int64_t kOne = 1;
  constexpr int64_t kStill = 0;
  const bool scalar = plan.ndim == 0;
  const int64_t* strides = scalar ? &kStill : plan.strides;
  Cursor cursor{scalar ? 1 : plan.ndim, scalar ? &kOne : plan.sizes, {}};
  cursor.seek(begin);
  const auto* data = static_cast<const std::byte*>(plan.input);
  while (begin < end) {
    const int64_t count = std::min(end - begin, cursor.left_in_row());
    row(cursor, data + cursor.offset(strides), strides[cursor.ndim - 1], count);
    cursor.advance_in_row(count);
    begin += count;
  }
}

template <class T>
int64_t count_chunk(const NonzeroPlan& plan, int64_t begin, int64_t end) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  int64_t found = 0;
  each_row(plan, begin, end,
           [&](const Cursor&, const std::byte* first, int64_t stride, int64_t count) {
             int64_t here = 0;
             if (stride == kSize) {
#pragma omp simd reduction(+ : here)
               for (int64_t i = 0; i < count; ++i) here += holds<T>(first + i * kSize) ? 1 : 0;
             } else {
               for (int64_t i = 0; i < count; ++i) here += holds<T>(first + i * stride) ? 1 : 0;
             }
             found += here;
           });
  return found;
}

// Writes the positions of a chunk to rows [next, last) of the columns. Every position is written,
// and the next one over it unless its element is nonzero: no processor foresees a branch on random
// elements. Another thread may have written the elements after they were counted: extra positions
// are dropped, missing ones are set to 0.
template <class T>
void write_chunk(const NonzeroPlan& plan, int64_t begin, int64_t end, int64_t next, int64_t last) {
  const int64_t total = *plan.count;
  const int32_t inner = plan.ndim - 1;
  each_row(plan, begin, end,
           [&](const Cursor& cursor, const std::byte* first, int64_t stride, int64_t count) {
             int64_t* column = plan.output + inner * total;
             const int64_t start = cursor.index[inner];
             const int64_t begun = next;
             const int64_t stop = last;  // copies, because the positions might alias the captures
             int64_t place = begun;
             for (int64_t i = 0; i < count && place < stop; ++i) {
               column[place] = start + i;
               place += holds<T>(first + i * stride) ? 1 : 0;
             }
             next = place;
             for (int32_t d = 0; d < inner; ++d)
               std::fill(plan.output + d * total + begun, plan.output + d * total + next,
                         cursor.index[d]);
           });
  for (int32_t d = 0; d < plan.ndim; ++d)
    std::fill(plan.output + d * total + next, plan.output + d * total + last, 0);
}

template <class T>
Status run(const NonzeroPlan& plan) {
  const int64_t chunks = (plan.numel + kChunk - 1) / kChunk;
  const auto end_of = [&](int64_t chunk) { return std::min(plan.numel, (chunk + 1) * kChunk); };
  if (chunks == 1) {
    if (plan.output == nullptr) {
      *plan.count = count_chunk<T>(plan, 0, plan.numel);
    } else {
      write_chunk<T>(plan, 0, plan.numel, 0, *plan.count);
    }
    return kernel::kOk;
  }
  const Workspace workspace(chunks * static_cast<int64_t>(sizeof(int64_t)));
  auto* counts = static_cast<int64_t*>(workspace.data());
  if (counts == nullptr) return failure(Code::kOutOfMemory, "no memory to count nonzero elements");
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) counts[c] = count_chunk<T>(plan, c * kChunk, end_of(c));
  });
  int64_t total = 0;
  for (int64_t c = 0; c < chunks; ++c) total += std::exchange(counts[c], total);
  if (plan.output == nullptr) {
    *plan.count = total;
    return kernel::kOk;
  }
  const auto row_of = [&](int64_t chunk) {
    return chunk < chunks ? std::min(counts[chunk], *plan.count) : *plan.count;
  };
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      write_chunk<T>(plan, c * kChunk, end_of(c), row_of(c), row_of(c + 1));
  });
  return kernel::kOk;
}

}  // namespace

Status nonzero(const NonzeroPlan& plan) {
  if (plan.numel == 0) {
    if (plan.output == nullptr) *plan.count = 0;
    return kernel::kOk;
  }
  if (plan.output != nullptr && plan.ndim == 0) return kernel::kOk;  // no column to write
  return visit_dtype(plan.dtype, [&]<class Tag>(Tag) { return run<typename Tag::type>(plan); });
}

}  // namespace tsr::cpu
