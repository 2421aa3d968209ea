// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products of integers (wrapping) and bools (or of ands): a row of C is a sum of multiples
// of rows of B.
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

}  // namespace

bool gemm_integer(const GemmPlan& plan, const void* a, const void* b, void* c) {
  const int64_t size = itemsize(plan.dtype);
  const MultiplyAddRow multiply_add = rows_of<IntegerProductRows>().multiply_add(plan.dtype);
  const Workspace packed(plan.b_strides[1] == 1 ? 0 : plan.k * plan.n * size);
  const auto* rows = static_cast<const std::byte*>(b);
  int64_t row_step = plan.b_strides[0] * size;
  if (plan.b_strides[1] != 1) {
    auto* copy = static_cast<std::byte*>(packed.data());
    if (copy == nullptr && plan.k > 0) return false;
    for (int64_t l = 0; l < plan.k; ++l) {
      copy_strided(plan.n, size, copy + l * plan.n * size, size,
                   rows + l * plan.b_strides[0] * size, plan.b_strides[1] * size);
    }
    rows = copy;
    row_step = plan.n * size;
  }
  const Workspace sums(plan.m * plan.n * size);
  auto* totals = static_cast<std::byte*>(sums.data());
  if (totals == nullptr) return false;
  const bool keeps = !all_zero(&plan.beta, size);
  const bool plain = !keeps && is_one(&plan.alpha, size);
  parallel_for(plan.m, std::max<int64_t>(1, 65536 / std::max<int64_t>(plan.n * plan.k, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::byte* total = totals + i * plan.n * size;
                   auto* target = static_cast<std::byte*>(c) + i * plan.c_strides[0] * size;
                   std::memset(total, 0, static_cast<size_t>(plan.n * size));
                   for (int64_t l = 0; l < plan.k; ++l) {
                     const auto* factor = static_cast<const std::byte*>(a) +
                                          (i * plan.a_strides[0] + l * plan.a_strides[1]) * size;
                     multiply_add(plan.n, total, factor, rows + l * row_step);
                   }
                   if (plain) {
                     copy_strided(plan.n, size, target, plan.c_strides[1] * size, total, size);
                     continue;
                   }
                   // total = alpha total + beta C, by the same row function: first scale by alpha,
                   // then add beta times the old C.
                   std::byte scaled[16];
                   for (int64_t j = 0; j < plan.n; ++j) {
                     std::memset(scaled, 0, sizeof(scaled));
                     multiply_add(1, scaled, &plan.alpha, total + j * size);
                     std::byte* element = target + j * plan.c_strides[1] * size;
                     if (keeps) multiply_add(1, scaled, &plan.beta, element);
                     std::memcpy(element, scaled, static_cast<size_t>(size));
                   }
                 }
               });
  return true;
}

}  // namespace tsr::cpu
