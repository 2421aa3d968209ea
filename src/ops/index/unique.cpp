// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Mostly the same way: put equal elements side by side, mark where a run of them begins, and read
// values, counts and numbers off the marks.
#include "ops/index/unique.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/histogram.h"
#include "ops/index/index.h"
#include "ops/index/mask.h"
#include "ops/index/slice_order.h"
#include "ops/index/sort.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

// Runs of equal elements: bool marks of their first ones, 1-D.
struct Runs {
  Tensor first;
  Tensor starts;  // the positions of the marks

  explicit Runs(const Tensor& marks) : first(marks), starts(nonzero(marks).front()) {}

  [[nodiscard]] Tensor counts() const {
    if (starts.numel() == 0) return starts;
    const Tensor end = full(Dims{1}, first.numel(), DType::kInt64, first.device());
    const std::array<Tensor, 2> next{narrow(starts, 0, 1, starts.numel() - 1), end};
    return subtract(ops::concat(next, 0), starts);
  }
  // The number of the run of each element.
  [[nodiscard]] Tensor numbers() const { return subtract(cumulative_sum(first), 1); }
};

// Marks from whether each element but the first differs from the one before it.
Tensor marks_of(const Tensor& differs, int64_t count, Device device) {
  const Tensor one = full(Dims{std::min<int64_t>(count, 1)}, true, DType::kBool, device);
  return ops::concat(std::array<Tensor, 2>{one, differs}, 0);
}

Tensor differs_from_last(const Tensor& line) {
  const int64_t rest = std::max<int64_t>(line.numel() - 1, 0);
  return not_equal(narrow(line, 0, line.numel() - rest, rest), narrow(line, 0, 0, rest));
}

// The positions that put a 1-D tensor in order, equal elements in the order in which they stood.
Tensor order_of(const Tensor& line) {
  if (!is_complex(line.dtype())) return argsort(line, 0);
  const Tensor by_imaginary = argsort(contiguous(imag(line)), 0);
  const Tensor by_real = argsort(take(contiguous(real(line)), by_imaginary, 0), 0);
  return take(by_imaginary, by_real, 0);
}

// What stood at order[i] gets the number of run i.
Tensor scattered(const Tensor& order, const Tensor& numbers) {
  const Tensor inverse = empty(order.sizes(), DType::kInt64, order.device());
  index_put_(inverse, {{&order, 1}}, numbers, false);
  return inverse;
}

// The flattened input in order, and how it got there.
struct Ordered {
  Tensor order;
  Tensor sorted;
  Runs runs;

  static Ordered of(const Tensor& input) {
    const Tensor line = contiguous(reshape(input.detached(), Dims{-1}));
    const Tensor order = order_of(line);
    const Tensor sorted = take(line, order, 0);
    return {order, sorted,
            Runs(marks_of(differs_from_last(sorted), sorted.numel(), sorted.device()))};
  }
  [[nodiscard]] Tensor values() const { return take(sorted, runs.starts, 0); }
  [[nodiscard]] Tensor inverse(const Tensor& input) const {
    return reshape(scattered(order, runs.numbers()), input.sizes());
  }
};

// ---- Integers that are not far apart: they are counted instead of sorted ----

// The smallest of a line of integers, and how many numbers lie from it to the largest.
struct Span {
  int64_t smallest;
  int64_t size;

  // None if there are more than twice as many as elements.
  static std::optional<Span> of(const Tensor& line) {
    if (!is_integral(line.dtype()) || line.dtype() == DType::kUInt64 || line.numel() == 0)
      return std::nullopt;
    const auto smallest = read<int64_t>(min(line));
    int64_t range = 0;
    if (__builtin_sub_overflow(read<int64_t>(max(line)), smallest, &range) ||
        range >= 2 * line.numel())
      return std::nullopt;
    return Span{smallest, range + 1};
  }
};

