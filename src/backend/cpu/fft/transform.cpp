// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/fft/transform.h"

#include <algorithm>
#include <atomic>

#include "backend/cpu/fft/roots.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::Status;

namespace {

// Lengths from here on are split where their factors allow.
constexpr int64_t kShortest = 33;
constexpr int64_t kSmallestPart = 4;
// Lanes that the choice of a split reckons with: the same for all instruction sets.
constexpr int64_t kReckonedLanes = 8;
// Complex numbers from which a transform is divided among threads.
constexpr int64_t kParallel = int64_t{1} << 14;

// The radices of the passes, in order: the last pass, which multiplies by no twiddle factors, has
// the largest one. Empty for 1, and for a length with a prime factor above kMaxFftRadix.
std::vector<int64_t> radices_of(int64_t length) {
  std::vector<int64_t> radices;
  int twos = 0;
  for (; length % 2 == 0; length /= 2) ++twos;
  // Few passes: radix 8, and 16 where that leaves no smaller one.
  while (twos % 3 != 0 && twos >= 4 && twos != 5) {
    radices.push_back(16);
    twos -= 4;
  }
  if (twos % 3 != 0) {
    radices.push_back(twos % 3 == 1 ? 2 : 4);
    twos -= twos % 3;
  }
  for (; twos > 0; twos -= 3) radices.push_back(8);
  for (int64_t odd = 3; odd <= kMaxFftRadix; odd += 2) {
    for (; length % odd == 0; length /= odd) radices.push_back(odd);
  }
  if (length > 1) return {};
  std::sort(radices.begin(), radices.end());
  return radices;
}

// The cost of one block of a length; without a limit if it has no passes.
double block_cost(int64_t length) {
  if (length == 1) return 1;
  double each = 0;
  for (const int64_t radix : radices_of(length))
    each += radix == 4    ? 4.5
            : radix == 8  ? 6.5
            : radix == 16 ? 8.5
                          : static_cast<double>(radix) + 1.5;
  return each == 0 ? 1e300 : each * static_cast<double>(length);
}

double reckoned_groups(int64_t count) {
  return static_cast<double>((count + kReckonedLanes - 1) / kReckonedLanes);
}

struct Choice {
  int64_t columns;
  double cost;
};

// The cheapest split; columns 0 when there is none.
Choice choose_split(int64_t length) {
  Choice best{0, 1e300};
  for (int64_t part = kSmallestPart; part * part <= length; ++part) {
    if (length % part != 0) continue;
    const int64_t other = length / part;
    const double cost =
        reckoned_groups(part) * block_cost(other) + reckoned_groups(other) * block_cost(part);
    if (cost <= best.cost) best = {part, cost};
  }
  return best;
}

bool has_small_factors(int64_t length) {
  return length == 1 || !radices_of(length).empty();
}

// The cheapest length of at least `least` for the convolution, with factors 2, 3 and 5.
int64_t choose_around(int64_t least) {
  int64_t best = 0;
  double cost = 1e300;
  int64_t limit = 64;
  while (limit < least) limit *= 2;
  for (int64_t five = 1; five <= limit; five *= 5) {
    for (int64_t three = five; three <= limit; three *= 3) {
      int64_t length = three;
      while (length < least || length < kShortest) length *= 2;
      const Choice choice = choose_split(length);
      if (length > limit || choice.columns == 0 || choice.cost >= cost) continue;
      cost = choice.cost;
      best = length;
    }
  }
  return best;
}

}  // namespace

template <class T>
Transform<T>::Transform(const FftRows<T>& rows, int64_t length) : rows_(rows), length_(length) {
  const bool small = has_small_factors(length);
  const int64_t columns = small && length >= kShortest ? choose_split(length).columns : 0;
  if (!small) {
    make_chirp();
  } else if (columns == 0) {
    make_short();
  } else {
    make_split(columns);
  }
}

template <class T>
int64_t Transform<T>::groups(int64_t count) const {
  return (count + rows_.width - 1) / rows_.width;
}

template <class T>
int64_t Transform<T>::nbytes() const {
  size_t count = chirp_.size() + response_.size();
  for (const std::vector<T>& table : tables_) count += table.size();
  return static_cast<int64_t>(count * sizeof(T) + sizeof(*this));
}

