// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The neural-network and index rows of one instruction-set level.
#include <cstring>

#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/isa/depthwise_rows.h"
#include "backend/cpu/isa/norm_rows.h"
#include "backend/cpu/isa/optim_rows.h"
#include "backend/cpu/isa/pool_rows.h"
#include "backend/cpu/isa/skinny_rows.h"
#include "backend/cpu/isa/softmax_rows.h"

namespace tsr::cpu::TSR_ISA {
namespace {

template <class T>
constexpr NnRows<T> make_rows() {
  return {
      .softmax = softmax<T>,
      .softmax_backward = softmax_backward<T>,
      .softmax_strided = softmax_strided<T>,
      .softmax_strided_backward = softmax_strided_backward<T>,
      .log_sum_exp = log_sum_exp<T>,
      .class_loss_backward = class_loss_backward<T>,
      .moments = moments<T>,
      .moments_backward = moments_backward<T>,
      .normalize = normalize<T>,
      .normalize_backward = normalize_backward<T>,
      .moments_channels = moments_channels<T>,
      .moments_channels_backward = moments_channels_backward<T>,
      .normalize_channels = normalize_channels<T>,
      .normalize_channels_backward = normalize_channels_backward<T>,
      .layer_norm = layer_norm<T>,
      .layer_norm_backward = layer_norm_backward<T>,
      .max_pool = max_pool<T>,
      .average_pool = average_pool<T>,
      .average_pool_backward = average_pool_backward<T>,
      .depthwise_forward = depthwise_forward<T>,
      .depthwise_backward_input = depthwise_backward_input<T>,
      .depthwise_backward_weight = depthwise_backward_weight<T>,
      .skinny_dots = skinny_dots<T>,
      .skinny_sums = skinny_sums<T>,
      .skinny_outer = skinny_outer<T>,
      .adam = adam<T>,
      .sgd = sgd<T>,
      .sum_of_squares = sum_of_squares<T>,
      .scale = scale<T>,
  };
}

uint64_t outside_signs(int64_t count, const void* indices, uint64_t below, uint64_t size) {
  const auto* bytes = static_cast<const char*>(indices);
  uint64_t signs = 0;
#pragma omp simd reduction(| : signs)
  for (int64_t i = 0; i < count; ++i) {
    uint64_t index = 0;
    std::memcpy(&index, bytes + i * 8, sizeof(index));
    signs |= outside_sign(index, below, size);
  }
  return signs;
}

template <class T>
void add_row(int64_t count, void* to, const void* from) {
  auto* target = static_cast<T*>(to);
  const auto* source = static_cast<const T*>(from);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) target[i] += source[i];
}

}  // namespace

extern const NnRows<float> kNnRowsFloat;
extern const NnRows<double> kNnRowsDouble;
const NnRows<float> kNnRowsFloat = make_rows<float>();
const NnRows<double> kNnRowsDouble = make_rows<double>();

extern const IndexRows kIndexRows;
const IndexRows kIndexRows{outside_signs, add_row<float>, add_row<double>};

}  // namespace tsr::cpu::TSR_ISA