// What a caller wants beside the values.
struct Wanted {
  bool indices = false;
  bool inverse = false;
  bool counts = false;
};

// Tables of the numbers of a span: how often each occurs, or only whether it does.
class Tables {
 public:
  // Equal elements often stand side by side. One table would wait for each of its sums: elements in
  // turn have several, where these are short beside the elements.
  static constexpr int64_t kInTurn = 4;
  // Elements that are worth a thread.
  static constexpr int64_t kPart = 32768;

  template <class T>
  Tables(const T* from, int64_t count, const Span& span, bool counts) : size_(span.size) {
    const int64_t parts = std::clamp<int64_t>(std::min(count / kPart, count / size_), 1,
                                              std::max<int64_t>(num_threads(), 1));
    turns_ = counts && parts * kInTurn * size_ <= count ? kInTurn : 1;
    tables_ = parts * turns_;
    memory_ = tsr::empty(Dims{tables_ * size_}, DType::kInt64);
    auto* const all = memory_.data_as<int64_t>();
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        int64_t* const own = all + part * turns_ * size_;
        std::fill_n(own, turns_ * size_, 0);
        const int64_t first = count * part / parts;
        fill(from + first, count * (part + 1) / parts - first, span.smallest, counts, own);
      }
    });
    for (int64_t table = 1; table < tables_; ++table) {
      const int64_t* const other = all + table * size_;
      for (int64_t k = 0; k < size_; ++k) all[k] += other[k];
    }
  }

  // 0 for a number that does not occur. (Another thread may write the elements, so a number may be
  // outside.)
  int64_t* data() { return memory_.data_as<int64_t>(); }

 private:
  template <class T>
  void fill(const T* from, int64_t count, int64_t smallest, bool counts, int64_t* own) const {
    const auto size = static_cast<uint64_t>(size_);
    const auto place = [&](int64_t i) {
      return static_cast<uint64_t>(from[i]) - static_cast<uint64_t>(smallest);
    };
    if (!counts) {
      for (int64_t i = 0; i < count; ++i) {
        if (place(i) < size) own[place(i)] = 1;
      }
      return;
    }
    int64_t i = 0;
    if (turns_ == kInTurn) {
      for (; i + kInTurn <= count; i += kInTurn) {
#pragma GCC unroll 4
        for (int64_t turn = 0; turn < kInTurn; ++turn) {
          const uint64_t at = place(i + turn);
          if (at < size) ++own[turn * size_ + static_cast<int64_t>(at)];
        }
      }
    }
    for (; i < count; ++i) {
      if (place(i) < size) ++own[place(i)];
    }
  }

  int64_t size_, turns_ = 1, tables_ = 1;
  Tensor memory_;
};

// The first position of each number of a span that occurs.
template <class T>
Tensor first_positions(const T* from, int64_t count, const Span& span, const int64_t* number,
                       int64_t found) {
  // One more, for a number that another thread has written since.
  const Tensor positions = tsr::empty(Dims{found + 1}, DType::kInt64);
  auto* const position = positions.data_as<int64_t>();
  const auto last = static_cast<uint64_t>(span.size - 1);
  for (int64_t i = count; i-- > 0;) {
    const uint64_t at = static_cast<uint64_t>(from[i]) - static_cast<uint64_t>(span.smallest);
    position[number[std::min(at, last)]] = i;
  }
  return clone(narrow(positions, 0, 0, found));
}

