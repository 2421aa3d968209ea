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

// Rows of neighbouring elements; `step` is from one to the next.
struct Lines {
  const std::byte* data;
  int64_t step;
};

// B with its rows packed into `room`; no data if there is no room.
Lines pack_rows(const GemmPlan& plan, const void* b, void* room) {
  const int64_t size = itemsize(plan.dtype);
  const auto* from = static_cast<const std::byte*>(b);
  auto* to = static_cast<std::byte*>(room);
  for (int64_t l = 0; to != nullptr && l < plan.k; ++l) {
    copy_strided(plan.n, size, to + l * plan.n * size, size, from + l * plan.b_strides[0] * size,
                 plan.b_strides[1] * size);
  }
  return {to, plan.n};
}

// A row of C = alpha total + beta C, by the row function: first scale by alpha, then add beta times
// the old C.
void add_total(const GemmPlan& plan, MultiplyAddRow multiply_add, bool keeps,
               const std::byte* total, std::byte* target) {
  const int64_t size = itemsize(plan.dtype);
  std::byte scaled[16];
  for (int64_t j = 0; j < plan.n; ++j) {
    std::memset(scaled, 0, sizeof(scaled));
    multiply_add(1, scaled, &plan.alpha, total + j * size);
    std::byte* element = target + j * plan.c_strides[1] * size;
    if (keeps) multiply_add(1, scaled, &plan.beta, element);
    std::memcpy(element, scaled, static_cast<size_t>(size));
  }
}

}  // namespace

bool gemm_integer(const GemmPlan& plan, const void* a, const void* b, void* c) {
  const int64_t size = itemsize(plan.dtype);
  const IntegerProductRows& rows = rows_of<IntegerProductRows>();
  const IntegerProductRow multiply = rows.multiply(plan.dtype);
  const MultiplyAddRow multiply_add = rows.multiply_add(plan.dtype);
  const bool packs = plan.b_strides[1] != 1;
  const Workspace packed(packs ? plan.k * plan.n * size : 0);
  const Lines lines = packs ? pack_rows(plan, b, packed.data())
                            : Lines{static_cast<const std::byte*>(b), plan.b_strides[0]};
  if (packs && lines.data == nullptr && plan.k > 0) return false;
  const bool keeps = !all_zero(&plan.beta, size);
  const bool plain = !keeps && is_one(&plan.alpha, size);
  const bool in_place = plain && plan.c_strides[1] == 1;
  const Workspace sums(in_place ? 0 : plan.m * plan.n * size);
  auto* totals = static_cast<std::byte*>(in_place ? c : sums.data());
  if (totals == nullptr) return false;
  const int64_t line_strides[] = {lines.step, 1};
  const bool narrow = size == 8 && std::min(plan.m, plan.n) >= 8 &&
                      is_narrow(static_cast<const std::byte*>(a), plan.m, plan.k, plan.a_strides) &&
                      is_narrow(lines.data, plan.k, plan.n, line_strides);
  const IntegerProduct product{a,
                               plan.a_strides[0],
                               plan.a_strides[1],
                               lines.data,
                               lines.step,
                               totals,
                               in_place ? plan.c_strides[0] : plan.n,
                               plan.k,
                               plan.n,
                               narrow};
  const auto deliver = [&](int64_t i) {
    const std::byte* total = totals + i * plan.n * size;
    auto* target = static_cast<std::byte*>(c) + i * plan.c_strides[0] * size;
    if (plain) {
      copy_strided(plan.n, size, target, plan.c_strides[1] * size, total, size);
    } else {
      add_total(plan, multiply_add, keeps, total, target);
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
