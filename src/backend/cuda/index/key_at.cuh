// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The sort key of an element whose dtype is known at run time.
#pragma once

#include "backend/common/sort_key.h"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

__device__ inline uint64_t key_at(DType dtype, const void* data) {
  switch (dtype) {
    case DType::kFloat64:
      return math::sort_key(*static_cast<const double*>(data));
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
      return math::sort_key(static_cast<float>(load_as<double>(dtype, data)));
    case DType::kUInt64:
      return *static_cast<const uint64_t*>(data);
    case DType::kInt64:
      return math::sort_key(*static_cast<const int64_t*>(data));
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
      return math::sort_key(static_cast<int32_t>(load_as<int64_t>(dtype, data)));
    default:
      return load_as<uint64_t>(dtype, data);
  }
}

// ---- Keys of as many bits as the dtype has: a radix sort takes time for each ----

inline int significant_bits(DType dtype) {
  return static_cast<int>(8 * itemsize(dtype));
}

// The order of key_at; bits above significant_bits are 0.
__device__ inline uint64_t narrow_key_at(DType dtype, const void* data) {
  switch (dtype) {
    case DType::kFloat16:
      return math::short_float_key(*static_cast<const uint16_t*>(data), 0x7c00);
    case DType::kBFloat16:
      return math::short_float_key(*static_cast<const uint16_t*>(data), 0x7f80);
    case DType::kInt8:
      return *static_cast<const uint8_t*>(data) ^ 0x80U;
    case DType::kInt16:
      return *static_cast<const uint16_t*>(data) ^ 0x8000U;
    default:
      return key_at(dtype, data);
  }
}

}  // namespace tsr::cuda
