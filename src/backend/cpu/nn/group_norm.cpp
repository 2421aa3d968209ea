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
        space_(planes_ * (chunks_ * 16 + 4 * static_cast<int64_t>(sizeof(T)))) {}

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
  void divide_space() {
    first_ = static_cast<double*>(space_.data());
    second_ = first_ + planes_ * chunks_;
    mean_ = reinterpret_cast<T*>(second_ + planes_ * chunks_);
    a_ = mean_ + planes_;
    b_ = a_ + planes_;
    c_ = b_ + planes_;
  }

  [[nodiscard]] bool backward() const { return plan_.backward != 0; }
  [[nodiscard]] bool tangent() const { return plan_.backward == 2; }
  [[nodiscard]] bool writes() const { return !backward() || norm_.dx != nullptr; }
  [[nodiscard]] int64_t channel(int64_t plane) const { return plane % plan_.channels; }

  // The first number of the group that the plane is in: the shift of its moments.
  [[nodiscard]] T shift(int64_t plane) const {
    const int64_t head = plane / each_ * each_;
    if (plan_.channels_last == 0) return static_cast<T>(norm_.x[head * plan_.inner]);
    return static_cast<T>(
        norm_.x[head / plan_.channels * plan_.inner * plan_.channels + channel(head)]);
  }

  // From the sums over the planes of a group: its statistics, or in a backward pass the
  // coefficients of dx = g a - (x - mean) b - c; and the coefficients of y = (x - mean) a + b.
  void set_group(int64_t group) {
    const int64_t head = group * each_;
    const int64_t c = channel(head);
    double sum = 0;
    double other = 0;
    for (int64_t k = 0; k < each_; ++k) {
      const bool weighted = backward() && !tangent();
      const double weight = weighted ? static_cast<double>(norm_.weight_at(c + k)) : 1;
      sum += weight * first_[head + k];
      other += weight * second_[head + k];
    }
    const auto count = static_cast<double>(each_ * plan_.inner);
    math::NormSlope slope{};
    if (backward()) {
      slope = math::norm_slope(false, 1, static_cast<double>(norm_.rstd[group]), sum, other, count);
    } else {
      const auto from = static_cast<double>(shift(head));
      const math::GroupMoments found = math::group_moments(from, sum, other, count);
      norm_.mean[group] = static_cast<T>(found.mean);
      norm_.rstd[group] = static_cast<T>(math::reciprocal_deviation(found.variance, plan_.eps));
    }
    for (int64_t k = 0; k < each_; ++k) {
      mean_[head + k] = norm_.mean[group];
      a_[head + k] = norm_.rstd[group] * norm_.weight_at(c + k);
      const double after = tangent() ? static_cast<double>(norm_.weight_at(c + k)) : 1;
      b_[head + k] = backward() ? static_cast<T>(after * slope.b) : norm_.bias_at(c + k);
      c_[head + k] = static_cast<T>(after * slope.c);
    }
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

  // The sums over the planes of the group from plane `head` on. Where the weights stay outside of
  // them, their total alone is needed: it stands in the first plane, because the numbers of a group
  // are contiguous.
  void sum_planes(int64_t head) {
    T slopes[kPieceSize<S>];
    T numbers[kPieceSize<S>];
    std::fill_n(first_ + head, each_, 0.0);
    std::fill_n(second_ + head, each_, 0.0);
    const T center = backward() ? norm_.mean[head / each_] : shift(head);
    const bool apart = backward() && !tangent();
    const int64_t run = apart ? plan_.inner : each_ * plan_.inner;
    for (int64_t k = head; k < head + (apart ? each_ : 1); ++k) {
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

  void write_plane(int64_t k) const {
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
        norm_.rows.normalize(count, x, mean_[k], a_[k], b_[k], result);
      }
      norm_.widen.write(count, to + at, result);
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
    double* first = first_ + chunk * planes_ + plane;
    double* second = second_ + chunk * planes_ + plane;
    std::fill_n(first, plan_.channels, 0.0);
    std::fill_n(second, plan_.channels, 0.0);
    for_chunk(image, chunk, [&](int64_t at, int64_t rows, int64_t c, int64_t width) {
      const T* x = norm_.widen.read(rows * width, norm_.x + at, numbers);
      const T* center = mean_ + plane + c;
      if (backward()) {
        const T* g = norm_.widen.read(rows * width, norm_.y + at, slopes);
        norm_.rows.moments_channels_backward(rows, width, g, x, center, first + c, second + c);
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
      } else {
        norm_.rows.normalize_channels(rows, width, x, mean_ + k, a_ + k, b_ + k, result);
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
  double* first_ = nullptr;   // for each plane: the sum of x - shift, or of g
  double* second_ = nullptr;  // and of its square, or of g (x - mean)
  T* mean_ = nullptr;         // for each plane: the coefficients
  T* a_ = nullptr;
  T* b_ = nullptr;
  T* c_ = nullptr;
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
