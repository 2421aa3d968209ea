// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pooling: one thread per element written. In a backward pass a thread finds the windows that cover
// its input, so that each sum has a fixed order and no two threads write to one element.
#include "backend/common/pool_window.h"
#include "backend/cuda/fault.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::PoolOp;
using kernel::PoolPlan;
using kernel::Status;

namespace {

// The plan for kernels: three axes, and planes whose points are `step` numbers apart.
template <class S>
struct Pool {
  using T = typename S::Value::Element;
  using Type = typename S::Type;
  math::PooledAxis axes[3];
  bool adaptive, count_padding;
  double divisor;  // 0: the window's size
  int64_t planes, step;
  Type* input;
  Type* output;
  int64_t* positions;

  __device__ static T load(const Type* data, int64_t i) { return S::load(data[i]).v; }
  __device__ static void put(Type* data, int64_t i, T value) {
    data[i] = S::store(Number<T>(value));
  }
  __host__ __device__ int64_t inputs() const {
    return axes[0].input * axes[1].input * axes[2].input;
  }
  __host__ __device__ int64_t outputs() const {
    return axes[0].output * axes[1].output * axes[2].output;
  }
  // The point of element i in a tensor with `points` points per plane.
  __device__ int64_t point(int64_t i, int64_t points) const { return i / step % points; }
  // The offset of point 0 of the same plane in the other tensor.
  __device__ int64_t across(int64_t i, int64_t points, int64_t others) const {
    return i / (step * points) * (step * others) + i % step;
  }
  __device__ math::PoolWindow window(int axis, int64_t o) const {
    return math::pool_window(axes[axis], adaptive, count_padding, o);
  }
};

struct Box {
  math::PoolWindow d, h, w;

