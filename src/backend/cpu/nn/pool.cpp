// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling: computes the windows of each axis and divides planes or images among the threads.
#include <algorithm>
#include <atomic>

#include "backend/common/pool_window.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/pool_rows.h"
#include "backend/cpu/widen.h"
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
  const bool adaptive = plan.adaptive != 0;
  for (int64_t o = 0; o < a.output; ++o) {
    const math::PoolWindow window = math::pool_window(a, adaptive, plan.count_include_pad != 0, o);
    begin[o] = window.begin;
    end[o] = window.end;
    span[o] = window.span;
  }
}

// Sets the range of outputs whose windows are inside the input.
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
    if (plan.adaptive == 0) set_inside(a, axis);  // its windows differ in size
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

Status outside_plane(int64_t points, int64_t place) {
  const std::string text = concat("expected the positions of maxima in [0, ", points, "), got ",
                                  place, ", which somebody wrote there");
  return failure(Code::kIndex, text.c_str());
}

// Positions are checked, because they are a tensor that the user holds and may have changed. 16-bit
// floats are only moved here; their gradients are summed in bands.
template <class T>
Status pick(const PoolPlan& plan, const PoolShape& shape) {
  const int64_t channels = shape.channels;
  int64_t in_points = 1;
  int64_t out_points = 1;
  for (const PoolAxis& axis : shape.axes) {
    in_points *= axis.input;
    out_points *= axis.output;
  }
  const int64_t planes = plan.channels_last != 0 ? plan.batch : plan.batch * plan.channels;
  std::atomic<int64_t> wrong{0};
  std::atomic<bool> found{false};
  for_rows(planes, 1, in_points * channels, [&](int64_t plane, int64_t, int64_t) {
    T* in = static_cast<T*>(plan.input) + plane * in_points * channels;
    T* out = static_cast<T*>(plan.output) + plane * out_points * channels;
    const int64_t* places = plan.positions + plane * out_points * channels;
    if (plan.backward != 0) std::fill_n(in, in_points * channels, T{});
    for (int64_t o = 0; o < out_points; ++o) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = o * channels + c;
        const int64_t place = places[at];
        if (place == -1) {  // a window of padding alone has no element
          if (plan.backward == 0) out[at] = T{};
          continue;
        }
        if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(in_points)) {
          wrong = place;
          found = true;
          continue;
        }
        T& there = in[place * channels + c];
        if (plan.backward == 0) out[at] = there;
        if constexpr (!kIsShort<T>) {
          if (plan.backward != 0) there += out[at];
        }
      }
    }
  });
  return found ? outside_plane(in_points, wrong.load()) : kernel::kOk;
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
    if (plan_.op == PoolOp::kPick) return pick<T>(plan_, shape_);
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
    // Windows of different sizes cover the plane about once.
    const int64_t cost = plan_.adaptive != 0 ? std::max(in_plane(), out_plane()) / rows
                                             : shape_.axes[2].output * shape_.channels * window_;
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

// ---- 16-bit floats: bands of a plane, widened ----

// The floats of a band and of the rows that its windows cover; both stay in the second-level cache.
constexpr int64_t kBand = 16384;

// Forward works on bands of output rows and the input rows that their windows cover, backward on
// bands of input rows and the output rows whose windows reach them. A row is one step along the
// outermost axis whose size is not 1. The row functions get a band as if it were a plane.
template <class S>
class Bands {
 public:
  Bands(const PoolPlan& plan, const PoolShape& shape)
      : plan_(plan),
        shape_(shape),
        rows_(rows_of<PoolRows<float>>()),
        axis_(shape.axes[0].input == 1 && shape.axes[0].output == 1 ? 1 : 0),
        along_(shape.axes[axis_]),
        planes_(plan.channels_last != 0 ? plan.batch : plan.batch * plan.channels),
        in_(static_cast<S*>(plan.input)),
        out_(static_cast<S*>(plan.output)) {
    for (const PoolAxis& axis : shape.axes) {
      in_points_ *= axis.input;
      out_points_ *= axis.output;
    }
    in_row_ = in_points_ / along_.input * shape.channels;
    out_row_ = out_points_ / along_.output * shape.channels;
    band_ = std::max<int64_t>(1, kBand / in_row_);
  }

