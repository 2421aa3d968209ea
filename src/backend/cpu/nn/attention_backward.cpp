// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention, backward: a task is one matrix of the batch. Blocks of probabilities are computed
// again from the scores and lse (Dao, "FlashAttention-2", 2023).
#include <atomic>
#include <cmath>

#include "backend/cpu/host.h"
#include "backend/cpu/nn/attention_blocks.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::AttentionMatrix;
using kernel::AttentionPlan;
using kernel::Status;

// With P the probabilities, D dropout's factors and G the gradient of the output:
//   dV = (P D)ᵀ G, dP = (G Vᵀ) D, dS = P (dP - Σ_j dP P), where Σ_j dP P = Σ G output,
//   dQ = scale dS K, dK = scale dSᵀ Q
template <class S>
class Gradients {
 public:
  using T = Opmath<S>;

  Gradients(const AttentionPlan& plan, const BlasUse& blas)
      : plan_(plan),
        blocks_(plan, blas),
        queries_(std::min(plan.queries, kBlockQueries)),
        keys_(std::min(plan.keys, kBlockKeys)) {}

  [[nodiscard]] int64_t space_bytes() const {
    const int64_t scores = queries_ * keys_;
    return Divided<T>::bytes({scores, scores, plan_.dropout > 0 ? scores : 0, plan_.queries, keys_,
                              widened(queries_ * plan_.width),
                              widened(queries_ * plan_.value_width), widened(keys_ * plan_.width),
                              widened(keys_ * plan_.value_width),
                              widened(plan_.queries * plan_.width), widened(keys_ * plan_.width),
                              widened(keys_ * plan_.value_width)});
  }

  void run(int64_t matrix, void* memory) const {
    const Scratch scratch = divide(memory);
    set_totals(matrix, scratch);
    const Block<T> grad_query =
        blocks_.target(plan_.grad_query, matrix, 0, plan_.width, scratch.grad_query);
    for (int64_t key = 0; key < plan_.keys; key += keys_)
      run_keys(matrix, key, scratch, grad_query);
    if (plan_.grad_query.data != nullptr)
      blocks_.write(plan_.grad_query, matrix, 0, plan_.queries, plan_.width, grad_query);
  }

 private:
  struct Scratch {
    Block<T> probabilities, slopes, factors;
    T *totals, *buffer;
    // Only for 16-bit floats.
    T *query, *grad, *key, *value, *grad_query, *grad_key, *grad_value;
  };
  static int64_t widened(int64_t count) { return kIsShort<S> ? count : 0; }

  [[nodiscard]] Scratch divide(void* memory) const {
    Divided<T> space(memory);
    const int64_t scores = queries_ * keys_;
    Scratch s;
    s.probabilities = {space.take(scores), keys_};
    s.slopes = {space.take(scores), keys_};
    s.factors = {space.take(plan_.dropout > 0 ? scores : 0), keys_};
    s.totals = space.take(plan_.queries);
    s.buffer = space.take(keys_);
    s.query = space.take(widened(queries_ * plan_.width));
    s.grad = space.take(widened(queries_ * plan_.value_width));
    s.key = space.take(widened(keys_ * plan_.width));
    s.value = space.take(widened(keys_ * plan_.value_width));
    s.grad_query = space.take(widened(plan_.queries * plan_.width));
    s.grad_key = space.take(widened(keys_ * plan_.width));
    s.grad_value = space.take(widened(keys_ * plan_.value_width));
    return s;
  }

  // Σ G output of every query.
  void set_totals(int64_t matrix, const Scratch& s) const {
    for (int64_t first = 0; first < plan_.queries; first += queries_) {
      const int64_t count = std::min(queries_, plan_.queries - first);
      const Block<const T> grad =
          blocks_.read(plan_.grad, matrix, first, count, plan_.value_width, s.grad);
      for (int64_t i = 0; i < count; ++i) {
        const Block<const T> out =
            blocks_.read(plan_.output, matrix, first + i, 1, plan_.value_width, s.value);
        s.totals[first + i] = blocks_.rows().dot(plan_.value_width, grad.row(i), out.data);
      }
    }
  }