template <class T>
int64_t Transform<T>::neighbour_scratch() const {
  const int64_t blocks =
      split_.rows * (split_.columns + 1) + 2 * std::max(split_.rows, split_.columns);
  return 2 * rows_.width * blocks;
}

template <class T>
int64_t Transform<T>::line_scratch() const {
  return neighbour_scratch() + 2 * rows_.width * (length_ + 1);
}

template <class T>
FftLanes<T> Transform<T>::make_lanes(int64_t length) {
  FftLanes<T> lanes{};
  lanes.length = length;
  const Roots<T> roots(length);
  int64_t inner = 1;
  for (const int64_t radix : radices_of(length)) {
    const int64_t whole = length / inner;
    FftPass<T>& pass = lanes.passes[lanes.count++];
    pass = {radix, whole / radix, inner, nullptr, nullptr};
    std::vector<T>& twiddles = tables_.emplace_back();
    for (int64_t p = 0; p < pass.count; ++p) {
      for (int64_t k = 1; k < radix; ++k) {
        const std::complex<T> root = roots(p * k * inner);
        twiddles.insert(twiddles.end(), {root.real(), root.imag()});
      }
    }
    pass.twiddles = twiddles.data();
    if (radix % 2 != 0) {
      std::vector<T>& circle = tables_.emplace_back();
      for (int64_t j = 0; j < radix; ++j) {
        const std::complex<T> root = roots(j * (length / radix));
        circle.insert(circle.end(), {root.real(), -root.imag()});
      }
      pass.roots = circle.data();
    }
    inner *= radix;
  }
  return lanes;
}

template <class T>
void Transform<T>::make_short() {
  way_ = Way::kShort;
  lanes_ = make_lanes(length_);
  scratch_ = 2 * rows_.width * (3 * length_ + 1);
}

template <class T>
void Transform<T>::make_split(int64_t columns) {
  way_ = Way::kSplit;
  split_.columns = columns;
  split_.rows = length_ / columns;
  split_.down = make_lanes(split_.rows);
  split_.across = make_lanes(columns);
  const Roots<T> roots(length_);
  const int64_t width = rows_.width;
  std::vector<T>& twiddles = tables_.emplace_back();
  twiddles.resize(static_cast<size_t>(groups(columns) * split_.rows * 2 * width));
  for (int64_t column = 0; column < columns; ++column) {
    T* block = twiddles.data() + column / width * split_.rows * 2 * width + column % width;
    for (int64_t k = 0; k < split_.rows; ++k, block += 2 * width) {
      const std::complex<T> root = roots(column * k);
      block[0] = root.real();
      block[width] = root.imag();
    }
  }
  split_.twiddles = twiddles.data();
  // A line by itself would leave lanes empty: then moving lines into the lanes pays.
  takes_lines_ = length_ <= kMostNeighbours && (columns % width != 0 || split_.rows % width != 0);
  const int64_t middle = groups(split_.rows) * columns;
  scratch_ = 2 * width * (middle + 2 * std::max(split_.rows, columns));
}

template <class T>
void Transform<T>::make_chirp() {
  way_ = Way::kChirp;
  const int64_t n = length_;
  const int64_t m = choose_around(2 * n - 1);
  around_ = transform_of<T>(m);
  scratch_ = 2 * m + around_->scratch();
  const Roots<T> roots(2 * n);
  chirp_.resize(static_cast<size_t>(2 * n));
  std::vector<T> wrapped(static_cast<size_t>(2 * m));
  // The square of k modulo 2n.
  int64_t square = 0;
  for (int64_t k = 0; k < n; ++k) {
    const std::complex<T> root = roots(square);
    T* const at = chirp_.data() + 2 * k;
    at[0] = root.real();
    at[1] = root.imag();
    for (const int64_t place : {k, (m - k) % m}) {
      wrapped[static_cast<size_t>(2 * place)] = at[0];
      wrapped[static_cast<size_t>(2 * place + 1)] = -at[1];
    }
    square = (square + 2 * k + 1) % (2 * n);
  }
  response_.resize(wrapped.size());
  std::vector<T> scratch(static_cast<size_t>(around_->scratch()));
  const Status status = around_->run(wrapped.data(), response_.data(), T{1} / static_cast<T>(m),
                                     false, scratch.data());
  if (status != kernel::kOk) throw std::bad_alloc();
}

