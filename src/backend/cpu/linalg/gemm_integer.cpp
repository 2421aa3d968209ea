// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products of integers (wrapping) and bools (or of ands).
#include <algorithm>
#include <cstring>

#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/product_rows.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::GemmPlan;

namespace {

bool all_zero(const void* data, int64_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return std::all_of(bytes, bytes + size, [](std::byte value) { return value == std::byte{0}; });
}

bool is_one(const void* data, int64_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return bytes[0] == std::byte{1} && all_zero(bytes + 1, size - 1);
}

// Whether int32 can hold all elements of a matrix of 64-bit numbers.
bool is_narrow(const std::byte* data, int64_t rows, int64_t columns, const int64_t strides[2]) {
  uint64_t all = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      uint64_t element = 0;
      std::memcpy(&element, data + (i * strides[0] + j * strides[1]) * 8, sizeof(element));
      all |= element + (uint64_t{1} << 31);
    }
  }
  return all >> 32 == 0;
}

}  // namespace

bool gemm_integer(const GemmPlan& plan, const void* a, const void* b, void* c) {
  const int64_t size = itemsize(plan.dtype);
  const IntegerProductRows& rows = rows_of<IntegerProductRows>();
  const IntegerProductRow multiply = rows.multiply(plan.dtype);
  const MultiplyAddRow multiply_add = rows.multiply_add(plan.dtype);
  const Workspace packed(plan.b_strides[1] == 1 ? 0 : plan.k * plan.n * size);
  const auto* lines = static_cast<const std::byte*>(b);
  int64_t line_step = plan.b_strides[0];
  if (plan.b_strides[1] != 1) {
    auto* copy = static_cast<std::byte*>(packed.data());
    if (copy == nullptr && plan.k > 0) return false;
    for (int64_t l = 0; l < plan.k; ++l) {
      copy_strided(plan.n, size, copy + l * plan.n * size, size,
                   lines + l * plan.b_strides[0] * size, plan.b_strides[1] * size);
    }
    lines = copy;
    line_step = plan.n;
  }
  const bool keeps = !all_zero(&plan.beta, size);
  const bool plain = !keeps && is_one(&plan.alpha, size);
  const bool in_place = plain && plan.c_strides[1] == 1;
  const Workspace sums(in_place ? 0 : plan.m * plan.n * size);
  auto* totals = static_cast<std::byte*>(in_place ? c : sums.data());
  if (totals == nullptr) return false;
  const int64_t line_strides[] = {line_step, 1};
  const bool narrow = size == 8 && std::min(plan.m, plan.n) >= 8 &&
                      is_narrow(static_cast<const std::byte*>(a), plan.m, plan.k, plan.a_strides) &&
                      is_narrow(lines, plan.k, plan.n, line_strides);
  const IntegerProduct product{a,
                               plan.a_strides[0],
                               plan.a_strides[1],
                               lines,
                               line_step,
                               totals,
                               in_place ? plan.c_strides[0] : plan.n,
                               plan.k,
                               plan.n,
                               narrow};
  // total = alpha total + beta C, by the row function: first scale by alpha, then add beta times
  // the old C.
  const auto deliver = [&](int64_t i) {
    const std::byte* total = totals + i * plan.n * size;
    auto* target = static_cast<std::byte*>(c) + i * plan.c_strides[0] * size;
    if (plain) {
      copy_strided(plan.n, size, target, plan.c_strides[1] * size, total, size);
      return;
    }
    std::byte scaled[16];
    for (int64_t j = 0; j < plan.n; ++j) {
      std::memset(scaled, 0, sizeof(scaled));
      multiply_add(1, scaled, &plan.alpha, total + j * size);
      std::byte* element = target + j * plan.c_strides[1] * size;
      if (keeps) multiply_add(1, scaled, &plan.beta, element);
      std::memcpy(element, scaled, static_cast<size_t>(size));
    }
  };
  parallel_for(plan.m, std::max<int64_t>(4, 65536 / std::max<int64_t>(plan.n * plan.k, 1)),
               [&](int64_t begin, int64_t end) {
                 multiply(product, begin, end);
                 for (int64_t i = begin; i < end && !in_place; ++i) deliver(i);
               });
  return true;
}

}  // namespace tsr::cpu
