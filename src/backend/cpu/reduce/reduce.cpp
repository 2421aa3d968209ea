// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of reductions: along runs of reduced elements, or across neighbouring results. The work
// is split into parts that depend on the plan alone, so that the result does not depend on the
// number of threads.
#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "backend/cpu/reduce/reduce_rows.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/host.h"
#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::ReducePlan;
using kernel::Status;

namespace {

constexpr int64_t kBlock = 1024;          // elements fetched at a time
constexpr int64_t kLongRun = 4 * kBlock;  // fits into the first-level cache for a second pass
constexpr int64_t kAcross =
    2048;                     // neighbouring results: their states stay in the first-level cache
constexpr int64_t kRows = 8;  // rows that are folded across results at a time
constexpr int64_t kTogether = 512;   // neighbouring partial results: more take longer to merge
constexpr int64_t kPart = 65536;     // elements of a part, if several threads compute one result
constexpr int64_t kFewResults = 64;  // from this number of results on, one thread computes each
constexpr int64_t kShortRun = 16;    // runs below this are not worth the start of a fold
constexpr int64_t kShortRow = 6;     // for rows of 8-byte elements, many of which one call folds
constexpr int64_t kMaxParts = 16;    // of a reduction across results

struct Buffers {
  alignas(64) std::byte raw[kBlock * 16];
  alignas(64) std::byte magnitude[kBlock * 16];
  alignas(64) std::byte element[kBlock * 16];
};

class Reduction {
 public:
  explicit Reduction(const ReducePlan& plan);

  [[nodiscard]] bool supported() const {
    return kernel_.along != nullptr && (!kernel_.of_magnitudes || magnitude_ != nullptr);
  }
  Status run() const;

 private:
  [[nodiscard]] bool prefers_across() const;
  Cursor kept_cursor(int64_t linear) const;
  Cursor reduced_cursor(int64_t linear) const;
  // The first element of the result of a cursor.
  [[nodiscard]] const std::byte* first_of(const Cursor& kept) const {
    return static_cast<const std::byte*>(plan_.input) + kept.offset(plan_.kept_input_strides);
  }
  const void* convert(int64_t count, const void* source, Buffers& buffers) const;
  const void* fetch(const Cursor& cursor, int64_t count, const std::byte* base,
                    const int64_t* strides, Buffers& buffers) const;
  void fold_along(int64_t kept, int64_t begin, int64_t end, void* state) const;
  void fold_row(const std::byte* row, void* state) const;
  template <class Fold>
  void change_state(int64_t* states, int64_t j, const Fold& fold) const;
  void fold_rows(Cursor& cursor, int64_t count, int64_t* states) const;
  void fold_each(int64_t rows, const std::byte* first, int64_t step, int64_t* states,
                 int64_t j) const;
  void fold_converted_rows(Cursor& cursor, int64_t count, int64_t* states) const;
  void fold_across(int64_t kept, int64_t width, int64_t begin, int64_t end, void* state,
                   int64_t stride) const;
  [[nodiscard]] bool side_by_side(int64_t width) const;
  static int64_t rows_together(int64_t width);
  [[nodiscard]] int64_t rounds_together(int64_t width, int64_t rows) const;
  [[nodiscard]] bool fold_together(int64_t kept, int64_t width, int64_t begin, int64_t end,
                                   int64_t* state, int64_t stride) const;
  void write(int64_t kept, int64_t count, const void* states, int64_t width) const;
  // The elements of each result are contiguous and need no cast.
  [[nodiscard]] bool takes_rows() const { return !converts() && has_rows(); }
  // The elements of each result are contiguous and few, and those of the next one follow; several
  // results are converted at a time.
  [[nodiscard]] bool takes_short_rows() const {
    return converts() && has_rows() && plan_.reduced_numel <= kBlock / 4 &&
           plan_.kept_input_strides[plan_.kept_ndim - 1] == plan_.reduced_numel * size_;
  }
  [[nodiscard]] bool converts() const { return cast_ != nullptr || kernel_.of_magnitudes; }
  [[nodiscard]] bool has_rows() const {
    return plan_.reduced_ndim == 1 && plan_.reduced_strides[0] == size_ && plan_.reduced_numel > 0;
  }
  Status run_one() const;
  Status run_along() const;
  Status run_across() const;