  // All that a block of keys takes part in.
  void run_keys(int64_t matrix, int64_t first, const Scratch& s, const Block<T>& grad_query) const {
    const int64_t count = std::min(keys_, plan_.keys - first);
    const Block<const T> key = blocks_.read(plan_.key, matrix, first, count, plan_.width, s.key);
    const Block<const T> value =
        blocks_.read(plan_.value, matrix, first, count, plan_.value_width, s.value);
    const Block<T> grad_key =
        blocks_.target(plan_.grad_key, matrix, first, plan_.width, s.grad_key);
    const Block<T> grad_value =
        blocks_.target(plan_.grad_value, matrix, first, plan_.value_width, s.grad_value);
    bool add = false;
    const int64_t start = plan_.causal != 0 ? first / queries_ * queries_ : 0;
    for (int64_t at = start; at < plan_.queries; at += queries_, add = true) {
      const int64_t rows = std::min(queries_, plan_.queries - at);
      const Block<const T> query =
          blocks_.read(plan_.query, matrix, at, rows, plan_.width, s.query);
      const Block<const T> grad =
          blocks_.read(plan_.grad, matrix, at, rows, plan_.value_width, s.grad);
      blocks_.product(false, true, rows, count, plan_.width, static_cast<T>(plan_.scale), query,
                      key, false, s.probabilities);
      for (int64_t i = 0; i < rows; ++i) restore(matrix, at + i, first, count, i, s);
      if (plan_.grad_query.data != nullptr || plan_.grad_key.data != nullptr) {
        blocks_.product(false, true, rows, count, plan_.value_width, T{1}, grad, value, false,
                        s.slopes);
        for (int64_t i = 0; i < rows; ++i) slope(at + i, first, count, i, s);
      }
      sum_up({at, rows, first, count, add}, {query, key, grad}, s, grad_query, grad_key,
             grad_value);
    }
    store(plan_.grad_key, matrix, first, count, plan_.width, grad_key, add);
    store(plan_.grad_value, matrix, first, count, plan_.value_width, grad_value, add);
  }

  struct Place {
    int64_t query, rows, key, count;
    bool add;  // not the first queries of these keys
  };
  struct Operands {
    Block<const T> query, key, grad;
  };
  void sum_up(const Place& at, const Operands& of, const Scratch& s, const Block<T>& grad_query,
              const Block<T>& grad_key, const Block<T>& grad_value) const {
    const T scale = static_cast<T>(plan_.scale);
    const Block<const T> slopes{s.slopes.data, s.slopes.step};
    if (plan_.grad_query.data != nullptr) {
      const int64_t seen = std::min(at.count, kernel::seen_keys(plan_) - at.key);
      blocks_.product(false, false, at.rows, plan_.width, seen, scale, slopes, of.key, at.key != 0,
                      {grad_query.row(at.query), grad_query.step});
    }
    if (plan_.grad_key.data != nullptr) {
      blocks_.product(true, false, at.count, plan_.width, at.rows, scale, slopes, of.query, at.add,
                      grad_key);
    }
    if (plan_.grad_value.data != nullptr) {
      if (plan_.dropout > 0) {
        for (int64_t i = 0; i < at.rows; ++i)
          blocks_.rows().multiply(at.count, s.factors.row(i), s.probabilities.row(i));
      }
      blocks_.product(true, false, at.count, plan_.value_width, at.rows, T{1},
                      {s.probabilities.data, s.probabilities.step}, of.grad, at.add, grad_value);
    }
  }

  // The probabilities of one query from its scores; those of keys that it does not see are 0.
  void restore(int64_t matrix, int64_t query, int64_t first, int64_t count, int64_t i,
               const Scratch& s) const {
    T* const row = s.probabilities.row(i);
    const int64_t seen = blocks_.seen(query, first, count);
    std::fill(row + seen, row + count, T{0});
    blocks_.mask(matrix, query, first, seen, s.buffer, row);
    const T lse = static_cast<const T*>(plan_.lse)[matrix * plan_.queries + query];
    blocks_.rows().exponentials(seen, lse, row);
    if (plan_.dropout > 0) blocks_.draw(matrix, query, first, count, s.factors.row(i));
  }
  void slope(int64_t query, int64_t first, int64_t count, int64_t i, const Scratch& s) const {
    const int64_t seen = blocks_.seen(query, first, count);
    T* const row = s.slopes.row(i);
    if (plan_.dropout > 0) blocks_.rows().multiply(seen, s.factors.row(i), row);
    blocks_.rows().slopes(seen, s.probabilities.row(i), s.totals[query], row);
    std::fill(row + seen, row + count, T{0});
  }

  // `written`: whether any query sees these keys.
  void store(const AttentionMatrix& operand, int64_t matrix, int64_t first, int64_t count,
             int64_t columns, const Block<T>& from, bool written) const {
    if (operand.data == nullptr) return;
    for (int64_t i = 0; !written && i < count; ++i) std::fill_n(from.row(i), columns, T{0});
    blocks_.write(operand, matrix, first, count, columns, from);
  }

  const AttentionPlan& plan_;
  AttentionBlocks<S> blocks_;
  int64_t queries_, keys_;  // of a block
};

}  // namespace

Status attention_backward(const AttentionPlan& plan) {
  return visit_storage(plan.dtype, "attention: expected a real floating dtype", [&]<class S>() {
    const int64_t matrices = attention_matrices(plan);
    if (matrices == 0) return kernel::kOk;
    const BlasUse blas(BlasCalls::kSideBySide);
    if (!blas) return blas.status();
    const Gradients<S> pass(plan, blas);
    std::atomic<bool> ok{true};
    parallel_for(matrices, attention_grain(plan, plan.queries), [&](int64_t begin, int64_t end) {
      const Workspace space(pass.space_bytes());
      if (space.data() == nullptr) {
        ok = false;
        return;
      }
      for (int64_t matrix = begin; matrix < end; ++matrix) pass.run(matrix, space.data());
    });
    return ok ? kernel::kOk : failure(Code::kOutOfMemory, "attention: no scratch memory");
  });
}

}  // namespace tsr::cpu
