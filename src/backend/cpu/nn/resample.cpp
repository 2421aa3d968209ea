// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Resampling: the maps of a plane one after the other, in bands that stay in the cache.
#include "backend/cpu/nn/resample_rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/widen.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::kMaxResampledAxes;
using kernel::ResampleAxis;
using kernel::ResamplePlan;
using kernel::Status;

constexpr int64_t kBand = 32768;  // numbers of a band before or after a map, about
constexpr int64_t kGrain = 8192;

// The axes to map, in order: first those that shrink the most, so that the others have less to do.
// Of equal ones the outermost shrinks first and the innermost grows first, because rows of numbers
// are cheaper than single numbers. The order depends on the sizes only.
struct Steps {
  int count = 0;
  int axes[kMaxResampledAxes];

  explicit Steps(const ResamplePlan& plan) {
    for (int d = 0; d < kMaxResampledAxes; ++d) {
      if (plan.axes[d].begin != nullptr) axes[count++] = d;
    }
    const auto growth = [&](int d) {
      return static_cast<double>(plan.axes[d].output) / static_cast<double>(plan.axes[d].input);
    };
    std::sort(axes, axes + count, [&](int a, int b) {
      if (growth(a) != growth(b)) return growth(a) < growth(b);
      return growth(a) < 1 ? a < b : a > b;
    });
  }
};

// Works on bands of outputs along the outermost axis that has several positions.
template <class S>
class Resample {
  using T = Opmath<S>;

 public:
  explicit Resample(const ResamplePlan& plan)
      : plan_(plan), steps_(plan), rows_(rows_of<ResampleRows<T>>()) {
    while (outer_ + 1 < kMaxResampledAxes && along().input == 1 && along().output == 1) ++outer_;
    int64_t before = plan.channels;
    int64_t after = plan.channels;
    for (int d = outer_ + 1; d < kMaxResampledAxes; ++d) {
      before *= plan.axes[d].input;
      after *= plan.axes[d].output;
      widest_ *= std::max(plan.axes[d].input, plan.axes[d].output);
    }
    in_row_ = before;
    out_row_ = after;
    widest_ *= plan.channels;
    const int64_t shrink = std::max<int64_t>(1, along().input / along().output);
    band_ = std::clamp<int64_t>(kBand / (widest_ * shrink), 1, along().output);
    bands_ = (along().output + band_ - 1) / band_;
    for (int64_t b = 0; b < bands_; ++b) room_ = std::max({room_, covered(b).size(), band_});
    room_ *= widest_;
  }

  Status run() {
    const int64_t cost = std::max(in_row_, out_row_) * band_ + 1;
    const int64_t grain = std::max<int64_t>(1, kGrain / cost);
    parallel_for(plan_.planes * bands_, grain, [&](int64_t begin, int64_t end) {
      const Workspace space(kBuffers * room_ * static_cast<int64_t>(sizeof(T)));
      if (space.data() == nullptr) {
        out_of_memory_ = true;
        return;
      }
      for (int64_t i = begin; i < end; ++i)
        run_band(i / bands_, i % bands_, static_cast<T*>(space.data()));
    });
    if (out_of_memory_)
      return failure(Code::kOutOfMemory, "expected memory for a band of a plane, got none");
    return kernel::kOk;
  }

 private:
  static constexpr int kBuffers = 3;  // what is read, and the results of two maps

  struct Range {
    int64_t begin, end;
    [[nodiscard]] int64_t size() const { return end - begin; }
  };

  [[nodiscard]] const ResampleAxis& along() const { return plan_.axes[outer_]; }
  [[nodiscard]] Range outputs(int64_t band) const {
    return {band * band_, std::min(along().output, (band + 1) * band_)};
  }
  // The input positions that the windows of a band cover.
  [[nodiscard]] Range covered(int64_t band) const {
    const Range range = outputs(band);
    if (along().begin == nullptr) return range;
    return {along().begin[range.begin], along().begin[range.end - 1] + along().taps};
  }

  void run_band(int64_t plane, int64_t number, T* space) const {
    const Range out = outputs(number);
    const Range in = covered(number);
    const S* from =
        static_cast<const S*>(plan_.input) + (plane * along().input + in.begin) * in_row_;
    S* to = static_cast<S*>(plan_.output) + (plane * along().output + out.begin) * out_row_;
    if (steps_.count == 0) {
      std::memcpy(to, from, static_cast<size_t>(out.size() * out_row_) * sizeof(S));
      return;
    }
    const T* current = widen_.read(in.size() * in_row_, from, space);
    int64_t sizes[kMaxResampledAxes];
    for (int d = 0; d < kMaxResampledAxes; ++d) sizes[d] = plan_.axes[d].input;
    sizes[outer_] = in.size();
    for (int s = 0; s < steps_.count; ++s) {
      const int d = steps_.axes[s];
      T* buffer = space + (1 + s % 2) * room_;
      T* target = s + 1 == steps_.count ? widen_.target(to, buffer) : buffer;
      const ResampleAxis& axis = plan_.axes[d];
      const Range range = d == outer_ ? out : Range{0, axis.output};
      map_axis({range.begin, range.end, d == outer_ ? in.begin : 0, axis.taps, axis.output,
                axis.begin, static_cast<const T*>(axis.weights)},
               d, sizes, current, target);
      sizes[d] = range.size();
      current = target;
    }
    widen_.write(out.size() * out_row_, to, current);
  }

  void map_axis(const ResampleBand<T>& band, int d, const int64_t* sizes, const T* in,
                T* out) const {
    int64_t lines = 1;
    for (int i = 0; i < d; ++i) lines *= sizes[i];
    int64_t inner = plan_.channels;
    for (int i = d + 1; i < kMaxResampledAxes; ++i) inner *= sizes[i];
    const int64_t in_step = sizes[d] * inner;
    const int64_t out_step = (band.last - band.first) * inner;
    for (int64_t i = 0; i < lines; ++i, in += in_step, out += out_step) {
      if (inner == 1)
        rows_.along(band, in, out);
      else
        rows_.across(band, inner, in, out);
    }
  }

  const ResamplePlan& plan_;
  Steps steps_;
  const ResampleRows<T>& rows_;
  Widen<S> widen_;
  int outer_ = 0;
  int64_t widest_ = 1;        // numbers of a position along the outer axis, at most
  int64_t in_row_, out_row_;  // before the first map and after the last
  int64_t band_, bands_;      // outputs of a band, and the number of bands of a plane
  int64_t room_ = 1;          // numbers of a buffer
  std::atomic<bool> out_of_memory_{false};
};

}  // namespace

Status resample(const ResamplePlan& plan) {
  return visit_storage(plan.dtype, "expected a real floating dtype for resampling",
                       [&]<class S>() { return Resample<S>(plan).run(); });
}

}  // namespace tsr::cpu