// Of a contiguous line in the memory of the host.
template <class T>
UniqueAll host_counted(const Tensor& line, const Span& span, Wanted wanted) {
  const int64_t count = line.numel();
  const T* const from = line.data_as<T>();
  Tables tables(from, count, span, wanted.counts);
  int64_t* const number = tables.data();
  // Every number of the span is written; the next one writes over one that does not occur.
  const Tensor values = tsr::empty(Dims{span.size}, line.dtype());
  const Tensor counts = tsr::empty(Dims{wanted.counts ? span.size : 1}, DType::kInt64);
  T* const value = values.data_as<T>();
  auto* const length = counts.data_as<int64_t>();
  int64_t found = 0;
  for (int64_t k = 0; k < span.size; ++k) {
    const int64_t occurs = number[k];
    value[found] = static_cast<T>(span.smallest + k);
    length[wanted.counts ? found : 0] = occurs;
    number[k] = found;
    found += occurs != 0 ? 1 : 0;
  }
  UniqueAll result;
  result.values = clone(narrow(values, 0, 0, found));
  if (wanted.counts) result.counts = clone(narrow(counts, 0, 0, found));
  if (wanted.indices) result.indices = first_positions(from, count, span, number, found);
  if (!wanted.inverse) return result;
  result.inverse_indices = tsr::empty(Dims{count}, DType::kInt64);
  auto* const to = result.inverse_indices.data_as<int64_t>();
  const auto last = static_cast<uint64_t>(span.size - 1);
  parallel_for(count, Tables::kPart, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t at = static_cast<uint64_t>(from[i]) - static_cast<uint64_t>(span.smallest);
      to[i] = number[std::min(at, last)];
    }
  });
  return result;
}

// The same by kernels of the device, but without the first positions.
UniqueAll device_counted(const Tensor& line, const Span& span, Wanted wanted) {
  const Tensor numbers = subtract(cast_memory(line, DType::kInt64), span.smallest);
  const Tensor counts = bincount(numbers, {});
  const Tensor present = nonzero(counts).front();
  UniqueAll result;
  result.values = cast_memory(add(present, span.smallest), line.dtype());
  if (wanted.counts) result.counts = take(counts, present, 0);
  if (wanted.inverse)
    result.inverse_indices = take(subtract(cumulative_sum(not_equal(counts, 0)), 1), numbers, 0);
  return result;
}

std::optional<UniqueAll> counted(const Tensor& input, Wanted wanted) {
  const bool on_host = input.device().is_cpu();
  if (wanted.indices && !on_host) return std::nullopt;
  const Tensor line = contiguous(reshape(input.detached(), Dims{-1}));
  const std::optional<Span> span = Span::of(line);
  if (!span.has_value()) return std::nullopt;
  UniqueAll found;
  if (on_host) {
    found = visit_dtype(line.dtype(), [&]<class T>(TypeTag<T>) -> UniqueAll {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return host_counted<T>(line, *span, wanted);
      else
        return {};
    });
  } else {
    found = device_counted(line, *span, wanted);
  }
  if (wanted.inverse) found.inverse_indices = reshape(found.inverse_indices, input.sizes());
  return found;
}

// Each element of a (rows, columns) tensor replaced by the number of its value among those of its
// row, in order.
Tensor dense_ranks(const Tensor& rows) {
  const int64_t columns = rows.size(1);
  const auto [sorted, positions] = sort_with_indices(rows, 1);
  const int64_t rest = columns - 1;
  const Tensor differs = not_equal(narrow(sorted, 1, 1, rest), narrow(sorted, 1, 0, rest));
  const Tensor first = zeros(Dims{rows.size(0), 1}, DType::kInt64, rows.device());
  const Tensor numbers = ops::concat(std::array<Tensor, 2>{first, cumulative_sum(differs, 1)}, 1);
  return scatter_add(zeros(rows.sizes(), DType::kInt64, rows.device()), 1, positions, numbers);
}

