// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention, forward: a task is a block of queries of one matrix. It walks over blocks of keys with
// a running maximum and a running sum of every row (Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018), so that only one block of scores exists for a thread.
#include <atomic>
#include <cmath>
#include <limits>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/nn/attention_blocks.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::AttentionPlan;
using kernel::Status;

template <class S>
class Forward {
 public:
  using T = Opmath<S>;

  Forward(const AttentionPlan& plan, const BlasUse& blas)
      : plan_(plan),
        blocks_(plan, blas),
        queries_(std::min(plan.queries, kBlockQueries)),
        keys_(std::min(plan.keys, kBlockKeys)),
        parts_((plan.queries + queries_ - 1) / queries_) {}

  [[nodiscard]] int64_t tasks() const { return attention_matrices(plan_) * parts_; }
  [[nodiscard]] int64_t grain() const { return attention_grain(plan_, queries_); }
  [[nodiscard]] int64_t space_bytes() const {
    return Divided<T>::bytes({queries_ * keys_, queries_, queries_, keys_,
                              widened(queries_ * plan_.width),
                              widened(keys_ * std::max(plan_.width, plan_.value_width)),
                              widened(queries_ * plan_.value_width)});
  }

  void run(int64_t task, void* memory) const {
    Divided<T> space(memory);
    const int64_t matrix = task / parts_;
    const int64_t first = task % parts_ * queries_;
    const int64_t count = std::min(queries_, plan_.queries - first);
    const Block<T> scores{space.take(queries_ * keys_), keys_};
    const State state{space.take(queries_), space.take(queries_), space.take(keys_)};
    const Block<const T> query = blocks_.read(plan_.query, matrix, first, count, plan_.width,
                                              space.take(widened(queries_ * plan_.width)));
    T* const wide = space.take(widened(keys_ * std::max(plan_.width, plan_.value_width)));
    const Block<T> out = blocks_.target(plan_.output, matrix, first, plan_.value_width,
                                        space.take(widened(queries_ * plan_.value_width)));
    std::fill_n(state.most, count, -std::numeric_limits<T>::infinity());
    std::fill_n(state.sums, count, T{0});
    const int64_t end = plan_.causal != 0 ? std::min(plan_.keys, first + count) : plan_.keys;
    for (int64_t key = 0; key < end; key += keys_) {
      const int64_t columns = std::min(keys_, end - key);
      blocks_.product(false, true, count, columns, plan_.width, static_cast<T>(plan_.scale), query,
                      blocks_.read(plan_.key, matrix, key, columns, plan_.width, wide), false,
                      scores);
      for (int64_t i = 0; i < count; ++i)
        soften(state, i, matrix, first + i, key, columns, scores.row(i),
               key == 0 ? nullptr : out.row(i));
      blocks_.product(
          false, false, count, plan_.value_width, columns, T{1}, {scores.data, scores.step},
          blocks_.read(plan_.value, matrix, key, columns, plan_.value_width, wide), key != 0, out);
    }
    finish(state, matrix, first, count, end, out);
  }

 private:
  // Of every row: the largest score so far and the sum of the exponentials; and a buffer.
  struct State {
    T* most;
    T* sums;
    T* buffer;
  };
  static int64_t widened(int64_t count) { return kIsShort<S> ? count : 0; }

  // Turns a row of scores into exp(score - maximum so far), and brings the sum and the output of
  // the blocks before (null for the first) to the new maximum.
  void soften(const State& state, int64_t i, int64_t matrix, int64_t query, int64_t key,
              int64_t columns, T* scores, T* out) const {
    const AttentionRows<T>& rows = blocks_.rows();
    const int64_t seen = blocks_.seen(query, key, columns);
    std::fill(scores + seen, scores + columns, T{0});
    if (seen == 0) return;
    blocks_.mask(matrix, query, key, seen, state.buffer, scores);
    const T before = state.most[i];
    const T most = std::max(before, rows.largest(seen, scores));
    // A row without a score above -infinity: exponentials of 0 and not NaN.
    const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
    const T sum = rows.exponentials(seen, shift, scores);
    if (most != before && out != nullptr) {
      const T factor = std::exp(before - shift);
      state.sums[i] *= factor;
      rows.scale(plan_.value_width, factor, out);
    }
    state.most[i] = most;
    state.sums[i] += sum;
    if (plan_.dropout > 0) {
      blocks_.draw(matrix, query, key, seen, state.buffer);
      rows.multiply(seen, state.buffer, scores);
    }
  }

  void finish(const State& state, int64_t matrix, int64_t first, int64_t count, int64_t end,
              const Block<T>& out) const {
    T* const lse = static_cast<T*>(plan_.lse);
    for (int64_t i = 0; i < count; ++i) {
      const bool empty = state.sums[i] == T{0};
      if (empty || end == 0)
        std::fill_n(out.row(i), plan_.value_width, T{0});
      else
        blocks_.rows().scale(plan_.value_width, T{1} / state.sums[i], out.row(i));
      if (lse != nullptr)
        lse[matrix * plan_.queries + first + i] =
            empty ? T{0} : state.most[i] + std::log(state.sums[i]);
    }
    blocks_.write(plan_.output, matrix, first, count, plan_.value_width, out);
  }

  const AttentionPlan& plan_;
  AttentionBlocks<S> blocks_;
  int64_t queries_, keys_;  // of a block
  int64_t parts_;           // blocks of queries in a matrix
};

Status forward(const AttentionPlan& plan) {
  return visit_storage(plan.dtype, "attention: expected a real floating dtype", [&]<class S>() {
    if (attention_matrices(plan) * plan.queries * plan.value_width == 0) return kernel::kOk;
    const BlasUse blas(BlasCalls::kSideBySide);
    if (!blas) return blas.status();
    const Forward<S> pass(plan, blas);
    std::atomic<bool> ok{true};
    parallel_for(pass.tasks(), pass.grain(), [&](int64_t begin, int64_t end) {
      const Workspace space(pass.space_bytes());
      if (space.data() == nullptr) {
        ok = false;
        return;
      }
      for (int64_t task = begin; task < end; ++task) pass.run(task, space.data());
    });
    return ok ? kernel::kOk : failure(Code::kOutOfMemory, "attention: no scratch memory");
  });
}

}  // namespace

Status attention(const AttentionPlan& plan) {
  return plan.backward != 0 ? attention_backward(plan) : forward(plan);
}

}  // namespace tsr::cpu
