// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// group_norm: sums over each channel of each image, the statistics of the groups from them, and the
// coefficients with which each channel is then normalised.
#include <type_traits>

#include "backend/cpu/nn/norm_typed.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::NormPlan;
using kernel::Status;

// "Plane" k is channel k % channels of image k / channels; the planes of a group are neighbours.
template <class S>
class Groups {
  using T = Opmath<S>;

 public:
  explicit Groups(const Norm<S>& norm)
      : norm_(norm),
        plan_(norm.plan),
        each_(plan_.channels / plan_.groups),
        planes_(plan_.outer * plan_.channels),
        chunk_(chunk_rows(plan_.inner)),
        chunks_(plan_.channels_last != 0 ? (plan_.inner + chunk_ - 1) / chunk_ : 1),
        space_(planes_ * (chunks_ * (norm.dual() ? 32 : 16) +
                          kCoefficients * static_cast<int64_t>(sizeof(T)))) {}

  Status run() {
    if (space_.data() == nullptr) return no_memory();
    divide_space();
    if (plan_.channels_last != 0)
      images();
    else
      planes();
    if (norm_.dw != nullptr || norm_.db != nullptr) set_parameters();
    return kernel::kOk;
  }

 private:
  static constexpr int64_t kCoefficients = 5;  // for each plane

  void divide_space() {
    const int64_t sums = planes_ * chunks_;
    first_ = static_cast<double*>(space_.data());
    second_ = first_ + sums;
    tangents_ = second_ + sums;
    dots_ = tangents_ + sums;
    mean_ = reinterpret_cast<T*>(norm_.dual() ? dots_ + sums : tangents_);
    a_ = mean_ + planes_;
    b_ = a_ + planes_;
    c_ = b_ + planes_;
    bias_ = c_ + planes_;
  }

  [[nodiscard]] bool backward() const { return plan_.backward != 0; }
  [[nodiscard]] bool writes() const { return !backward() || norm_.dx != nullptr; }
  [[nodiscard]] int64_t channel(int64_t plane) const { return plane % plan_.channels; }

  // The first number of the group that the plane is in: the shift of its moments.
  [[nodiscard]] T shift(int64_t plane) const {
    const int64_t head = plane / each_ * each_;
    if (plan_.channels_last == 0) return static_cast<T>(norm_.x[head * plan_.inner]);
    return static_cast<T>(
        norm_.x[head / plan_.channels * plan_.inner * plan_.channels + channel(head)]);
  }

  [[nodiscard]] double numbers() const { return static_cast<double>(each_ * plan_.inner); }

  // From the sums over the planes of a group: its statistics, the coefficients of
  // y = (x - mean) a + bias, and those of dy = t a - (x - mean) b - c.
  void set_forward(int64_t group) {
    const int64_t head = group * each_;
    DualSums sums{};
    for (int64_t k = head; k < head + each_; ++k) {
      sums.sum += first_[k];
      sums.squares += second_[k];
      if (!norm_.dual()) continue;
      sums.tangents += tangents_[k];
      sums.dot += dots_[k];
    }
    const auto from = static_cast<double>(shift(head));
    const math::GroupMoments found = math::group_moments(from, sums.sum, sums.squares, numbers());
    norm_.mean[group] = static_cast<T>(found.mean);
    norm_.rstd[group] = static_cast<T>(math::reciprocal_deviation(found.variance, plan_.eps));
    for (int64_t k = head; k < head + each_; ++k) {
      const int64_t c = channel(k);
      mean_[k] = norm_.mean[group];
      a_[k] = norm_.rstd[group] * norm_.weight_at(c);
      bias_[k] = norm_.bias_at(c);
      if (!norm_.dual()) continue;
      const auto slope = norm_.dual_slope(c, found.mean, static_cast<double>(norm_.rstd[group]),
                                          from, sums, numbers());
      b_[k] = slope.b;
      c_[k] = slope.c;
    }
  }