template <class T>
void Transform<T>::run_lanes(const FftOperands<T>& at, T* scratch) const {
  if (way_ != Way::kSplit)
    rows_.lanes(lanes_, at, scratch);
  else if (at.input_lane == 2)
    rows_.lanes_split(split_, at, scratch);
  else
    rows_.lines_split(split_, at, scratch);
}

template <class T>
void Transform<T>::run_lanes_forward(const FftHalf<T>& half, const FftOperands<T>& at,
                                     T* scratch) const {
  if (way_ == Way::kSplit)
    rows_.lines_split_forward(split_, half, at, scratch);
  else
    rows_.lanes_forward(lanes_, half, at, scratch);
}

template <class T>
void Transform<T>::run_lanes_backward(const FftHalf<T>& half, const FftOperands<T>& at,
                                      T* scratch) const {
  if (way_ == Way::kSplit)
    rows_.lines_split_backward(split_, half, at, scratch);
  else
    rows_.lanes_backward(lanes_, half, at, scratch);
}

template <class T>
Status Transform<T>::run(const T* input, T* output, T scale, bool swap, T* scratch) const {
  if (way_ == Way::kSplit) return run_split(input, output, scale, swap, scratch);
  if (way_ == Way::kChirp) return run_chirp(input, output, scale, swap, scratch);
  const int64_t row = 2 * length_;
  rows_.lanes(lanes_, {input, output, 2, row, 2, row, 1, scale, swap}, scratch);
  return kernel::kOk;
}

template <class T>
Status Transform<T>::run_split(const T* input, T* output, T scale, bool swap, T* scratch) const {
  const int64_t width = rows_.width;
  T* const middle = scratch;
  const int64_t lanes = 4 * width * std::max(split_.rows, split_.columns);
  T* const blocks = scratch + 2 * width * groups(split_.rows) * split_.columns;
  const int64_t down = groups(split_.columns);
  const int64_t across = groups(split_.rows);
  if (length_ < kParallel || in_parallel_region() || num_threads() == 1) {
    rows_.columns(split_, input, swap, 0, down, middle, blocks);
    rows_.rows(split_, middle, output, scale, swap, 0, across, blocks);
    return kernel::kOk;
  }
  std::atomic<bool> missing{false};
  const auto each = [&](int64_t count, auto step) {
    parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      const Workspace own(lanes * static_cast<int64_t>(sizeof(T)));
      if (own.data() == nullptr) {
        missing.store(true, std::memory_order_relaxed);
        return;
      }
      step(begin, end, static_cast<T*>(own.data()));
    });
  };
  each(down, [&](int64_t begin, int64_t end, T* own) {
    rows_.columns(split_, input, swap, begin, end, middle, own);
  });
  each(across, [&](int64_t begin, int64_t end, T* own) {
    rows_.rows(split_, middle, output, scale, swap, begin, end, own);
  });
  return missing ? static_cast<Status>(Code::kOutOfMemory) : kernel::kOk;
}

template <class T>
Status Transform<T>::run_chirp(const T* input, T* output, T scale, bool swap, T* scratch) const {
  const int64_t n = length_;
  const int64_t m = around_->length();
  T* const row = scratch;
  T* const inside = scratch + 2 * m;
  rows_.multiply(n, input, swap, chirp_.data(), T{1}, false, row);
  std::fill(row + 2 * n, row + 2 * m, T{0});
  Status status = around_->run(row, row, T{1}, false, inside);
  if (status != kernel::kOk) return status;
  // The parts change places, so that a forward transform goes back.
  rows_.multiply(m, row, false, response_.data(), T{1}, true, row);
  status = around_->run(row, row, T{1}, false, inside);
  rows_.multiply(n, row, true, chirp_.data(), scale, swap, output);
  return status;
}

template class Transform<float>;
template class Transform<double>;

}  // namespace tsr::cpu
