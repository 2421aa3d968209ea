// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What both passes of attention share: blocks of operands in the type of the computation, their
// products, and the mask of a row of scores.
#pragma once

#include <algorithm>

#include "backend/cpu/linalg/blas.h"
#include "backend/cpu/nn/attention_rows.h"
#include "backend/cpu/random/random_rows.h"
#include "backend/cpu/widen.h"
#include "kernel/attention.h"

namespace tsr::cpu {

// The rows and columns of a block of scores: with them the block, the keys and the values stay in
// the cache of one core.
inline constexpr int64_t kBlockQueries = 128;
inline constexpr int64_t kBlockKeys = 256;

inline int64_t attention_matrices(const kernel::AttentionPlan& plan) {
  return plan.batch[0] * plan.batch[1] * plan.batch[2];
}
inline int64_t attention_offset(const kernel::AttentionPlan& plan,
                                const kernel::AttentionMatrix& operand, int64_t matrix) {
  const int64_t inner = matrix % plan.batch[2];
  const int64_t rest = matrix / plan.batch[2];
  return rest / plan.batch[1] * operand.batch_strides[0] +
         rest % plan.batch[1] * operand.batch_strides[1] + inner * operand.batch_strides[2];
}

// How many tasks of so many queries are worth a thread.
inline int64_t attention_grain(const kernel::AttentionPlan& plan, int64_t queries) {
  constexpr int64_t kGrain = 65536;  // multiplications
  const int64_t work = queries * plan.keys * (plan.width + plan.value_width);
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(work, 1));
}

// Rows of numbers of type T, `step` apart.
template <class T>
struct Block {
  T* data;
  int64_t step;
  [[nodiscard]] T* row(int64_t i) const { return data + i * step; }
};

// The operands of one plan, stored as S.
template <class S>
class AttentionBlocks {
 public:
  using T = Opmath<S>;

  AttentionBlocks(const kernel::AttentionPlan& plan, const BlasUse& blas)
      : plan_(plan),
        blas_(blas),
        rows_(rows_of<AttentionRows<T>>()),
        draw_(rows_of<RandomRows>().find(kernel::RandomOp::kBernoulli, dtype_of<T>())) {}

  [[nodiscard]] const kernel::AttentionPlan& plan() const { return plan_; }
  [[nodiscard]] const AttentionRows<T>& rows() const { return rows_; }

  // A row of a matrix in memory.
  [[nodiscard]] S* place(const kernel::AttentionMatrix& operand, int64_t matrix,
                         int64_t row) const {
    return static_cast<S*>(operand.data) + attention_offset(plan_, operand, matrix) +
           row * operand.row_stride;
  }

  // Rows [first, first + count) of a matrix: in place, or widened into the buffer.
  [[nodiscard]] Block<const T> read(const kernel::AttentionMatrix& operand, int64_t matrix,
                                    int64_t first, int64_t count, int64_t columns,
                                    T* buffer) const {
    const S* from = place(operand, matrix, first);
    if constexpr (kIsShort<S>) {
      for (int64_t i = 0; i < count; ++i)
        widen_.read(columns, from + i * operand.row_stride, buffer + i * columns);
      return {buffer, columns};
    } else {
      return {from, operand.row_stride};
    }
  }
  // Where these rows are computed: in place or in the buffer, from which `write` narrows them.
  [[nodiscard]] Block<T> target(const kernel::AttentionMatrix& operand, int64_t matrix,
                                int64_t first, int64_t columns, T* buffer) const {
    if (operand.data == nullptr) return {nullptr, 0};
    if constexpr (kIsShort<S>)
      return {buffer, columns};
    else
      return {place(operand, matrix, first), operand.row_stride};
  }
  void write(const kernel::AttentionMatrix& operand, int64_t matrix, int64_t first, int64_t count,
             int64_t columns, const Block<T>& from) const {
    if constexpr (!kIsShort<S>) return;
    S* to = place(operand, matrix, first);
    for (int64_t i = 0; i < count; ++i)
      widen_.write(columns, to + i * operand.row_stride, from.row(i));
  }