  Status run() {
    if (plan_.op == PoolOp::kPick && plan_.backward == 0) return pick<S>(plan_, shape_);
    if (plan_.backward == 0)
      forward();
    else
      backward();
    if (out_of_memory_)
      return failure(Code::kOutOfMemory, "expected memory for a band of a plane, got none");
    return found_ ? outside_plane(in_points_, wrong_.load()) : kernel::kOk;
  }

 private:
  struct Range {
    int64_t begin, end;
    [[nodiscard]] int64_t size() const { return end - begin; }
  };

  // The buffers of one thread: floats of input rows and of output rows, and a band's windows.
  struct Buffers {
    Buffers(int64_t input, int64_t output, int64_t windows)
        : floats((input + output) * static_cast<int64_t>(sizeof(float))),
          tables(2 * windows * static_cast<int64_t>(sizeof(int64_t))),
          in(static_cast<float*>(floats.data())),
          out(in == nullptr ? nullptr : in + input),
          begin(static_cast<int64_t*>(tables.data())),
          end(begin == nullptr ? nullptr : begin + windows) {}
    [[nodiscard]] bool missing() const { return in == nullptr || begin == nullptr; }

    Workspace floats, tables;
    float* in;
    float* out;
    int64_t* begin;
    int64_t* end;
  };

  // Windows end in order. They begin in order too, but for those whose first points are in the
  // padding: with a dilation their first points inside may be 1, 0, 1. All of these begin before
  // the dilation.

  // The input rows that the windows of some output rows cover.
  [[nodiscard]] Range covered(Range outputs) const {
    int64_t low = along_.begin[outputs.begin];
    for (int64_t o = outputs.begin + 1; o < outputs.end && along_.begin[o] < along_.dilation; ++o)
      low = std::min(low, along_.begin[o]);
    return {low, std::max(low, along_.end[outputs.end - 1])};
  }
  // A range of output rows with all whose windows reach some input rows.
  [[nodiscard]] Range reaching(Range inputs) const {
    int64_t first = 0;
    while (first < along_.output && along_.end[first] <= inputs.begin) ++first;
    int64_t last = first;
    for (int64_t o = first; o < along_.output; ++o) {
      if (along_.begin[o] < inputs.end)
        last = o + 1;
      else if (along_.begin[o] >= along_.dilation)
        break;
    }
    return {first, last};
  }

  // The band as a plane: windows are relative to the first input row and cut at the last.
  PoolShape band_shape(Range inputs, Range outputs, const Buffers& buffers) const {
    for (int64_t o = outputs.begin; o < outputs.end; ++o) {
      buffers.begin[o - outputs.begin] = std::max(along_.begin[o], inputs.begin) - inputs.begin;
      buffers.end[o - outputs.begin] = std::min(along_.end[o], inputs.end) - inputs.begin;
    }
    PoolShape shape = shape_;
    PoolAxis& axis = shape.axes[axis_];
    axis.input = inputs.size();
    axis.output = outputs.size();
    axis.begin = buffers.begin;
    axis.end = buffers.end;
    axis.span = along_.span + outputs.begin;
    return shape;
  }

  // ---- forward ----

  // As many output rows as fit into the buffers, from `begin` on; at least one.
  [[nodiscard]] Range next_outputs(int64_t begin, int64_t end) const {
    Range range{begin, begin + 1};
    while (range.end < end && (range.size() + 1) * out_row_ <= kBand &&
           covered({begin, range.end + 1}).size() * in_row_ <= kBand)
      ++range.end;
    return range;
  }

  void forward() {
    int64_t most = 0;
    for (int64_t o = 0; o < along_.output; ++o) most = std::max(most, covered({o, o + 1}).size());
    const int64_t in_room = std::max(kBand, most * in_row_);
    const int64_t out_room = std::max(kBand, out_row_);
    for_rows(planes_, along_.output, in_row_, [&](int64_t plane, int64_t begin, int64_t end) {
      const Buffers buffers(in_room, out_room, end - begin);
      if (buffers.missing()) {
        out_of_memory_ = true;
        return;
      }
      while (begin < end) {
        const Range outputs = next_outputs(begin, end);
        forward_band(plane, outputs, buffers);
        begin = outputs.end;
      }
    });
  }