// One number for each column of a (rows, columns) tensor: equal columns have the same, and they are
// in the order of the columns read from the top. Rows are joined in pairs, so that everything is
// sorted about twice.
Tensor column_ranks(Tensor rows) {
  if (rows.size(0) == 0) return zeros(Dims{rows.size(1)}, DType::kInt64, rows.device());
  Tensor ranks = dense_ranks(rows);
  while (ranks.size(0) > 1) {
    const int64_t pairs = ranks.size(0) / 2;
    const Tensor upper = slice(ranks, 0, 0, 2 * pairs, 2);
    const Tensor lower = slice(ranks, 0, 1, 2 * pairs, 2);
    const Tensor joined = dense_ranks(add(multiply(upper, ranks.size(1)), lower));
    const Tensor odd = narrow(ranks, 0, 2 * pairs, ranks.size(0) - 2 * pairs);
    ranks = odd.size(0) == 0 ? joined : ops::concat(std::array<Tensor, 2>{joined, odd}, 0);
  }
  return reshape(ranks, Dims{-1});
}

// The slices of an axis as rows: (slices, elements of a slice); complex numbers as two elements.
Tensor slices_as_rows(const Tensor& input, int64_t axis) {
  const Tensor plain = input.detached();
  const Tensor moved = moveaxis(plain, Dims{axis}, Dims{0});
  const int64_t count = moved.size(0);
  const int64_t each = count == 0 ? 0 : moved.numel() / count;
  const Tensor flat = reshape(moved, Dims{count, each});
  if (!is_complex(flat.dtype())) return flat;
  return reshape(view_as_real(contiguous(flat)), Dims{count, 2 * each});
}

// Columns are ranked one after the other: in parallel, on every device, and in the host's memory
// faster for few of them.
RowOrder ordered_slices(const Tensor& rows) {
  constexpr int64_t kFewColumns = 8;
  if (rows.device().is_cpu() && rows.size(1) > kFewColumns) return order_of_rows(rows);
  const Tensor ranks = column_ranks(contiguous(matrix_transpose(rows)));
  const Tensor order = argsort(ranks, 0);
  return {order, differs_from_last(take(ranks, order, 0))};
}

int64_t check_axis(const Tensor& input, int64_t axis) {
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least 1 dimension, got a 0-dim tensor");
  return wrap_axis(axis, input.ndim());
}

Unique consecutive_slices(const Tensor& input, int64_t axis, Wanted wanted) {
  const Tensor plain = input.detached();
  const int64_t count = plain.size(axis);
  const int64_t rest = std::max<int64_t>(count - 1, 0);
  const Tensor differs =
      not_equal(narrow(plain, axis, count - rest, rest), narrow(plain, axis, 0, rest));
  Dims others;
  for (int64_t d = 0; d < plain.ndim(); ++d) {
    if (d != axis) others.push_back(d);
  }
  const Tensor any_differs = others.empty() ? differs : any(differs, DimsView(others));
  const Runs runs(marks_of(any_differs, count, plain.device()));
  return {take(plain, runs.starts, axis), wanted.inverse ? runs.numbers() : Tensor(),
          wanted.counts ? runs.counts() : Tensor()};
}

// ---- Runs in the memory of the host ----

// One pass over a contiguous line that is not empty. No processor foresees where a run ends, so
// that every element is written: behind its run if it does not begin one, where the next run writes
// over it. What is not wanted is not written.
template <class T, bool kNumbers, bool kCounts>
Unique host_runs(const Tensor& line) {
  const int64_t count = line.numel();
  const Tensor values = tsr::empty(Dims{count}, line.dtype());
  const Tensor starts = tsr::empty(Dims{kCounts ? count + 1 : 0}, DType::kInt64);
  const T* from = line.data_as<T>();
  T* value = values.data_as<T>();
  auto* start = starts.data_as<int64_t>();
  Unique found;
  int64_t* number = nullptr;
  if constexpr (kNumbers) {
    found.inverse_indices = tsr::empty(Dims{count}, DType::kInt64);
    number = found.inverse_indices.data_as<int64_t>();
    number[0] = 0;
  }
  value[0] = from[0];
  if constexpr (kCounts) start[0] = 0;
  int64_t run = 0;
  for (int64_t i = 1; i < count; ++i) {
    const T element = from[i];
    value[run + 1] = element;
    if constexpr (kCounts) start[run + 1] = i;
    run += element != from[i - 1] ? 1 : 0;
    if constexpr (kNumbers) number[i] = run;
  }
  found.values = clone(narrow(values, 0, 0, run + 1));
  if constexpr (kCounts) {
    start[run + 1] = count;
    found.counts = tsr::empty(Dims{run + 1}, DType::kInt64);
    auto* length = found.counts.data_as<int64_t>();
    for (int64_t r = 0; r <= run; ++r) length[r] = start[r + 1] - start[r];
  }
  return found;
}