  const ReducePlan& plan_;
  ReduceKernel kernel_;
  Row magnitude_ = nullptr;
  DType taken_;  // the dtype that is cast to the element: the input's, or that of its magnitude
  CastRow cast_ = nullptr;
  CastRow cast_out_ = nullptr;
  int64_t size_;
};

Reduction::Reduction(const ReducePlan& plan)
    : plan_(plan),
      kernel_(rows_of<ReduceRows>().find(plan.op, plan.input_dtype)),
      taken_(plan.input_dtype),
      size_(itemsize(plan.input_dtype)) {
  if (kernel_.of_magnitudes) {
    magnitude_ = rows_of<PointwiseRows>().unary(kernel::UnaryOp::kAbs, plan.input_dtype).row;
    taken_ = real_dtype(plan.input_dtype);
  }
  if (taken_ != kernel_.element) cast_ = rows_of<CopyRows>().cast(taken_, kernel_.element);
  if (kernel_.result != plan.output_dtype)
    cast_out_ = rows_of<CopyRows>().cast(kernel_.result, plan.output_dtype);
}

// Rows of fewer elements are not worth the start of along_rows.
int64_t short_row(const ReduceKernel& kernel) {
  if (kernel.short_row != 0) return kernel.short_row;
  return itemsize(kernel.element) == 8 ? kShortRow : kShortRun;
}

// Across: folds one element into each of many neighbouring results at a time. Faster when the
// reduced elements are not contiguous, or are few.
bool Reduction::prefers_across() const {
  const bool rows = kernel_.along_rows != nullptr && (takes_rows() || takes_short_rows());
  const int64_t shortest = rows ? short_row(kernel_) : kShortRun;
  const bool runs = plan_.reduced_strides[plan_.reduced_ndim - 1] == size_ &&
                    plan_.reduced_sizes[plan_.reduced_ndim - 1] >= shortest;
  if (runs) return false;
  if (plan_.kept_numel < kShortRun / 2)
    return plan_.kept_numel > 1 && rounds_together(plan_.kept_numel, plan_.reduced_numel) > 0;
  const bool neighbours = plan_.kept_input_strides[plan_.kept_ndim - 1] == size_;
  return neighbours || plan_.reduced_numel < kShortRun;
}

Cursor Reduction::kept_cursor(int64_t linear) const {
  Cursor cursor;
  cursor.ndim = plan_.kept_ndim;
  cursor.sizes = plan_.kept_sizes;
  cursor.seek(linear);
  return cursor;
}
Cursor Reduction::reduced_cursor(int64_t linear) const {
  Cursor cursor;
  cursor.ndim = plan_.reduced_ndim;
  cursor.sizes = plan_.reduced_sizes;
  cursor.seek(linear);
  return cursor;
}

// Returns contiguous elements as the fold takes them.
const void* Reduction::convert(int64_t count, const void* source, Buffers& buffers) const {
  if (kernel_.of_magnitudes) {
    magnitude_(count, buffers.magnitude, &source, plan_.params);
    source = buffers.magnitude;
  }
  if (cast_ == nullptr) return source;
  cast_(count, buffers.element, source);
  return buffers.element;
}

// Returns `count` elements from the cursor on, contiguous and cast to the fold's dtype.
const void* Reduction::fetch(const Cursor& cursor, int64_t count, const std::byte* base,
                             const int64_t* strides, Buffers& buffers) const {
  const void* source = base + cursor.offset(strides);
  if (strides[cursor.ndim - 1] != size_ || count > cursor.left_in_row()) {
    gather(cursor, count, size_, buffers.raw, base, strides);
    source = buffers.raw;
  }
  return convert(count, source, buffers);
}

void Reduction::fold_along(int64_t kept, int64_t begin, int64_t end, void* state) const {
  if (begin == end) return;  // a reduced dim of size 0 has no position to seek to
  Buffers buffers;
  const std::byte* base = first_of(kept_cursor(kept));
  Cursor cursor = reduced_cursor(begin);
  const bool in_place = !converts() && plan_.reduced_strides[plan_.reduced_ndim - 1] == size_;
  for (int64_t i = begin; i < end;) {
    // A run that needs no buffer is passed whole.
    int64_t count = std::min(in_place ? kLongRun : kBlock, end - i);
    if (in_place && cursor.left_in_row() >= kShortRun)
      count = std::min(count, cursor.left_in_row());
    else
      count = std::min(count, kBlock);
    // Positions count from the start of the whole, other folds from the start of the part.
    kernel_.along(count, fetch(cursor, count, base, plan_.reduced_strides, buffers),
                  kernel_.by_position ? i : i - begin, state, plan_.params);
    cursor.advance(count);
    i += count;
  }
}

// Folds all elements of one result, as fold_along does.
void Reduction::fold_row(const std::byte* row, void* state) const {
  for (int64_t i = 0; i < plan_.reduced_numel; i += kLongRun) {
    kernel_.along(std::min(kLongRun, plan_.reduced_numel - i), row + i * itemsize(kernel_.element),
                  i, state, plan_.params);
  }
}

// Calls fold(state) with the state of result j of a block, whose words lie together there.
template <class Fold>
void Reduction::change_state(int64_t* states, int64_t j, const Fold& fold) const {
  if (kernel_.words == 1) return fold(states + j);
  int64_t state[kMaxWords];
  for (int w = 0; w < kernel_.words; ++w) state[w] = states[w * kBlock + j];
  fold(state);
  for (int w = 0; w < kernel_.words; ++w) states[w * kBlock + j] = state[w];
}

// Folds `rows` results, whose elements are `step` bytes apart, into the states from j on.
void Reduction::fold_each(int64_t rows, const std::byte* first, int64_t step, int64_t* states,
                          int64_t j) const {
  if (kernel_.along_rows != nullptr && plan_.reduced_numel <= kLongRun)
    return kernel_.along_rows(rows, plan_.reduced_numel, first, step, states + j, kBlock,
                              plan_.params);
  for (int64_t r = 0; r < rows; ++r)
    change_state(states, j + r, [&](int64_t* state) { fold_row(first + r * step, state); });
}

// Folds the rows of `count` results from the cursor on, at most kBlock.
void Reduction::fold_rows(Cursor& cursor, int64_t count, int64_t* states) const {
  for (int64_t j = 0; j < count;) {
    const int64_t rows = std::min(count - j, cursor.left_in_row());
    fold_each(rows, first_of(cursor), plan_.kept_input_strides[plan_.kept_ndim - 1], states, j);
    cursor.advance_in_row(rows);
    j += rows;
  }
}

// As fold_rows, of short rows that are converted.
void Reduction::fold_converted_rows(Cursor& cursor, int64_t count, int64_t* states) const {
  Buffers buffers;
  const int64_t length = plan_.reduced_numel;
  for (int64_t j = 0; j < count;) {
    const int64_t rows = std::min({count - j, cursor.left_in_row(), kBlock / length});
    const void* first = convert(rows * length, first_of(cursor), buffers);
    fold_each(rows, static_cast<const std::byte*>(first), length * itemsize(kernel_.element),
              states, j);
    cursor.advance_in_row(rows);
    j += rows;
  }
}

// True if the first inputs of the results of a block are contiguous. If the block spans several
// rows of results, those rows must be adjacent in memory too.
bool Reduction::side_by_side(int64_t width) const {
  int64_t expected = size_;
  for (int32_t d = plan_.kept_ndim; d-- > 0 && expected < width * size_;) {
    if (plan_.kept_input_strides[d] != expected && plan_.kept_sizes[d] != 1) return false;
    expected *= plan_.kept_sizes[d];
  }
  return true;
}

// How many neighbouring rows of `width` results are folded side by side, each into partial results
// of its own: a multiple of 16, which is whole registers, where it can be.
int64_t Reduction::rows_together(int64_t width) {
  constexpr int64_t kWhole = 16;
  const int64_t most = kTogether / width;
  return most < kWhole ? most : most - most % kWhole;
}
// How many elements each partial result gets at least; 0 where the layout does not fit, or they are
// too few.
int64_t Reduction::rounds_together(int64_t width, int64_t rows) const {
  constexpr int64_t kWorthIt = 8;  // rounds for each merge
  const int64_t together = rows_together(width);
  if (together < 2 || converts() || kernel_.by_position || plan_.reduced_ndim != 1 ||
      plan_.reduced_strides[0] != width * size_ || !side_by_side(width))
    return 0;
  const int64_t rounds = rows / together;
  return rounds < kWorthIt ? 0 : rounds;
}

// Fast path for few results over contiguous rows: fold groups of rows into separate partial
// results, then merge them. Returns false if the layout does not fit.
bool Reduction::fold_together(int64_t kept, int64_t width, int64_t begin, int64_t end,
                              int64_t* state, int64_t stride) const {
  const int64_t together = rows_together(width);
  const int64_t rounds = rounds_together(width, end - begin);
  if (rounds == 0) return false;
  const std::byte* row = first_of(kept_cursor(kept)) + begin * width * size_;
  int64_t states[kTogether * kMaxWords];
  kernel_.start(together * width, states, kTogether);
  const int64_t round_bytes = together * width * size_;
  for (int64_t i = 0; i < rounds; i += kRows) {
    const int64_t count = std::min(kRows, rounds - i);
    kernel_.across(together * width, {row, count, round_bytes}, i, states, kTogether, plan_.params);
    row += count * round_bytes;
  }
  int64_t folded = end - begin - (together - 1) * rounds;
  if (folded > rounds) {
    kernel_.across(width, {row, folded - rounds, width * size_}, rounds, states, kTogether,
                   plan_.params);
  }
  for (int64_t i = 1; i < together; ++i, folded += rounds)
    kernel_.merge(width, states, folded, states + i * width, rounds, kTogether);
  for (int w = 0; w < kernel_.words; ++w)
    std::copy_n(states + w * kTogether, width, state + w * stride);
  return true;
}

void Reduction::fold_across(int64_t kept, int64_t width, int64_t begin, int64_t end, void* state,
                            int64_t stride) const {
  if (begin == end || fold_together(kept, width, begin, end, static_cast<int64_t*>(state), stride))
    return;
  Buffers buffers;
  Cursor results[kAcross / kBlock];
  const bool neighbours = plan_.kept_input_strides[plan_.kept_ndim - 1] == size_;
  results[0] = kept_cursor(kept);
  const int64_t row_step = plan_.reduced_strides[plan_.reduced_ndim - 1];
  // Within one row of results, rows of the input are used in place, or several are converted.
  const bool one_row = neighbours && width <= results[0].left_in_row();
  const bool whole = one_row && !converts();
  const bool converted = one_row && !whole && row_step == width * size_ && 2 * width <= kBlock;
  const int64_t most = whole ? kRows : converted ? kBlock / width : 1;
  const int64_t step = whole ? width : kBlock;
  for (int64_t j = step; j < width; j += step) results[j / step] = kept_cursor(kept + j);
  Cursor cursor = reduced_cursor(begin);
  for (int64_t i = begin; i < end;) {
    const auto* base =
        static_cast<const std::byte*>(plan_.input) + cursor.offset(plan_.reduced_strides);
    const int64_t rows = std::min({most, end - i, cursor.left_in_row()});
    const int64_t before = kernel_.by_position ? i : i - begin;
    if (converted) {
      const std::byte* source = base + results[0].offset(plan_.kept_input_strides);
      const void* first = convert(rows * width, source, buffers);
      kernel_.across(width, {first, rows, width * itemsize(kernel_.element)}, before, state, stride,
                     plan_.params);
    }
    for (int64_t j = 0; j < width && !converted; j += step) {
      const int64_t count = std::min(step, width - j);
      const void* first = fetch(results[j / step], count, base, plan_.kept_input_strides, buffers);
      kernel_.across(count, {first, rows, row_step}, before, static_cast<int64_t*>(state) + j,
                     stride, plan_.params);
    }
    cursor.advance_in_row(rows);
    i += rows;
  }
}

// Turns states into results and writes them to the output.
void Reduction::write(int64_t kept, int64_t count, const void* states, int64_t width) const {
  alignas(16) std::byte results[kBlock * 16];
  alignas(16) std::byte cast[kBlock * 16];
  const Cursor start = kept_cursor(kept);
  Cursor cursor = start;
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t part = std::min(kBlock, count - done);
    kernel_.finish(plan_, part, static_cast<const int64_t*>(states) + done, width, results);
    if (cast_out_ != nullptr) cast_out_(part, cast, results);
    scatter(cursor, part, itemsize(plan_.output_dtype), plan_.output, plan_.kept_output_strides,
            cast_out_ != nullptr ? cast : results);
    cursor.advance(part);
  }
}