  // From the sums over the planes of a group: the coefficients of dx = g a - (x - mean) b - c.
  void set_backward(int64_t group) {
    const int64_t head = group * each_;
    double sum = 0;
    double dot = 0;
    for (int64_t k = head; k < head + each_; ++k) {
      const auto weight = static_cast<double>(norm_.weight_at(channel(k)));
      sum += weight * first_[k];
      dot += weight * second_[k];
    }
    const auto rstd = static_cast<double>(norm_.rstd[group]);
    const math::NormSlope slope = math::norm_slope(false, 1, rstd, sum, dot, numbers());
    for (int64_t k = head; k < head + each_; ++k) {
      mean_[k] = norm_.mean[group];
      a_[k] = norm_.rstd[group] * norm_.weight_at(channel(k));
      b_[k] = static_cast<T>(slope.b);
      c_[k] = static_cast<T>(slope.c);
    }
  }

  void set_group(int64_t group) {
    if (backward())
      set_backward(group);
    else
      set_forward(group);
  }

  // The sums over the images of what the planes of a channel add.
  void set_parameters() {
    parallel_for(plan_.channels, kGrain / plan_.outer + 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        double weight = 0;
        double bias = 0;
        for (int64_t k = c; k < planes_; k += plan_.channels) {
          weight += second_[k] * static_cast<double>(norm_.rstd[k / each_]);
          bias += first_[k];
        }
        if (norm_.dw != nullptr) norm_.dw[c] = static_cast<T>(weight);
        if (norm_.db != nullptr) norm_.db[c] = static_cast<T>(bias);
      }
    });
  }

  // ---- row-major: a plane is `inner` contiguous numbers ----

  void planes() {
    const int64_t grain = kGrain / (each_ * plan_.inner) + 1;
    parallel_for(plan_.outer * plan_.groups, grain, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        sum_planes(group * each_);
        set_group(group);
        if (!writes()) continue;
        for (int64_t k = group * each_; k < (group + 1) * each_; ++k) write_plane(k);
      }
    });
  }

  // Calls fn(offset, count) for the pieces of `length` numbers from the start of a plane on.
  template <class Fn>
  void for_pieces(int64_t plane, int64_t length, Fn fn) const {
    const int64_t most = kIsShort<S> ? kPiece : length;
    for (int64_t i = 0; i < length; i += most)
      fn(plane * plan_.inner + i, std::min(most, length - i));
  }

  // The sums over the planes of the group from plane `head` on. A forward pass has no weights in
  // them and needs their total alone: it stands in the first plane, because the numbers of a group
  // are contiguous.
  void sum_planes(int64_t head) {
    std::fill_n(first_ + head, each_, 0.0);
    std::fill_n(second_ + head, each_, 0.0);
    if (norm_.dual()) {
      std::fill_n(tangents_ + head, each_, 0.0);
      std::fill_n(dots_ + head, each_, 0.0);
      sum_duals(head);
      return;
    }
    T slopes[kPieceSize<S>];
    T numbers[kPieceSize<S>];
    const T center = backward() ? norm_.mean[head / each_] : shift(head);
    const int64_t run = backward() ? plan_.inner : each_ * plan_.inner;
    for (int64_t k = head; k < head + (backward() ? each_ : 1); ++k) {
      for_pieces(k, run, [&](int64_t at, int64_t count) {
        const T* x = norm_.widen.read(count, norm_.x + at, numbers);
        if (backward()) {
          const T* g = norm_.widen.read(count, norm_.y + at, slopes);
          norm_.rows.moments_backward(count, g, x, center, &first_[k], &second_[k]);
        } else {
          norm_.rows.moments(count, x, center, &first_[k], &second_[k]);
        }
      });
    }
  }

  void sum_duals(int64_t head) {
    T tangents[kPieceSize<S>];
    T numbers[kPieceSize<S>];
    const T center = shift(head);
    DualSums sums{};
    for_pieces(head, each_ * plan_.inner, [&](int64_t at, int64_t count) {
      const T* x = norm_.widen.read(count, norm_.x + at, numbers);
      const T* t = norm_.widen.read(count, norm_.t + at, tangents);
      norm_.rows.moments_dual(count, x, t, center, &sums);
    });
    first_[head] = sums.sum;
    second_[head] = sums.squares;
    tangents_[head] = sums.tangents;
    dots_[head] = sums.dot;
  }

  void write_plane(int64_t k) const {
    if (norm_.dual()) return write_dual(k);
    T slopes[kPieceSize<S>];
    T numbers[kPieceSize<S>];
    S* to = backward() ? norm_.dx : norm_.y;
    for_pieces(k, plan_.inner, [&](int64_t at, int64_t count) {
      const T* x = norm_.widen.read(count, norm_.x + at, numbers);
      T* result = norm_.widen.target(to + at, numbers);
      if (backward()) {
        const T* g = norm_.widen.read(count, norm_.y + at, slopes);
        norm_.rows.normalize_backward(count, g, x, mean_[k], a_[k], b_[k], c_[k], result);
      } else {
        norm_.rows.normalize(count, x, mean_[k], a_[k], bias_[k], result);
      }
      norm_.widen.write(count, to + at, result);
    });
  }

  void write_dual(int64_t k) const {
    T tangents[kPieceSize<S>];
    T numbers[kPieceSize<S>];
    for_pieces(k, plan_.inner, [&](int64_t at, int64_t count) {
      const T* x = norm_.widen.read(count, norm_.x + at, numbers);
      const T* t = norm_.widen.read(count, norm_.t + at, tangents);
      T* y = norm_.widen.target(norm_.y + at, numbers);
      T* dy = norm_.widen.target(norm_.dy + at, tangents);
      norm_.rows.normalize_dual(count, x, t, mean_[k], a_[k], bias_[k], b_[k], c_[k], y, dy);
      norm_.widen.write(count, norm_.y + at, y);
      norm_.widen.write(count, norm_.dy + at, dy);
    });
  }

  // ---- channels last: an image is `inner` rows of `channels` numbers ----

  void images() {
    // mean_ is what the sums are centred at until the groups are set.
    for (int64_t k = 0; k < planes_; ++k) mean_[k] = backward() ? norm_.mean[k / each_] : shift(k);
    const int64_t grain = kGrain / (std::min(chunk_, plan_.inner) * plan_.channels) + 1;
    parallel_for(plan_.outer * chunks_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) sum_rows(task / chunks_, task % chunks_);
    });
    parallel_for(plan_.outer, kGrain / (plan_.channels * chunks_) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t n = begin; n < end; ++n) join_chunks(n);
                   for (int64_t group = begin * plan_.groups; group < end * plan_.groups; ++group)
                     set_group(group);
                 });
    if (!writes()) return;
    parallel_for(plan_.outer * chunks_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) write_rows(task / chunks_, task % chunks_);
    });
  }

  // Calls fn(offset, rows, column, columns) for the blocks of a chunk of an image.
  template <class Fn>
  void for_chunk(int64_t image, int64_t chunk, Fn fn) const {
    const int64_t from = chunk * chunk_;
    const int64_t count = std::min(chunk_, plan_.inner - from);
    for_blocks(norm_, image * plan_.inner + from, count,
               [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
                 fn(row * plan_.channels + column, rows, column, columns);
               });
  }

  // The sums of chunk i are planes_ numbers behind those of chunk i - 1.
  void sum_rows(int64_t image, int64_t chunk) {
    T slopes[kBlockSize<S>];
    T numbers[kBlockSize<S>];
    const int64_t plane = image * plan_.channels;
    const int64_t place = chunk * planes_ + plane;
    double* first = first_ + place;
    double* second = second_ + place;
    std::fill_n(first, plan_.channels, 0.0);
    std::fill_n(second, plan_.channels, 0.0);
    if (norm_.dual()) {
      std::fill_n(tangents_ + place, plan_.channels, 0.0);
      std::fill_n(dots_ + place, plan_.channels, 0.0);
    }
    for_chunk(image, chunk, [&](int64_t at, int64_t rows, int64_t c, int64_t width) {
      const T* x = norm_.widen.read(rows * width, norm_.x + at, numbers);
      const T* center = mean_ + plane + c;
      if (backward()) {
        const T* g = norm_.widen.read(rows * width, norm_.y + at, slopes);
        norm_.rows.moments_channels_backward(rows, width, g, x, center, first + c, second + c);
      } else if (norm_.dual()) {
        const T* t = norm_.widen.read(rows * width, norm_.t + at, slopes);
        norm_.rows.moments_channels_dual(rows, width, x, t, center, first + c, second + c,
                                         tangents_ + place + c, dots_ + place + c);
      } else {
        norm_.rows.moments_channels(rows, width, x, center, first + c, second + c);
      }
    });
  }

  void join_chunks(int64_t image) {
    for (int64_t k = image * plan_.channels; k < (image + 1) * plan_.channels; ++k) {
      for (int64_t chunk = 1; chunk < chunks_; ++chunk) {
        first_[k] += first_[chunk * planes_ + k];
        second_[k] += second_[chunk * planes_ + k];
        if (!norm_.dual()) continue;
        tangents_[k] += tangents_[chunk * planes_ + k];
        dots_[k] += dots_[chunk * planes_ + k];
      }
    }
  }

  void write_rows(int64_t image, int64_t chunk) const {
    T slopes[kBlockSize<S>];
    T numbers[kBlockSize<S>];
    S* to = backward() ? norm_.dx : norm_.y;
    for_chunk(image, chunk, [&](int64_t at, int64_t rows, int64_t c, int64_t width) {
      const int64_t k = image * plan_.channels + c;
      const T* x = norm_.widen.read(rows * width, norm_.x + at, numbers);
      T* result = norm_.widen.target(to + at, numbers);
      if (backward()) {
        const T* g = norm_.widen.read(rows * width, norm_.y + at, slopes);
        norm_.rows.normalize_channels_backward(rows, width, g, x, mean_ + k, a_ + k, b_ + k, c_ + k,
                                               result);
      } else if (norm_.dual()) {
        const T* t = norm_.widen.read(rows * width, norm_.t + at, slopes);
        T* dy = norm_.widen.target(norm_.dy + at, slopes);
        norm_.rows.normalize_channels_dual(rows, width, x, t, mean_ + k, a_ + k, bias_ + k, b_ + k,
                                           c_ + k, result, dy);
        norm_.widen.write(rows * width, norm_.dy + at, dy);
      } else {
        norm_.rows.normalize_channels(rows, width, x, mean_ + k, a_ + k, bias_ + k, result);
      }
      norm_.widen.write(rows * width, to + at, result);
    });
  }

  const Norm<S>& norm_;
  const NormPlan& plan_;
  int64_t each_;    // channels of a group
  int64_t planes_;  // images times channels
  int64_t chunk_;   // channels last: rows that are summed together
  int64_t chunks_;
  Workspace space_;
  double* first_ = nullptr;     // for each plane: the sum of x - shift, or of g
  double* second_ = nullptr;    // and of its square, or of g (x - mean)
  double* tangents_ = nullptr;  // and in forward mode of t
  double* dots_ = nullptr;      // and of t (x - shift)
  T* mean_ = nullptr;           // for each plane: the coefficients
  T* a_ = nullptr;
  T* b_ = nullptr;
  T* c_ = nullptr;
  T* bias_ = nullptr;
};

}  // namespace

template <class S>
Status group_norm(const Norm<S>& norm) {
  return Groups<S>(norm).run();
}

template Status group_norm(const Norm<Half>& norm);
template Status group_norm(const Norm<BFloat16>& norm);
template Status group_norm(const Norm<float>& norm);
template Status group_norm(const Norm<double>& norm);

}  // namespace tsr::cpu