  void forward_band(int64_t plane, Range outputs, const Buffers& buffers) const {
    const Range inputs = covered(outputs);
    const PoolShape shape = band_shape(inputs, outputs, buffers);
    widen_.read(inputs.size() * in_row_, in_ + (plane * along_.input + inputs.begin) * in_row_,
                buffers.in);
    const int64_t first = (plane * along_.output + outputs.begin) * out_row_;
    const int64_t count = outputs.size() * out_row_;
    const int64_t rows = shape.axes[0].output * shape.axes[1].output;
    if (plan_.op == PoolOp::kMax) {
      int64_t* places = plan_.positions == nullptr ? nullptr : plan_.positions + first;
      rows_.maximum(shape, 0, rows, buffers.in, buffers.out, places);
      const int64_t before = inputs.begin * in_row_ / shape.channels;
      for (int64_t i = 0; places != nullptr && i < count; ++i) {
        if (places[i] >= 0) places[i] += before;  // -1: a window of padding alone
      }
    } else {
      rows_.average(shape, 0, rows, buffers.in, buffers.out);
    }
    widen_.write(count, out_ + first, buffers.out);
  }

  // ---- backward ----

  [[nodiscard]] Range band(int64_t number) const {
    return {number * band_, std::min(along_.input, (number + 1) * band_)};
  }

  void backward() {
    const int64_t bands = (along_.input + band_ - 1) / band_;
    int64_t most = 0;
    for (int64_t i = 0; i < bands; ++i) most = std::max(most, reaching(band(i)).size());
    for_rows(planes_, bands, band_ * in_row_, [&](int64_t plane, int64_t begin, int64_t end) {
      const Buffers buffers(band_ * in_row_, most * out_row_, most + 1);
      if (buffers.missing()) {
        out_of_memory_ = true;
        return;
      }
      for (int64_t i = begin; i < end; ++i) backward_band(plane, band(i), buffers);
    });
  }

  void backward_band(int64_t plane, Range inputs, const Buffers& buffers) {
    const Range outputs = reaching(inputs);
    const int64_t first = (plane * along_.output + outputs.begin) * out_row_;
    widen_.read(outputs.size() * out_row_, out_ + first, buffers.out);
    if (plan_.op == PoolOp::kPick)
      pick_band(inputs, outputs, plan_.positions + first, buffers);
    else
      rows_.average_backward(band_shape(inputs, outputs, buffers), buffers.out, buffers.in);
    widen_.write(inputs.size() * in_row_, in_ + (plane * along_.input + inputs.begin) * in_row_,
                 buffers.in);
  }

  // Adds the gradients whose positions are in the band. The bands that a window reaches check its
  // position, which must be inside the window.
  void pick_band(Range inputs, Range outputs, const int64_t* places, const Buffers& buffers) {
    const int64_t channels = shape_.channels;
    const int64_t row = in_row_ / channels;
    std::fill_n(buffers.in, inputs.size() * in_row_, 0.0F);
    for (int64_t o = outputs.begin; o < outputs.end; ++o) {
      const Range window{along_.begin[o] * row, along_.end[o] * row};
      const Range here{inputs.begin * row, inputs.end * row};
      int64_t at = (o - outputs.begin) * out_row_;
      for (const int64_t end = at + out_row_; at < end; at += channels) {
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t place = places[at + c];
          if (place == -1) continue;  // a window of padding alone
          if (place < window.begin || place >= window.end) {
            wrong_ = place;
            found_ = true;
          } else if (place >= here.begin && place < here.end) {
            buffers.in[(place - here.begin) * channels + c] += buffers.out[at + c];
          }
        }
      }
    }
  }

  const PoolPlan& plan_;
  const PoolShape& shape_;
  const PoolRows<float>& rows_;
  Widen<S> widen_;
  int axis_;
  const PoolAxis& along_;
  int64_t planes_;
  int64_t in_points_ = 1;
  int64_t out_points_ = 1;
  int64_t in_row_, out_row_;  // numbers of a row, with the channels
  int64_t band_;              // input rows of a band
  S* in_;
  S* out_;
  std::atomic<bool> out_of_memory_{false};
  std::atomic<bool> found_{false};
  std::atomic<int64_t> wrong_{0};
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
  return visit_storage(plan.dtype, "expected a real floating dtype for pooling", [&]<class S>() {
    if constexpr (kIsShort<S>)
      return Bands<S>(plan, shape).run();
    else
      return Pool<S>(plan, shape).run();
  });
}

}  // namespace tsr::cpu
