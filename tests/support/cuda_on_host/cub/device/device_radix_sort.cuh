// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of CUB that the CUDA backend uses, on the host: a stable sort by some bits of the keys.
// As in CUB there are two calls; the first one only returns the size of the scratch memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../cuda_runtime.h"

namespace cub {

template <class T>
class DoubleBuffer {
 public:
  DoubleBuffer(T* current, T* alternate) : buffers_{current, alternate} {}
  T* Current() const { return buffers_[selector]; }
  T* Alternate() const { return buffers_[selector ^ 1]; }

  int selector = 0;

 private:
  T* buffers_[2];
};

struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairs(void* scratch, size_t& nbytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, int64_t count, int begin_bit,
                               int end_bit, cudaStream_t stream) {
    // Any size but 0 shows whether the caller allocates the size that was requested.
    const size_t needed = 4096;
    if (scratch == nullptr) {
      nbytes = needed;
      return cudaSuccess;
    }
    if (nbytes < needed || begin_bit < 0 || end_bit > static_cast<int>(8 * sizeof(Key)))
      return cudaErrorInvalidValue;
    const DoubleBuffer<Key> from = keys;
    const DoubleBuffer<Value> values_from = values;
    keys.selector ^= 1;
    values.selector ^= 1;
    return tsr::cuda::on_host::enqueue("launch", stream, [=] {
      std::memset(scratch, 0xab, nbytes);
      sort(from, values_from, count, begin_bit, end_bit);
    });
  }

 private:
  template <class Key, class Value>
  static void sort(const DoubleBuffer<Key>& keys, const DoubleBuffer<Value>& values, int64_t count,
                   int begin_bit, int end_bit) {
    const auto window = [&](Key key) {
      const int width = end_bit - begin_bit;
      const Key mask = width >= static_cast<int>(8 * sizeof(Key)) ? ~Key{0} : (Key{1} << width) - 1;
      return key >> begin_bit & mask;
    };
    std::vector<int64_t> order(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) order[static_cast<size_t>(i)] = i;
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return window(keys.Current()[a]) < window(keys.Current()[b]);
    });
    for (int64_t i = 0; i < count; ++i) {
      keys.Alternate()[i] = keys.Current()[order[static_cast<size_t>(i)]];
      values.Alternate()[i] = values.Current()[order[static_cast<size_t>(i)]];
    }
  }
};

}  // namespace cub