  [[nodiscard]] __device__ double size() const {
    return static_cast<double>(d.span * h.span * w.span);
  }
};

template <class S>
__device__ Box box_of(const Pool<S>& pool, int64_t output) {
  const int64_t width = pool.axes[2].output;
  const int64_t height = pool.axes[1].output;
  return {pool.window(0, output / (width * height)), pool.window(1, output / width % height),
          pool.window(2, output % width)};
}

// Calls visit(input point) for the points of a box, in row-major order.
template <class S, class Visit>
__device__ void each_point(const Pool<S>& pool, const Box& box, const Visit& visit) {
  for (int64_t d = box.d.begin; d < box.d.end; d += pool.axes[0].dilation) {
    for (int64_t h = box.h.begin; h < box.h.end; h += pool.axes[1].dilation) {
      for (int64_t w = box.w.begin; w < box.w.end; w += pool.axes[2].dilation)
        visit((d * pool.axes[1].input + h) * pool.axes[2].input + w);
    }
  }
}

// ---- Forward ----

template <class S>
__global__ void max_kernel(Pool<S> pool) {
  const int64_t points = pool.outputs();
  for (int64_t i = first_index(); i < pool.planes * points * pool.step; i += index_step()) {
    const Box box = box_of(pool, pool.point(i, points));
    const typename S::Type* plane = pool.input + pool.across(i, points, pool.inputs());
    using T = typename Pool<S>::T;
    T best = -std::numeric_limits<T>::infinity();
    const bool none =
        box.d.begin >= box.d.end || box.h.begin >= box.h.end || box.w.begin >= box.w.end;
    int64_t position =
        none ? -1
             : (box.d.begin * pool.axes[1].input + box.h.begin) * pool.axes[2].input + box.w.begin;
    each_point(pool, box, [&](int64_t at) {
      const T x = Pool<S>::load(plane, at * pool.step);
      if (!(x > best || x != x)) return;
      best = x;
      position = at;
    });
    Pool<S>::put(pool.output, i, best);
    if (pool.positions != nullptr) pool.positions[i] = position;
  }
}

template <class S>
__global__ void average_kernel(Pool<S> pool) {
  const int64_t points = pool.outputs();
  for (int64_t i = first_index(); i < pool.planes * points * pool.step; i += index_step()) {
    const Box box = box_of(pool, pool.point(i, points));
    const typename S::Type* plane = pool.input + pool.across(i, points, pool.inputs());
    double sum = 0;
    each_point(pool, box, [&](int64_t at) {
      sum += static_cast<double>(Pool<S>::load(plane, at * pool.step));
    });
    const double mean = sum / (pool.divisor != 0 ? pool.divisor : box.size());
    Pool<S>::put(pool.output, i, static_cast<typename Pool<S>::T>(mean));
  }
}

// The position of the maximum of output i; -1 if there is none. Positions are checked, because they
// are a tensor that the user holds and may have changed.
template <class S>
__device__ int64_t position_of(const Pool<S>& pool, int64_t i, const Reporter& reporter) {
  const int64_t position = pool.positions[i];
  if (position >= -1 && position < pool.inputs()) return position;
  report(reporter, 0, position, pool.inputs(), -1);
  return -1;
}

template <class S>
__global__ void pick_kernel(Pool<S> pool, Reporter reporter) {
  const int64_t points = pool.outputs();
  for (int64_t i = first_index(); i < pool.planes * points * pool.step; i += index_step()) {
    const typename S::Type* plane = pool.input + pool.across(i, points, pool.inputs());
    const int64_t position = position_of(pool, i, reporter);
    if (position < 0)
      Pool<S>::put(pool.output, i, typename Pool<S>::T{0});
    else
      pool.output[i] = plane[position * pool.step];
  }
}

// ---- Backward ----

struct Range {
  int64_t begin, end;
};
// A range of outputs that contains all whose windows cover the input.
__device__ Range covering(const math::PooledAxis& a, bool adaptive, int64_t input) {
  if (adaptive)
    return {input * a.output / a.input, ((input + 1) * a.output + a.input - 1) / a.input};
  const int64_t reach = (a.kernel - 1) * a.dilation + 1;
  const int64_t first = input + a.padding - reach + 1;
  const int64_t begin = first <= 0 ? 0 : (first + a.stride - 1) / a.stride;
  const int64_t end = (input + a.padding) / a.stride + 1;
  return {begin, end < a.output ? end : a.output};
}
__device__ bool covers(const math::PoolWindow& window, int64_t dilation, int64_t input) {
  return input >= window.begin && input < window.end && (input - window.begin) % dilation == 0;
}

// Calls visit(output point, its box) for the outputs whose windows cover an input point.
template <class S, class Visit>
__device__ void each_covering(const Pool<S>& pool, int64_t point, const Visit& visit) {
  const int64_t w = point % pool.axes[2].input;
  const int64_t h = point / pool.axes[2].input % pool.axes[1].input;
  const int64_t d = point / (pool.axes[2].input * pool.axes[1].input);
  const Range ds = covering(pool.axes[0], pool.adaptive, d);
  const Range hs = covering(pool.axes[1], pool.adaptive, h);
  const Range ws = covering(pool.axes[2], pool.adaptive, w);
  for (int64_t i = ds.begin; i < ds.end; ++i) {
    for (int64_t j = hs.begin; j < hs.end; ++j) {
      for (int64_t k = ws.begin; k < ws.end; ++k) {
        const Box box{pool.window(0, i), pool.window(1, j), pool.window(2, k)};
        if (covers(box.d, pool.axes[0].dilation, d) && covers(box.h, pool.axes[1].dilation, h) &&
            covers(box.w, pool.axes[2].dilation, w))
          visit((i * pool.axes[1].output + j) * pool.axes[2].output + k, box);
      }
    }
  }
}

template <class S, bool kPick>
__global__ void backward_kernel(Pool<S> pool, Reporter reporter) {
  const int64_t points = pool.inputs();
  for (int64_t i = first_index(); i < pool.planes * points * pool.step; i += index_step()) {
    const int64_t point = pool.point(i, points);
    const int64_t base = pool.across(i, points, pool.outputs());
    double sum = 0;
    each_covering(pool, point, [&](int64_t output, [[maybe_unused]] const Box& box) {
      const int64_t at = base + output * pool.step;
      const double slope = static_cast<double>(Pool<S>::load(pool.output, at));
      if constexpr (kPick)
        sum += position_of(pool, at, reporter) == point ? slope : 0.0;
      else
        sum += slope / (pool.divisor != 0 ? pool.divisor : box.size());
    });
    Pool<S>::put(pool.input, i, static_cast<typename Pool<S>::T>(sum));
  }
}

template <class S>
Status run(const PoolPlan& plan) {
  const bool last = plan.channels_last != 0;
  Pool<S> pool;
  for (int i = 0; i < 3; ++i) pool.axes[i] = math::pooled_axis(plan, i);
  pool.adaptive = plan.adaptive != 0;
  pool.count_padding = plan.count_include_pad != 0;
  pool.divisor = static_cast<double>(plan.divisor);
  pool.planes = last ? plan.batch : plan.batch * plan.channels;
  pool.step = last ? plan.channels : 1;
  pool.input = static_cast<typename S::Type*>(plan.input);
  pool.output = static_cast<typename S::Type*>(plan.output);
  pool.positions = plan.positions;
  const auto go = [&](int64_t points, auto entry, const auto&... arguments) {
    return launch(plan.place, pool.planes * points * pool.step, entry, pool, arguments...);
  };
  Reporter reporter;
  if (plan.op == PoolOp::kPick) {
    const Status status =
        reporter_for(plan.place, FaultKind::kPosition, "positions of maxima", reporter);
    if (status != kernel::kOk) return status;
    return plan.backward != 0 ? go(pool.inputs(), &backward_kernel<S, true>, reporter)
                              : go(pool.outputs(), &pick_kernel<S>, reporter);
  }
  if (plan.backward != 0) return go(pool.inputs(), &backward_kernel<S, false>, reporter);
  return plan.op == PoolOp::kMax ? go(pool.outputs(), &max_kernel<S>)
                                 : go(pool.outputs(), &average_kernel<S>);
}

}  // namespace

Status pool(const PoolPlan& plan) {
  return visit_floating(plan.dtype, "expected a real floating dtype for pooling",
                        [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cuda