  // c = alpha a b (+ c): a is m x k or, transposed, stored as k x m; b likewise.
  void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,
               const Block<const T>& a, const Block<const T>& b, bool add,
               const Block<T>& c) const {
    if (m == 0 || n == 0) return;
    const auto flag = [](bool t) { return t ? BlasTranspose::kYes : BlasTranspose::kNo; };
    // The step of a single row may be anything.
    const auto leading = [](int64_t step, int64_t columns) {
      return static_cast<int>(std::max({step, columns, int64_t{1}}));
    };
    const auto call = [&](auto gemm) {
      gemm(BlasOrder::kRows, flag(transpose_a), flag(transpose_b), static_cast<int>(m),
           static_cast<int>(n), static_cast<int>(k), alpha, a.data,
           leading(a.step, transpose_a ? m : k), b.data, leading(b.step, transpose_b ? k : n),
           add ? T{1} : T{0}, c.data, leading(c.step, n));
    };
    if constexpr (std::is_same_v<T, float>)
      call(blas_->sgemm);
    else
      call(blas_->dgemm);
  }

  // How many of the keys [first, first + count) query i sees.
  [[nodiscard]] int64_t seen(int64_t query, int64_t first, int64_t count) const {
    return plan_.causal != 0 ? std::clamp<int64_t>(query + 1 - first, 0, count) : count;
  }

  // The mask of keys [first, first + count) on a row of scores; the buffer has room for `count`
  // numbers.
  void mask(int64_t matrix, int64_t query, int64_t first, int64_t count, T* buffer,
            T* scores) const {
    if (plan_.mask.data == nullptr || count == 0) return;
    const int64_t step = plan_.mask_column_stride;
    const int64_t at =
        attention_offset(plan_, plan_.mask, matrix) + query * plan_.mask.row_stride + first * step;
    if (plan_.mask_dtype == DType::kBool) {
      const auto* from = static_cast<const uint8_t*>(plan_.mask.data) + at;
      rows_.hide(count, gathered(from, step, count, reinterpret_cast<uint8_t*>(buffer)), scores);
    } else {
      const S* from = static_cast<const S*>(plan_.mask.data) + at;
      if constexpr (kIsShort<S>) {
        if (step == 1)
          widen_.read(count, from, buffer);
        else
          for (int64_t j = 0; j < count; ++j) buffer[j] = static_cast<float>(from[j * step]);
        rows_.add(count, buffer, scores);
      } else {
        rows_.add(count, gathered(from, step, count, buffer), scores);
      }
    }
  }

  // Dropout's factors of keys [first, first + count) for one query.
  void draw(int64_t matrix, int64_t query, int64_t first, int64_t count, T* factors) const {
    kernel::RandomPlan plan{};
    plan.op = kernel::RandomOp::kBernoulli;
    plan.dtype = dtype_of<T>();
    plan.seed = plan_.seed;
    plan.offset =
        plan_.offset + static_cast<uint64_t>((matrix * plan_.queries + query) * plan_.keys + first);
    plan.p0 = 1 - plan_.dropout;
    plan.p1 = plan_.dropout < 1 ? 1 / (1 - plan_.dropout) : 0;
    plan.output = factors;
    draw_(plan, 0, count);
  }

 private:
  template <class E>
  static const E* gathered(const E* from, int64_t step, int64_t count, E* buffer) {
    if (step == 1) return from;
    for (int64_t j = 0; j < count; ++j) buffer[j] = from[j * step];
    return buffer;
  }

  const kernel::AttentionPlan& plan_;
  const BlasUse& blas_;
  const AttentionRows<T>& rows_;
  RandomRow draw_;
  Widen<S> widen_;
};

// Divides one workspace into arrays of T.
template <class T>
class Divided {
 public:
  explicit Divided(void* memory) : next_(static_cast<T*>(memory)) {}
  T* take(int64_t count) {
    T* const mine = next_;
    next_ += (count + kLine - 1) / kLine * kLine;
    return mine;
  }
  // The bytes for arrays of these lengths.
  static int64_t bytes(std::initializer_list<int64_t> counts) {
    int64_t total = 0;
    for (const int64_t count : counts) total += (count + kLine - 1) / kLine * kLine;
    return total * static_cast<int64_t>(sizeof(T));
  }

 private:
  static constexpr int64_t kLine = 64;  // numbers: arrays do not share a cache line
  T* next_;
};

// The gradients; `attention` calls it.
kernel::Status attention_backward(const kernel::AttentionPlan& plan);

}  // namespace tsr::cpu