// (A byte of a bool from elsewhere may be any number.)
Unique runs_of_line(const Tensor& input, Wanted wanted) {
  const Tensor line = input.detached();
  if (!line.device().is_cpu() || line.numel() == 0) return consecutive_slices(line, 0, wanted);
  return visit_dtype(line.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      const Tensor whole = contiguous(line);
      if (wanted.inverse) return host_runs<T, true, true>(whole);
      return wanted.counts ? host_runs<T, false, true>(whole) : host_runs<T, false, false>(whole);
    } else {
      return consecutive_slices(line, 0, wanted);
    }
  });
}

Unique runs_of(const Tensor& input, std::optional<int64_t> axis, Wanted wanted) {
  if (!axis.has_value()) return runs_of_line(reshape(input.detached(), Dims{-1}), wanted);
  const int64_t along = check_axis(input, *axis);
  return input.ndim() == 1 ? runs_of_line(input, wanted) : consecutive_slices(input, along, wanted);
}

}  // namespace

UniqueAll unique_all(const Tensor& input) {
  constexpr Wanted kAll{.indices = true, .inverse = true, .counts = true};
  if (const std::optional<UniqueAll> found = counted(input, kAll)) return *found;
  const Ordered ordered = Ordered::of(input);
  return {ordered.values(), take(ordered.order, ordered.runs.starts, 0), ordered.inverse(input),
          ordered.runs.counts()};
}

std::tuple<Tensor, Tensor> unique_counts(const Tensor& input) {
  if (const std::optional<UniqueAll> found = counted(input, {.counts = true}))
    return {found->values, found->counts};
  const Ordered ordered = Ordered::of(input);
  return {ordered.values(), ordered.runs.counts()};
}

std::tuple<Tensor, Tensor> unique_inverse(const Tensor& input) {
  if (const std::optional<UniqueAll> found = counted(input, {.inverse = true}))
    return {found->values, found->inverse_indices};
  const Ordered ordered = Ordered::of(input);
  return {ordered.values(), ordered.inverse(input)};
}

Tensor unique_values(const Tensor& input) {
  if (const std::optional<UniqueAll> found = counted(input, {})) return found->values;
  return Ordered::of(input).values();
}

Unique unique_axis(const Tensor& input, int64_t axis) {
  const int64_t along = check_axis(input, axis);
  const int64_t count = input.size(along);
  if (count == 0) return consecutive_slices(input, along, {.inverse = true, .counts = true});
  const auto [order, differs] = ordered_slices(slices_as_rows(input, along));
  const Runs runs(marks_of(differs, count, order.device()));
  return {take(input.detached(), take(order, runs.starts, 0), along),
          scattered(order, runs.numbers()), runs.counts()};
}

Unique unique_consecutive(const Tensor& input, std::optional<int64_t> axis) {
  Unique found = runs_of(input, axis, {.inverse = true, .counts = true});
  if (!axis.has_value()) found.inverse_indices = reshape(found.inverse_indices, input.sizes());
  return found;
}

std::tuple<Tensor, Tensor> unique_consecutive_counts(const Tensor& input,
                                                     std::optional<int64_t> axis) {
  const Unique found = runs_of(input, axis, {.counts = true});
  return {found.values, found.counts};
}

Tensor unique_consecutive_values(const Tensor& input, std::optional<int64_t> axis) {
  return runs_of(input, axis, {}).values;
}

}  // namespace tsr::ops