// Fast path for one result of few elements: needs no allocated buffers.
Status Reduction::run_one() const {
  int64_t state[kMaxWords];
  alignas(16) std::byte result[16];
  kernel_.start(1, state, 1);
  if (takes_rows()) {
    kernel_.along(plan_.reduced_numel, plan_.input, 0, state, plan_.params);
  } else {
    fold_along(0, 0, plan_.reduced_numel, state);
  }
  kernel_.finish(plan_, 1, state, 1, result);
  if (cast_out_ != nullptr) {
    cast_out_(1, plan_.output, result);
  } else {
    std::memcpy(plan_.output, result, static_cast<size_t>(itemsize(plan_.output_dtype)));
  }
  return kernel::kOk;
}

Status Reduction::run_along() const {
  const int64_t parts =
      plan_.kept_numel < kFewResults ? (plan_.reduced_numel + kPart - 1) / kPart : 1;
  if (parts <= 1) {
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(plan_.reduced_numel, 1));
    const bool rows = takes_rows();
    const bool converted = takes_short_rows();
    parallel_for(plan_.kept_numel, grain, [&](int64_t begin, int64_t end) {
      int64_t states[kBlock * kMaxWords];
      Cursor cursor = kept_cursor(begin);
      for (int64_t kept = begin; kept < end; kept += kBlock) {
        const int64_t count = std::min(kBlock, end - kept);
        kernel_.start(count, states, kBlock);
        if (rows) fold_rows(cursor, count, states);
        if (converted) fold_converted_rows(cursor, count, states);
        for (int64_t j = 0; j < count && !rows && !converted; ++j) {
          change_state(states, j, [&](int64_t* state) {
            fold_along(kept + j, 0, plan_.reduced_numel, state);
          });
        }
        write(kept, count, states, kBlock);
      }
    });
    return kernel::kOk;
  }
  const Workspace workspace(plan_.kept_numel * parts * kMaxWords * 8);
  auto* states = static_cast<int64_t*>(workspace.data());
  if (states == nullptr)
    return failure(Code::kOutOfMemory, "expected workspace for a reduction, got none");
  parallel_for(plan_.kept_numel * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % parts * kPart;
      int64_t* state = states + task * kMaxWords;
      kernel_.start(1, state, 1);
      fold_along(task / parts, first, std::min(first + kPart, plan_.reduced_numel), state);
    }
  });
  for (int64_t kept = 0; kept < plan_.kept_numel; ++kept) {
    int64_t* total = states + kept * parts * kMaxWords;
    for (int64_t part = 1; part < parts; ++part) {
      const int64_t elements = std::min(kPart, plan_.reduced_numel - part * kPart);
      kernel_.merge(1, total, part * kPart, total + part * kMaxWords, elements, 1);
    }
    write(kept, 1, total, 1);
  }
  return kernel::kOk;
}

