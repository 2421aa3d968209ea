// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Transforms of one length: their tables, and how one row or a few are computed with them.
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/fft/fft_rows.h"
#include "kernel/contract.h"

namespace tsr::cpu {

// A forward or backward transform of `length` complex numbers. Which way computes it, and in which
// order, depends on the length alone: an element's value does not depend on the batch. Constructors
// throw std::bad_alloc.
template <class T>
class Transform {
 public:
  Transform(const FftRows<T>& rows, int64_t length);

  [[nodiscard]] int64_t length() const { return length_; }
  // Whether run_lanes can be called with any lanes.
  [[nodiscard]] bool is_short() const { return way_ == Way::kShort; }
  // Whether it can be called, and is worth it, with `width` lanes that are neighbours.
  [[nodiscard]] bool takes_neighbours() const {
    return way_ == Way::kSplit && length_ <= kMostNeighbours;
  }
  // Whether it can be called, and is worth it, with `width` contiguous lines.
  [[nodiscard]] bool takes_lines() const { return takes_lines_; }
  // The numbers (not the complex ones) of scratch memory for a call.
  [[nodiscard]] int64_t scratch() const { return scratch_; }
  [[nodiscard]] int64_t neighbour_scratch() const;
  [[nodiscard]] int64_t line_scratch() const;
  [[nodiscard]] int64_t nbytes() const;

  // At most rows.width transforms side by side; if this one is not short, as many, which are
  // neighbours or contiguous lines.
  void run_lanes(const FftOperands<T>& at, T* scratch) const;
  // As many real transforms of twice the length, from pairs of real numbers to halves, and back.
  void run_lanes_forward(const FftHalf<T>& half, const FftOperands<T>& at, T* scratch) const;
  void run_lanes_backward(const FftHalf<T>& half, const FftOperands<T>& at, T* scratch) const;
  // One contiguous row; `output` may be `input`. Long ones use all threads.
  [[nodiscard]] kernel::Status run(const T* input, T* output, T scale, bool swap, T* scratch) const;

 private:
  enum class Way { kShort, kSplit, kChirp };
  // Longer lines in all lanes would not fit into the second-level cache.
  static constexpr int64_t kMostNeighbours = 2048;

  void make_short();
  void make_split(int64_t columns);
  void make_chirp();
  [[nodiscard]] FftLanes<T> make_lanes(int64_t length);
  [[nodiscard]] int64_t groups(int64_t count) const;
  [[nodiscard]] kernel::Status run_split(const T* input, T* output, T scale, bool swap,
                                         T* scratch) const;
  [[nodiscard]] kernel::Status run_chirp(const T* input, T* output, T scale, bool swap,
                                         T* scratch) const;

  const FftRows<T>& rows_;
  int64_t length_;
  Way way_ = Way::kShort;
  bool takes_lines_ = false;
  int64_t scratch_ = 0;
  FftLanes<T> lanes_{};
  FftSplit<T> split_{};
  // The tables that lanes_ and split_ refer to.
  std::vector<std::vector<T>> tables_;
  // The way of a length with a large prime factor (L. Bluestein, A linear filtering approach to the
  // computation of discrete Fourier transform, 1970): a convolution with a chirp.
  std::shared_ptr<const Transform> around_;
  std::vector<T> chirp_, response_;
};

// The transform of a length, from a cache of limited size.
template <class T>
std::shared_ptr<const Transform<T>> transform_of(int64_t length);

// exp(-πik/h) of k < h for a real transform of 2 h numbers: the cosines, then the sines of πk/h;
// from the same cache.
template <class T>
std::shared_ptr<const std::vector<T>> half_roots_of(int64_t h);

}  // namespace tsr::cpu
