// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Elementwise work in packs.
//
// Note [Packs]
// A plan is walked over in packs if the elements of its last dim are neighbours in the output, and
// in each input are neighbours too or one number (a row of a bias has neighbours, a column is one
// number in each row). Then a thread finds its place once for a pack. With one dim, a line, the
// packs begin at the first place where the output has one, and the few elements before and after
// them are taken singly. With more dims each row must be a whole number of packs, which begin where
// the output has them. An input that has no pack there, as a slice may, is read element by element.
#pragma once

#include <optional>

#include "backend/cuda/launch.cuh"
#include "backend/cuda/packed.cuh"

namespace tsr::cuda {

// How the operands lie; operand 0 is the output.
template <int K>
struct Packs {
  ShortWalk<K> walk;      // over the packs
  int64_t before, after;  // single elements of a line
  uint32_t packed;        // bit k: operand k has packs
  uint32_t same;          // bit k: operand k is one number in each row
};

// `sizes` are those of an element of each operand, `items` the elements of a pack.
template <int K>
std::optional<Packs<K>> packs_of(const kernel::ElementwisePlan& plan, const int64_t (&sizes)[K],
                                 int items) {
  const int32_t last = plan.ndim - 1;
  if (plan.ndim > kShortRank) return std::nullopt;
  Packs<K> packs{};
  const int64_t row = plan.sizes[last];
  for (int k = 0; k < K; ++k) {
    const int64_t stride = plan.strides[k][last];
    if (k > 0 && ((plan.host_operands >> k & 1U) != 0 || (stride == 0 && row > 1)))
      packs.same |= 1U << k;
    else if (stride != sizes[k] && row > 1)
      return std::nullopt;
  }
  const auto alignment = [&](int k) { return std::min<int64_t>(sizes[k] * items, kPackBytes); };
  if (last == 0) {
    const auto beyond = static_cast<int64_t>(reinterpret_cast<uintptr_t>(plan.data[0]) %
                                             static_cast<uintptr_t>(alignment(0)));
    packs.before = std::min((alignment(0) - beyond) % alignment(0) / sizes[0], row);
    packs.after = (row - packs.before) % items;
  }
  for (int k = 0; k < K; ++k) {
    if ((packs.same >> k & 1U) != 0) continue;
    bool aligned = (reinterpret_cast<uintptr_t>(plan.data[k]) +
                    static_cast<uintptr_t>(packs.before * sizes[k])) %
                       static_cast<uintptr_t>(alignment(k)) ==
                   0;
    for (int32_t d = 0; d < last; ++d)
      aligned = aligned && (plan.sizes[d] == 1 || plan.strides[k][d] % alignment(k) == 0);
    if (aligned) packs.packed |= 1U << k;
  }
  const int64_t of_row = (row - packs.before - packs.after) / items;
  if (last > 0 && (row % items != 0 || (packs.packed & 1U) == 0)) return std::nullopt;
  packs.walk.ndim = plan.ndim;
  packs.walk.numel = of_row;
  for (int32_t d = 0; d < plan.ndim; ++d) {
    packs.walk.sizes[d] = d == last ? of_row : plan.sizes[d];
    if (d < last) packs.walk.numel *= plan.sizes[d];
    for (int k = 0; k < K; ++k) {
      const bool same = (packs.same >> k & 1U) != 0;
      const bool host = (plan.host_operands >> k & 1U) != 0;
      packs.walk.strides[k][d] = host       ? 0
                                 : d < last ? plan.strides[k][d]
                                 : same     ? 0
                                            : sizes[k] * items;
    }
  }
  return packs;
}

// Operand kOperand of a plan, as elements of type T.
template <class T, int kItems, int kOperand>
struct PackInput {
  static constexpr int kWhich = kOperand;
  const T* first;  // the element where the packs begin, or the number
  bool same, packed;

  // `at` is where `data` or the number is.
  template <int K>
  __device__ PackInput(const Packs<K>& packs, const void* at)
      : first(static_cast<const T*>(at)),
        same((packs.same >> kOperand & 1U) != 0),
        packed((packs.packed >> kOperand & 1U) != 0) {
    if (!same) first += packs.before;
  }
  __device__ Pack<T, kItems> pack(int64_t offset) const {
    const T* const from = reinterpret_cast<const T*>(reinterpret_cast<const char*>(first) + offset);
    if (packed) return *reinterpret_cast<const Pack<T, kItems>*>(from);
    Pack<T, kItems> found;
#pragma unroll
    for (int i = 0; i < kItems; ++i) found.items[i] = from[same ? 0 : i];
    return found;
  }
  // Of a line: element i from the first pack on.
  __device__ T single(int64_t i) const {
    return first[same ? 0 : i];
  }
};

// Writes make(an item of each input) to every place of the output.
template <class Out, int kItems, int K, class Make, class... Inputs>
__device__ void write_packs(const Packs<K>& packs, void* output, const Make& make,
                            const Inputs&... inputs) {
  Out* const to = static_cast<Out*>(output) + packs.before;
  for (int64_t p = first_index(); p < packs.walk.numel; p += index_step()) {
    int64_t at[K];
    packs.walk.offsets(p, at);
    const auto made = [&](const auto&... loaded) {
      Pack<Out, kItems> results;
#pragma unroll
      for (int i = 0; i < kItems; ++i) results.items[i] = make(loaded.items[i]...);
      return results;
    };
    *reinterpret_cast<Pack<Out, kItems>*>(reinterpret_cast<char*>(to) + at[0]) =
        made(inputs.pack(at[Inputs::kWhich])...);
  }
  for (int64_t e = first_index(); e < packs.before + packs.after; e += index_step()) {
    const int64_t i =
        e < packs.before ? e - packs.before : e - packs.before + packs.walk.numel * kItems;
    to[i] = make(inputs.single(i)...);
  }
}

// One thread for each pack.
template <int K, class... Parameters, class... Arguments>
kernel::Status launch_packs(kernel::Place place, const Packs<K>& packs,
                            void (*entry)(Parameters...), const Arguments&... arguments) {
  return launch(place, packs.walk.numel + (packs.before + packs.after != 0 ? kThreads : 0), entry,
                packs, arguments...);
}

}  // namespace tsr::cuda
