// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Attention, forward: a task is a block of queries of one matrix. It walks over blocks of keys with
// a running maximum and a running sum of every row (Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018), so that only one block of scores exists for a thread. The
// tangent of the output comes from the same walk: with dS the tangent of the scores and the
// probabilities P it is (P dS) V + P dV - r O, where r is the sum of a row of P dS, and all of
// these are sums over keys. Dropout's factors belong to P everywhere but in r.
//
// Where the processor has tiles for bfloat16, both products are theirs. The scores of a few queries
// at a time then stay in the first-level cache. A probability has more digits than bfloat16, so it
// is the sum of two such numbers, and the second product is made with each of them.
#include <atomic>
#include <cmath>
#include <limits>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/linalg/tiles.h"
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
        in_tiles_(std::is_same_v<S, BFloat16> && plan.tangent_output.data == nullptr &&
                  tiles::available()),
        keys_(std::min(plan.keys, in_tiles_ ? kTileKeys : kBlockKeys)),
        parts_((plan.queries + queries_ - 1) / queries_),
        dual_(plan.tangent_output.data != nullptr),
        slopes_(dual_ && (plan.tangent_query.data != nullptr || plan.tangent_key.data != nullptr)) {
  }

  [[nodiscard]] int64_t tasks() const { return attention_matrices(plan_) * parts_; }
  [[nodiscard]] int64_t grain() const { return attention_grain(plan_, queries_); }
  [[nodiscard]] int64_t space_bytes() const {
    if (in_tiles_) return tile_space_bytes();
    const int64_t duals = dual_ ? 1 : 0;
    return Divided<T>::bytes({queries_ * keys_, queries_, queries_, keys_,
                              widened(queries_ * plan_.width),
                              widened(keys_ * std::max(plan_.width, plan_.value_width)),
                              widened(queries_ * plan_.value_width), duals * queries_ * keys_,
                              duals * queries_, widened(duals * queries_ * plan_.width),
                              widened(duals * keys_ * std::max(plan_.width, plan_.value_width)),
                              widened(duals * queries_ * plan_.value_width)});
  }

  void run(int64_t task, void* memory) const {
    if constexpr (std::is_same_v<S, BFloat16>) {
      if (in_tiles_) return run_in_tiles(task, memory);
    }
    Divided<T> space(memory);
    const int64_t matrix = task / parts_;
    const int64_t first = task % parts_ * queries_;
    const int64_t count = std::min(queries_, plan_.queries - first);
    const Block<T> scores{space.take(queries_ * keys_), keys_};
    State state{space.take(queries_), space.take(queries_), space.take(keys_)};
    const Block<const T> query = blocks_.read(plan_.query, matrix, first, count, plan_.width,
                                              space.take(widened(queries_ * plan_.width)));
    T* const wide = space.take(widened(keys_ * std::max(plan_.width, plan_.value_width)));
    const Block<T> out = blocks_.target(plan_.output, matrix, first, plan_.value_width,
                                        space.take(widened(queries_ * plan_.value_width)));
    const Dual dual = dual_ ? dual_of(matrix, first, count, space) : Dual{};
    state.slope_sums = dual.slope_sums;
    std::fill_n(state.most, count, -std::numeric_limits<T>::infinity());
    std::fill_n(state.sums, count, T{0});
    if (dual_) std::fill_n(state.slope_sums, count, T{0});
    const int64_t end = plan_.causal != 0 ? std::min(plan_.keys, first + count) : plan_.keys;
    for (int64_t key = 0; key < end; key += keys_) {
      const int64_t columns = std::min(keys_, end - key);
      blocks_.product(false, true, count, columns, plan_.width, static_cast<T>(plan_.scale), query,
                      blocks_.read(plan_.key, matrix, key, columns, plan_.width, wide), false,
                      scores);
      if (slopes_) set_slopes(matrix, key, count, columns, query, wide, dual);
      // All rows first: `soften` would wait for what was just written.
      for (int64_t i = 0; i < count; ++i) {
        hide_unseen(first + i, key, columns, scores.row(i));
      }
      for (int64_t i = 0; i < count; ++i) {
        const Row row{scores.row(i), slopes_ ? dual.slopes.row(i) : nullptr,
                      key == 0 ? nullptr : out.row(i),
                      key == 0 || !dual_ ? nullptr : dual.tangent.row(i)};
        soften(state, i, matrix, first + i, key, columns, row);
      }
      blocks_.product(
          false, false, count, plan_.value_width, columns, T{1}, {scores.data, scores.step},
          blocks_.read(plan_.value, matrix, key, columns, plan_.value_width, wide), key != 0, out);
      if (dual_) add_tangent(matrix, key, count, columns, scores, wide, dual);
    }
    finish(state, matrix, first, count, end, out, dual);
  }

 private:
  // Of every row: the largest score so far and the sum of the exponentials, and of the slopes; and
  // a buffer.
  struct State {
    T* most;
    T* sums;
    T* buffer;
    T* slope_sums = nullptr;
  };
  // One query: its block of scores and of their tangents, and what the blocks before have added to
  // its output and to the tangent of that. Null: none.
  struct Row {
    T *scores, *slopes, *out, *tangent;
  };
  // What a task has for tangents.
  struct Dual {
    Block<const T> query;
    Block<T> slopes;  // the tangents of a block of scores
    Block<T> tangent;
    T* slope_sums;
    T* wide;  // for the tangents of keys and values
  };
  static int64_t widened(int64_t count) { return kIsShort<S> ? count : 0; }

  [[nodiscard]] Dual dual_of(int64_t matrix, int64_t first, int64_t count,
                             Divided<T>& space) const {
    Dual dual{};
    dual.slopes = {space.take(queries_ * keys_), keys_};
    dual.slope_sums = space.take(queries_);
    T* const wide_query = space.take(widened(queries_ * plan_.width));
    dual.wide = space.take(widened(keys_ * std::max(plan_.width, plan_.value_width)));
    dual.tangent = blocks_.target(plan_.tangent_output, matrix, first, plan_.value_width,
                                  space.take(widened(queries_ * plan_.value_width)));
    if (plan_.tangent_query.data != nullptr) {
      dual.query = blocks_.read(plan_.tangent_query, matrix, first, count, plan_.width, wide_query);
    }
    return dual;
  }

  // The tangents of a block of scores. `wide` has the keys of a 16-bit type.
  void set_slopes(int64_t matrix, int64_t key, int64_t count, int64_t columns,
                  const Block<const T>& query, T* wide, const Dual& dual) const {
    const T scale = static_cast<T>(plan_.scale);
    const bool of_query = plan_.tangent_query.data != nullptr;
    if (of_query) {
      blocks_.product(false, true, count, columns, plan_.width, scale, dual.query,
                      blocks_.read(plan_.key, matrix, key, columns, plan_.width, wide), false,
                      dual.slopes);
    }
    if (plan_.tangent_key.data != nullptr) {
      blocks_.product(false, true, count, columns, plan_.width, scale, query,
                      blocks_.read(plan_.tangent_key, matrix, key, columns, plan_.width, dual.wide),
                      of_query, dual.slopes);
    }
  }

  // What a block of keys adds to the tangent of the output.
  void add_tangent(int64_t matrix, int64_t key, int64_t count, int64_t columns,
                   const Block<T>& scores, T* wide, const Dual& dual) const {
    if (slopes_) {
      blocks_.product(false, false, count, plan_.value_width, columns, T{1},
                      {dual.slopes.data, dual.slopes.step},
                      blocks_.read(plan_.value, matrix, key, columns, plan_.value_width, wide),
                      key != 0, dual.tangent);
    }
    if (plan_.tangent_value.data != nullptr) {
      blocks_.product(
          false, false, count, plan_.value_width, columns, T{1}, {scores.data, scores.step},
          blocks_.read(plan_.tangent_value, matrix, key, columns, plan_.value_width, dual.wide),
          key != 0 || slopes_, dual.tangent);
    }
  }

  // ---- In tiles ----

  // With so many queries at a time and keys of a block, scores, probabilities and packed operands
  // stay in the first-level cache.
  static constexpr int64_t kTileQueries = 32;
  static constexpr int64_t kTileKeys = 128;

  [[nodiscard]] int64_t tile_space_bytes() const {
    return Divided<T>::bytes({query_numbers() / 2, key_numbers() / 2, value_numbers() / 2,
                              kTileQueries * tiles::whole(keys_, tiles::kSide),
                              kTileQueries * tiles::whole(keys_, tiles::kDepth), queries_, queries_,
                              keys_, tiles::whole(queries_, tiles::kSide) * value_step()});
  }
  [[nodiscard]] int64_t query_step() const { return tiles::whole(plan_.width, tiles::kDepth); }
  [[nodiscard]] int64_t value_step() const { return tiles::whole(plan_.value_width, tiles::kSide); }
  [[nodiscard]] int64_t query_numbers() const {
    return tiles::whole(queries_, tiles::kSide) * query_step();
  }
  [[nodiscard]] int64_t key_numbers() const {
    return tiles::whole(keys_, tiles::kSide) * query_step();
  }
  [[nodiscard]] int64_t value_numbers() const {
    return tiles::whole(keys_, tiles::kDepth) * value_step();
  }

  // Whether queries times the scale are as they would be without it: a power of two rounds nothing.
  [[nodiscard]] bool scales_exactly() const {
    int exponent = 0;
    return std::frexp(plan_.scale, &exponent) == 0.5 && exponent > -16 && exponent <= 1;
  }

  // The probabilities of a few queries, as sums of two numbers.
  struct Halves {
    BFloat16 *high, *low;
    int64_t step;
  };

  void run_in_tiles(int64_t task, void* memory) const {
    Divided<T> space(memory);
    const auto take = [&](int64_t count) {
      return reinterpret_cast<BFloat16*>(space.take(count / 2));
    };
    const int64_t matrix = task / parts_;
    const int64_t first = task % parts_ * queries_;
    const int64_t count = std::min(queries_, plan_.queries - first);
    BFloat16* const query = take(query_numbers());
    BFloat16* const packed_key = take(key_numbers());
    BFloat16* const packed_value = take(value_numbers());
    const int64_t score_step = tiles::whole(keys_, tiles::kSide);
    const Block<T> scores{space.take(kTileQueries * score_step), score_step};
    const int64_t half_step = tiles::whole(keys_, tiles::kDepth);
    BFloat16* const halves = take(2 * kTileQueries * half_step);
    const State state{space.take(queries_), space.take(queries_), space.take(keys_)};
    const Block<T> out{space.take(tiles::whole(queries_, tiles::kSide) * value_step()),
                       value_step()};
    std::fill_n(state.most, count, -std::numeric_limits<T>::infinity());
    std::fill_n(state.sums, count, T{0});
    const tiles::Session session;
    const bool scaled = scales_exactly();
    tiles::pad(count, plan_.width, scaled ? static_cast<T>(plan_.scale) : T{1},
               blocks_.place(plan_.query, matrix, first), plan_.query.row_stride, query);
    const int64_t end = plan_.causal != 0 ? std::min(plan_.keys, first + count) : plan_.keys;
    for (int64_t key = 0; key < end; key += keys_) {
      const int64_t columns = std::min(keys_, end - key);
      tiles::pack_transposed(plan_.width, columns, blocks_.place(plan_.key, matrix, key),
                             plan_.key.row_stride, packed_key);
      const bool finite =
          tiles::pack(columns, plan_.value_width, blocks_.place(plan_.value, matrix, key),
                      plan_.value.row_stride, packed_value);
      for (int64_t i = 0; i < count; i += kTileQueries) {
        const int64_t rows = std::min(kTileQueries, count - i);
        if (blocks_.seen(first + i + rows - 1, key, columns) == 0) continue;
        const int64_t lines = tiles::whole(rows, tiles::kSide);
        tiles::product(lines, tiles::whole(columns, tiles::kSide), query_step(),
                       {query + i * query_step(), nullptr, query_step()}, packed_key, false,
                       scores.data, score_step);
        if (!scaled) {
          for (int64_t row = 0; row < rows; ++row)
            blocks_.rows().scale(columns, static_cast<T>(plan_.scale), scores.row(row));
        }
        const Halves parts{halves, halves + kTileQueries * half_step, half_step};
        soften_few(state, i, rows, matrix, first, key, columns, scores, out, parts);
        // What is left of a probability may be negative or 0, so its product with an infinity is
        // none of the result.
        tiles::product(lines, value_step(), tiles::whole(columns, tiles::kDepth),
                       {parts.high, finite ? parts.low : nullptr, half_step}, packed_value,
                       key != 0, out.row(i), value_step());
      }
    }
    finish(state, matrix, first, count, end, out, Dual{});
  }

  void soften_few(const State& state, int64_t begin, int64_t count, int64_t matrix, int64_t first,
                  int64_t key, int64_t columns, const Block<T>& scores, const Block<T>& out,
                  const Halves& halves) const {
    for (int64_t i = 0; i < count; ++i) {
      hide_unseen(first + begin + i, key, columns, scores.row(i));
    }
    for (int64_t i = 0; i < count; ++i) {
      const Row row{scores.row(i), nullptr, key == 0 ? nullptr : out.row(begin + i), nullptr};
      soften(state, begin + i, matrix, first + begin + i, key, columns, row);
      tiles::split(columns, scores.row(i), halves.high + i * halves.step,
                   halves.low + i * halves.step);
    }
  }

  // How many scores of a row are computed of which `seen` count: rows of few different lengths are
  // faster.
  static int64_t computed(int64_t seen, int64_t columns) {
    constexpr int64_t kTogether = 64;
    return std::min((seen + kTogether - 1) / kTogether * kTogether, columns);
  }
  // Keys that a query does not see have probability 0.
  void hide_unseen(int64_t query, int64_t key, int64_t columns, T* scores) const {
    const int64_t seen = blocks_.seen(query, key, columns);
    const int64_t count = computed(seen, columns);
    std::fill(scores + seen, scores + count, -std::numeric_limits<T>::infinity());
    std::fill(scores + count, scores + columns, T{0});
  }

  // Turns a row of scores into exp(score - maximum so far), and its slopes into their products with
  // that, and brings what the blocks before have summed up to the new maximum.
  void soften(const State& state, int64_t i, int64_t matrix, int64_t query, int64_t key,
              int64_t columns, const Row& row) const {
    const AttentionRows<T>& rows = blocks_.rows();
    const int64_t seen = blocks_.seen(query, key, columns);
    const int64_t count = computed(seen, columns);
    if (row.slopes != nullptr) std::fill(row.slopes + seen, row.slopes + columns, T{0});
    if (seen == 0) return;
    blocks_.mask(matrix, query, key, seen, state.buffer, row.scores);
    const T before = state.most[i];
    const T most = std::max(before, rows.largest(count, row.scores));
    // A row without a score above -infinity: exponentials of 0 and not NaN.
    const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
    const T sum = rows.exponentials(count, shift, row.scores);
    if (most != before && row.out != nullptr) {
      const T factor = std::exp(before - shift);
      state.sums[i] *= factor;
      rows.scale(plan_.value_width, factor, row.out);
      if (row.tangent != nullptr) {
        state.slope_sums[i] *= factor;
        rows.scale(plan_.value_width, factor, row.tangent);
      }
    }
    state.most[i] = most;
    state.sums[i] += sum;
    if (row.slopes != nullptr) state.slope_sums[i] += rows.weigh(seen, row.scores, row.slopes);
    if (plan_.dropout > 0) {
      blocks_.draw(matrix, query, key, seen, state.buffer);
      rows.multiply(seen, state.buffer, row.scores);
      if (row.slopes != nullptr) rows.multiply(seen, state.buffer, row.slopes);
    }
  }

  // The tangent of a row of the output from its sums, when the output is done.
  void finish_tangent(const State& state, int64_t i, const Block<T>& out,
                      const Block<T>& tangent) const {
    const T inverse = T{1} / state.sums[i];
    blocks_.rows().finish_tangent(plan_.value_width, inverse, state.slope_sums[i] * inverse,
                                  out.row(i), tangent.row(i));
  }

  void finish(const State& state, int64_t matrix, int64_t first, int64_t count, int64_t end,
              const Block<T>& out, const Dual& dual) const {
    T* const lse = static_cast<T*>(plan_.lse);
    for (int64_t i = 0; i < count; ++i) {
      const bool empty = state.sums[i] == T{0};
      if (empty || end == 0)
        std::fill_n(out.row(i), plan_.value_width, T{0});
      else
        blocks_.rows().scale(plan_.value_width, T{1} / state.sums[i], out.row(i));
      if (dual_ && (empty || end == 0))
        std::fill_n(dual.tangent.row(i), plan_.value_width, T{0});
      else if (dual_)
        finish_tangent(state, i, out, dual.tangent);
      if (lse != nullptr)
        lse[matrix * plan_.queries + first + i] =
            empty ? T{0} : state.most[i] + std::log(state.sums[i]);
    }
    blocks_.write(plan_.output, matrix, first, count, plan_.value_width, out);
    if (dual_)
      blocks_.write(plan_.tangent_output, matrix, first, count, plan_.value_width, dual.tangent);
  }

  const AttentionPlan& plan_;
  AttentionBlocks<S> blocks_;
  int64_t queries_;  // of a block
  bool in_tiles_;
  int64_t keys_;   // of a block
  int64_t parts_;  // blocks of queries in a matrix
  bool dual_;      // also the tangent of the output
  bool slopes_;    // the scores have tangents
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
