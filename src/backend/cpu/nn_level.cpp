// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The neural-network rows of one instruction-set level.
#include "backend/cpu/norm_rows.h"
#include "backend/cpu/optim_rows.h"
#include "backend/cpu/pool_rows.h"
#include "backend/cpu/softmax_rows.h"

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
      .adam = adam<T>,
      .sgd = sgd<T>,
      .sum_of_squares = sum_of_squares<T>,
      .scale = scale<T>,
  };
}

}  // namespace

extern const NnRows<float> kNnRowsFloat;
extern const NnRows<double> kNnRowsDouble;
const NnRows<float> kNnRowsFloat = make_rows<float>();
const NnRows<double> kNnRowsDouble = make_rows<double>();

}  // namespace tsr::cpu::TSR_ISA