Status Reduction::run_across() const {
  const int64_t kept = plan_.kept_numel;
  // A block of results stays within one row of them, unless that is too little work.
  const int64_t inner = plan_.kept_sizes[plan_.kept_ndim - 1];
  const bool by_row = inner >= kShortRun && inner * plan_.reduced_numel >= kBlock;
  const int64_t row = by_row ? inner : kept;
  const int64_t row_blocks = (row + kAcross - 1) / kAcross;
  const int64_t blocks = kept / row * row_blocks;
  int64_t parts = 1;
  if (blocks < kFewResults / 4)
    parts = std::clamp<int64_t>(plan_.reduced_numel * kept / kPart, 1, kMaxParts);
  parts = std::min(parts, plan_.reduced_numel);
  const int64_t rows = parts == 0 ? 0 : (plan_.reduced_numel + parts - 1) / parts;
  parts = rows == 0 ? 1 : (plan_.reduced_numel + rows - 1) / rows;
  // The states of all results for part p are contiguous.
  const Workspace workspace(parts > 1 ? parts * kept * kMaxWords * 8 : 0);
  auto* shared = static_cast<int64_t*>(workspace.data());
  if (parts > 1 && shared == nullptr)
    return failure(Code::kOutOfMemory, "expected workspace for a reduction, got none");
  const int64_t grain =
      std::max<int64_t>(1, kGrain / std::max<int64_t>(1, rows * std::min(row, kAcross)));
  parallel_for(blocks * parts, grain, [&](int64_t begin, int64_t end) {
    int64_t own[kAcross * kMaxWords];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task % blocks;
      const int64_t start = block % row_blocks * kAcross;
      const int64_t first = block / row_blocks * row + start;
      const int64_t width = std::min(kAcross, row - start);
      const int64_t part = task / blocks;
      int64_t* states = parts > 1 ? shared + part * kept * kMaxWords + first : own;
      const int64_t stride = parts > 1 ? kept : kAcross;
      kernel_.start(width, states, stride);
      fold_across(first, width, part * rows, std::min(plan_.reduced_numel, (part + 1) * rows),
                  states, stride);
      if (parts == 1) write(first, width, states, stride);
    }
  });
  if (parts == 1) return kernel::kOk;
  for (int64_t part = 1; part < parts; ++part) {
    const int64_t elements = std::min(rows, plan_.reduced_numel - part * rows);
    kernel_.merge(kept, shared, part * rows, shared + part * kept * kMaxWords, elements, kept);
  }
  write(0, kept, shared, kept);
  return kernel::kOk;
}

Status Reduction::run() const {
  if (plan_.kept_numel == 0) return kernel::kOk;
  if (plan_.kept_numel == 1 && plan_.reduced_numel <= kLongRun) return run_one();
  return prefers_across() ? run_across() : run_along();
}

}  // namespace

Status reduce(const ReducePlan& plan) {
  const Reduction reduction(plan);
  if (!reduction.supported()) {
    return failure(Code::kNotImplemented,
                   "expected a reduction that exists for this dtype, got one that does not");
  }
  return reduction.run();
}

}  // namespace tsr::cpu
