// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Lines: operands whose elements are all neighbours, or that are one number. Threads move packs.
#pragma once

#include "backend/cuda/launch.cuh"
#include "backend/cuda/packed.cuh"

namespace tsr::cuda {

// An operand that is read along a line. Packs are counted from the first element at which the output
// has one; an operand that has none there, as a slice may, is read element by element.
template <class T, int kItems>
struct LineInput {
  const T* data;
  T number;
  bool same;  // every element is `number`
  bool packed;

  __device__ LineInput(const void* from, bool is_same, int64_t head)
      : data(static_cast<const T*>(from)), same(is_same) {
    if (same) number = *data;
    packed = reinterpret_cast<uintptr_t>(data + head) % alignof(Pack<T, kItems>) == 0;
  }
  __device__ T item(int64_t i) const { return same ? number : data[i]; }
  __device__ Pack<T, kItems> pack(int64_t i) const {
    if (packed && !same) return *reinterpret_cast<const Pack<T, kItems>*>(data + i);
    Pack<T, kItems> found;
#pragma unroll
    for (int k = 0; k < kItems; ++k) found.items[k] = item(i + k);
    return found;
  }
};

// to[i] = make(an item of each input) for all elements. Each thread of the grid takes packs; the few
// elements before the first and after the last one are taken singly.
template <class Out, int kItems, class Make, class... Inputs>
__device__ void write_line(Out* to, int64_t numel, int64_t head, const Make& make,
                           const Inputs&... inputs) {
  const int64_t packs = (numel - head) / kItems;
  for (int64_t p = first_index(); p < packs; p += index_step()) {
    const int64_t i = head + p * kItems;
    const auto of_packs = [&](const auto&... loaded) {
      Pack<Out, kItems> results;
#pragma unroll
      for (int k = 0; k < kItems; ++k) results.items[k] = make(loaded.items[k]...);
      return results;
    };
    *reinterpret_cast<Pack<Out, kItems>*>(to + i) = of_packs(inputs.pack(i)...);
  }
  const int64_t skipped = packs * kItems;
  for (int64_t e = first_index(); e < numel - skipped; e += index_step()) {
    const int64_t i = e < head ? e : e + skipped;
    to[i] = make(inputs.item(i)...);
  }
}

// True if operand k of the plan is a line of elements of `size` bytes.
inline bool is_line(const kernel::ElementwisePlan& plan, int k, int64_t size) {
  return plan.ndim == 1 && (plan.strides[k][0] == size || plan.sizes[0] == 1);
}
// True if operand k is one number for all elements.
inline bool is_same(const kernel::ElementwisePlan& plan, int k) {
  return (plan.host_operands >> k & 1U) != 0 || (plan.ndim == 1 && plan.strides[k][0] == 0);
}

// One thread for each pack.
template <class... Parameters, class... Arguments>
kernel::Status launch_line(kernel::Place place, int64_t numel, int items,
                           void (*entry)(Parameters...), const Arguments&... arguments) {
  return launch(place, numel / items + 1, entry, arguments...);
}

}  // namespace tsr::cuda
