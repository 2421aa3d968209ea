// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling: works out the windows of each axis and spreads planes or images over the threads.
#include <algorithm>
#include <atomic>

#include "backend/common/pool_window.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/pool_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::PoolOp;
using kernel::PoolPlan;
using kernel::Status;

constexpr int64_t kGrain = 8192;

using Axis = math::PooledAxis;

void fill_windows(const PoolPlan& plan, const Axis& a, int64_t* begin, int64_t* end,
                  int64_t* span) {
  const bool adaptive = plan.op == PoolOp::kAdaptiveAverage;
  for (int64_t o = 0; o < a.output; ++o) {
    const math::PoolWindow window = math::pool_window(a, adaptive, plan.count_include_pad != 0, o);
    begin[o] = window.begin;
    end[o] = window.end;
    span[o] = window.span;
  }
}

// Outputs whose window lies inside the input.
void set_inside(const Axis& a, PoolAxis& out) {
  const int64_t reach = (a.kernel - 1) * a.dilation + 1;
  out.inner_begin = std::min(a.output, (a.padding + a.stride - 1) / a.stride);
  const int64_t room = a.input + a.padding - reach;
  out.inner_end = room < 0 ? 0 : std::min(a.output, room / a.stride + 1);
  out.inner_end = std::max(out.inner_begin, out.inner_end);
}

PoolShape shape_of(const PoolPlan& plan, int64_t* tables) {
  PoolShape shape;
  shape.channels = plan.channels_last != 0 ? plan.channels : 1;
  shape.divisor = static_cast<double>(plan.divisor);
  for (int i = 0; i < 3; ++i) {
    const Axis a = math::pooled_axis(plan, i);
    int64_t* begin = tables;
    int64_t* end = begin + a.output;
    int64_t* span = end + a.output;
    tables = span + a.output;
    fill_windows(plan, a, begin, end, span);
    PoolAxis& axis = shape.axes[i];
    axis = {a.input, a.output, begin, end, span, a.kernel, a.stride, a.padding, a.dilation, 0, 0};
    if (plan.op != PoolOp::kAdaptiveAverage) set_inside(a, axis);  // its windows differ in size
  }
  return shape;
}

// Runs body(plane, first row, last row) over all output rows.
template <class Body>
void for_rows(int64_t planes, int64_t rows, int64_t cost, Body body) {
  const int64_t grain = std::max<int64_t>(1, kGrain / (cost + 1));
  parallel_for(planes * rows, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t plane = begin / rows;
      const int64_t last = std::min(end, (plane + 1) * rows);
      body(plane, begin - plane * rows, last - plane * rows);
      begin = last;
    }
  });
}

template <class T>
class Pool {
 public:
  Pool(const PoolPlan& plan, const PoolShape& shape)
      : plan_(plan),
        shape_(shape),
        rows_(rows_of<PoolRows<T>>()),
        planes_(plan.channels_last != 0 ? plan.batch : plan.batch * plan.channels),
        in_(static_cast<T*>(plan.input)),
        out_(static_cast<T*>(plan.output)) {
    for (const PoolAxis& axis : shape.axes) {
      in_points_ *= axis.input;
      out_points_ *= axis.output;
      window_ *= axis.kernel;
    }
  }

  Status run() const {
    if (plan_.op == PoolOp::kPick) return pick();
    if (plan_.backward != 0)
      average_backward();
    else
      forward();
    return kernel::kOk;
  }

 private:
  [[nodiscard]] int64_t in_plane() const { return in_points_ * shape_.channels; }
  [[nodiscard]] int64_t out_plane() const { return out_points_ * shape_.channels; }

  void forward() const {
    const int64_t rows = shape_.axes[0].output * shape_.axes[1].output;
    const int64_t cost = shape_.axes[2].output * shape_.channels * window_;
    for_rows(planes_, rows, cost, [&](int64_t plane, int64_t begin, int64_t end) {
      const T* in = in_ + plane * in_plane();
      T* out = out_ + plane * out_plane();
      if (plan_.op == PoolOp::kMax) {
        int64_t* places =
            plan_.positions == nullptr ? nullptr : plan_.positions + plane * out_plane();
        rows_.maximum(shape_, begin, end, in, out, places);
      } else {
        rows_.average(shape_, begin, end, in, out);
      }
    });
  }

  void average_backward() const {
    for_rows(planes_, 1, in_plane(), [&](int64_t plane, int64_t, int64_t) {
      rows_.average_backward(shape_, out_ + plane * out_plane(), in_ + plane * in_plane());
    });
  }

  // Positions are checked: they are a result that users hold and may have written meanwhile.
  Status pick() const {
    std::atomic<int64_t> wrong{0};
    std::atomic<bool> found{false};
    for_rows(planes_, 1, in_plane(), [&](int64_t plane, int64_t, int64_t) {
      T* in = in_ + plane * in_plane();
      T* out = out_ + plane * out_plane();
      const int64_t* places = plan_.positions + plane * out_plane();
      const int64_t channels = shape_.channels;
      if (plan_.backward != 0) std::fill_n(in, in_plane(), T{0});
      for (int64_t o = 0; o < out_points_; ++o) {
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t at = o * channels + c;
          const int64_t place = places[at];
          if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(in_points_)) {
            wrong = place;
            found = true;
            continue;
          }
          T& there = in[place * channels + c];
          if (plan_.backward != 0)
            there += out[at];
          else
            out[at] = there;
        }
      }
    });
    if (!found) return kernel::kOk;
    const std::string text = concat("expected the positions of maxima in [0, ", in_points_,
                                    "), got ", wrong.load(), ", which somebody wrote there");
    return failure(Code::kIndex, text.c_str());
  }

  const PoolPlan& plan_;
  const PoolShape& shape_;
  const PoolRows<T>& rows_;
  int64_t planes_;
  int64_t in_points_ = 1;
  int64_t out_points_ = 1;
  int64_t window_ = 1;
  T* in_;
  T* out_;
};

}  // namespace

Status pool(const PoolPlan& plan) {
  int64_t outputs = 0;
  for (int i = 0; i < 3; ++i) outputs += math::pooled_axis(plan, i).output;
  const Workspace tables(outputs * 3 * static_cast<int64_t>(sizeof(int64_t)));
  if (tables.data() == nullptr) {
    return failure(Code::kOutOfMemory, "expected memory for the pooling windows, got none");
  }
  const PoolShape shape = shape_of(plan, static_cast<int64_t*>(tables.data()));
  if (plan.dtype == DType::kFloat32) {
    return Pool<float>(plan, shape).run();
  }
  if (plan.dtype == DType::kFloat64) {
    return Pool<double>(plan, shape).run();
  }
  return failure(Code::kNotImplemented, "expected float32 or float64 for pooling");
}

}  // namespace tsr::cpu
