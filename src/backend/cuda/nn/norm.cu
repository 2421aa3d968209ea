// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// batch_norm and layer_norm. Sums over a channel are formed in parts, whose number follows from the
// plan alone: by blocks where a channel's numbers are neighbours, by threads where its channels
// are. A row of layer_norm has a team.
#include "backend/common/norm_math.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/team.cuh"

namespace tsr::cuda {

using kernel::NormPlan;
using kernel::Place;
using kernel::Status;

namespace {

// ---- Sums over channels ----

// `channels` groups of outer * inner numbers.
struct Channels {
  int64_t outer, channels, inner;

  [[nodiscard]] __host__ __device__ int64_t count() const { return outer * inner; }
  // Where number e of channel c stands.
  __device__ int64_t at(int64_t c, int64_t e) const {
    return (e / inner * channels + c) * inner + e % inner;
  }
};
struct Sums {
  double first, second;
  __device__ void add(Sums other) {
    first += other.first;
    second += other.second;
  }
};

// Part p of channel c comes to partial[p * channels + c]; terms(c, e, at) is what an element adds.
template <class Terms>
__global__ void by_thread_kernel(Channels shape, int64_t parts, int64_t part_size, Terms terms,
                                 Sums* partial) {
  for (int64_t t = first_index(); t < parts * shape.channels; t += index_step()) {
    const int64_t c = t % shape.channels;
    const int64_t begin = t / shape.channels * part_size;
    const int64_t end = begin + part_size < shape.count() ? begin + part_size : shape.count();
    Sums sums{0, 0};
    for (int64_t e = begin; e < end; ++e) sums.add(terms(c, e, shape.at(c, e)));
    partial[t] = sums;
  }
}
template <class Terms>
__global__ void by_block_kernel(Channels shape, int64_t parts, int64_t part_size, Terms terms,
                                Sums* partial) {
  __shared__ Sums place[kThreads];
  for (int64_t t = blockIdx.x; t < parts * shape.channels; t += gridDim.x) {
    const int64_t c = t % shape.channels;
    const int64_t begin = t / shape.channels * part_size;
    const int64_t end = begin + part_size < shape.count() ? begin + part_size : shape.count();
    Sums own{0, 0};
    for (int64_t e = begin + threadIdx.x; e < end; e += blockDim.x)
      own.add(terms(c, e, shape.at(c, e)));
    const Sums whole = join_block(own, place, [](Sums a, Sums b) {
      a.add(b);
      return a;
    });
    if (threadIdx.x == 0) partial[t] = whole;
  }
}

// finish(c, sums of the whole channel)
template <class Finish>
__global__ void finish_kernel(int64_t channels, int64_t parts, const Sums* partial, Finish finish) {
  for (int64_t c = first_index(); c < channels; c += index_step()) {
    Sums sums = partial[c];
    for (int64_t p = 1; p < parts; ++p) sums.add(partial[p * channels + c]);
    finish(c, sums);
  }
}

template <class Terms, class Finish>
Status sum_channels(Place place, Channels shape, const Terms& terms, const Finish& finish) {
  const bool threads = shape.inner == 1;
  // What keeps the device busy, and the least that is worth a part.
  const int64_t wanted = (threads ? 131072 : 1024) / shape.channels + 1;
  const int64_t most = shape.count() / (threads ? 64 : 8192) + 1;
  const int64_t part_size = (shape.count() + std::min(wanted, most) - 1) / std::min(wanted, most);
  const int64_t parts = (shape.count() + part_size - 1) / part_size;
  const int64_t tasks = parts * shape.channels;
  const Workspace space(place, tasks * static_cast<int64_t>(sizeof(Sums)));
  if (space.missing()) return no_workspace();
  auto* partial = space.data<Sums>();
  const Status status = threads ? launch(place, tasks, &by_thread_kernel<Terms>, shape, parts,
                                         part_size, terms, partial)
                                : launch_blocks(place, tasks, kThreads, &by_block_kernel<Terms>,
                                                shape, parts, part_size, terms, partial);
  if (status != kernel::kOk) return status;
  return launch(place, shape.channels, &finish_kernel<Finish>, shape.channels, parts,
                static_cast<const Sums*>(partial), finish);
}

// ---- A plan with its types ----

template <class T>
struct Typed {
  NormPlan plan;

  __device__ const T* x() const { return static_cast<const T*>(plan.input); }
  __device__ T* y() const { return static_cast<T*>(plan.output); }  // backward: the gradient
  __device__ T* mean() const { return static_cast<T*>(plan.mean); }
  __device__ T* rstd() const { return static_cast<T*>(plan.rstd); }
  __device__ T weight(int64_t c) const {
    return plan.weight == nullptr ? T{1} : static_cast<const T*>(plan.weight)[c];
  }
  __device__ T bias(int64_t c) const {
    return plan.bias == nullptr ? T{0} : static_cast<const T*>(plan.bias)[c];
  }
  __device__ void put_parameters(int64_t c, double weight_gradient, double bias_gradient) const {
    if (plan.grad_weight != nullptr)
      static_cast<T*>(plan.grad_weight)[c] = static_cast<T>(weight_gradient);
    if (plan.grad_bias != nullptr)
      static_cast<T*>(plan.grad_bias)[c] = static_cast<T>(bias_gradient);
  }
};

Channels channels_of(const NormPlan& plan) {
  return {plan.outer, plan.channels, plan.inner};
}
int64_t numel(const NormPlan& plan) {
  return plan.outer * plan.channels * plan.inner;
}

// ---- batch_norm ----

// (x - shift) and its square, where shift is a channel's first number, so that nothing cancels.
template <class T>
struct Deviations {
  Typed<T> of;
  __device__ Sums operator()(int64_t c, int64_t, int64_t at) const {
    const T d = of.x()[at] - of.x()[c * of.plan.inner];
    return {static_cast<double>(d), static_cast<double>(d * d)};
  }
};
template <class T>
struct SetStatistics {
  Typed<T> of;
  __device__ void operator()(int64_t c, Sums sums) const {
    const NormPlan& plan = of.plan;
    const double count = static_cast<double>(plan.outer * plan.inner);
    const auto found = math::group_moments(static_cast<double>(of.x()[c * plan.inner]), sums.first,
                                           sums.second, count);
    of.mean()[c] = static_cast<T>(found.mean);
    of.rstd()[c] = static_cast<T>(math::reciprocal_deviation(found.variance, plan.eps));
    if (plan.running_mean == nullptr) return;
    move(static_cast<T*>(plan.running_mean)[c], found.mean);
    move(static_cast<T*>(plan.running_var)[c], math::unbiased(found.variance, count));
  }
  __device__ void move(T& running, double batch) const {
    running = static_cast<T>(
        math::moved_statistic(static_cast<double>(running), batch, of.plan.momentum));
  }
};

template <class T>
__global__ void normalize_kernel(Typed<T> of, int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t c = i / of.plan.inner % of.plan.channels;
    const T scale = of.rstd()[c] * of.weight(c);
    of.y()[i] = (of.x()[i] - of.mean()[c]) * scale + of.bias(c);
  }
}

// g and g (x - mean)
template <class T>
struct Slopes {
  Typed<T> of;
  __device__ Sums operator()(int64_t c, int64_t, int64_t at) const {
    const T g = of.y()[at];
    return {static_cast<double>(g), static_cast<double>(g * (of.x()[at] - of.mean()[c]))};
  }
};
template <class T>
struct Slope {
  T a, b, c;
};
template <class T>
struct SetSlopes {
  Typed<T> of;
  Slope<T>* slopes;
  __device__ void operator()(int64_t c, Sums sums) const {
    const NormPlan& plan = of.plan;
    const double r = of.rstd()[c];
    of.put_parameters(c, sums.second * r, sums.first);
    const auto found =
        math::norm_slope(plan.use_statistics != 0, static_cast<double>(of.weight(c)), r, sums.first,
                         sums.second, static_cast<double>(plan.outer * plan.inner));
    slopes[c] = {static_cast<T>(found.a), static_cast<T>(found.b), static_cast<T>(found.c)};
  }
};

template <class T>
__global__ void normalize_backward_kernel(Typed<T> of, const Slope<T>* slopes, int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t c = i / of.plan.inner % of.plan.channels;
    const Slope<T> slope = slopes[c];
    static_cast<T*>(of.plan.grad_input)[i] =
        of.y()[i] * slope.a - (of.x()[i] - of.mean()[c]) * slope.b - slope.c;
  }
}

template <class T>
Status batch_norm(const NormPlan& plan) {
  const Typed<T> of{plan};
  if (plan.backward == 0) {
    if (plan.use_statistics == 0) {
      const Status status =
          sum_channels(plan.place, channels_of(plan), Deviations<T>{of}, SetStatistics<T>{of});
      if (status != kernel::kOk) return status;
    }
    return launch(plan.place, numel(plan), &normalize_kernel<T>, of, numel(plan));
  }
  const Workspace space(plan.place, plan.channels * static_cast<int64_t>(sizeof(Slope<T>)));
  if (space.missing()) return no_workspace();
  auto* slopes = space.data<Slope<T>>();
  const Status status =
      sum_channels(plan.place, channels_of(plan), Slopes<T>{of}, SetSlopes<T>{of, slopes});
  if (status != kernel::kOk || plan.grad_input == nullptr) return status;
  return launch(plan.place, numel(plan), &normalize_backward_kernel<T>, of,
                static_cast<const Slope<T>*>(slopes), numel(plan));
}

// ---- layer_norm ----

// Two passes: the row is in the cache, and the second one cannot cancel.
template <class T>
struct LayerForward {
  Typed<T> of;

  template <class Team>
  __device__ void operator()(int64_t row, const Team& team) const {
    const int64_t width = of.plan.inner;
    const T* x = of.x() + row * width;
    double sum = 0;
    for (int64_t i = team.first(); i < width; i += team.step()) sum += static_cast<double>(x[i]);
    const T center = static_cast<T>(team.sum(sum) / static_cast<double>(width));
    sum = 0;
    double squares = 0;
    for (int64_t i = team.first(); i < width; i += team.step()) {
      const T d = x[i] - center;
      sum += static_cast<double>(d);
      squares += static_cast<double>(d * d);
    }
    const auto found = math::group_moments(static_cast<double>(center), team.sum(sum),
                                           team.sum(squares), static_cast<double>(width));
    const T scale = static_cast<T>(math::reciprocal_deviation(found.variance, of.plan.eps));
    if (team.leads()) {
      of.mean()[row] = center;
      of.rstd()[row] = scale;
    }
    for (int64_t i = team.first(); i < width; i += team.step())
      of.y()[row * width + i] = (x[i] - center) * scale * of.weight(i) + of.bias(i);
  }
};

template <class T>
struct LayerBackward {
  Typed<T> of;

  template <class Team>
  __device__ void operator()(int64_t row, const Team& team) const {
    const int64_t width = of.plan.inner;
    const T* x = of.x() + row * width;
    const T* g = of.y() + row * width;
    const T mean = of.mean()[row];
    double sum = 0;
    double dot = 0;
    for (int64_t i = team.first(); i < width; i += team.step()) {
      const T slope = g[i] * of.weight(i);
      sum += static_cast<double>(slope);
      dot += static_cast<double>(slope * (x[i] - mean));
    }
    const auto found = math::norm_slope(false, 1, static_cast<double>(of.rstd()[row]),
                                        team.sum(sum), team.sum(dot), static_cast<double>(width));
    const Slope<T> k{static_cast<T>(found.a), static_cast<T>(found.b), static_cast<T>(found.c)};
    for (int64_t i = team.first(); i < width; i += team.step()) {
      static_cast<T*>(of.plan.grad_input)[row * width + i] =
          g[i] * of.weight(i) * k.a - (x[i] - mean) * k.b - k.c;
    }
  }
};

// The parameters' gradients are sums over the rows: g and g times the normalised number.
template <class T>
struct ParameterTerms {
  Typed<T> of;
  __device__ Sums operator()(int64_t, int64_t row, int64_t at) const {
    const T g = of.y()[at];
    const T hat = (of.x()[at] - of.mean()[row]) * of.rstd()[row];
    return {static_cast<double>(g), static_cast<double>(g * hat)};
  }
};
template <class T>
struct SetParameters {
  Typed<T> of;
  __device__ void operator()(int64_t c, Sums sums) const {
    of.put_parameters(c, sums.second, sums.first);
  }
};

template <class T>
Status layer_norm(const NormPlan& plan) {
  const Typed<T> of{plan};
  if (plan.backward == 0)
    return launch_rows(plan.place, plan.outer, plan.inner, LayerForward<T>{of});
  if (plan.grad_input != nullptr) {
    const Status status = launch_rows(plan.place, plan.outer, plan.inner, LayerBackward<T>{of});
    if (status != kernel::kOk) return status;
  }
  if (plan.grad_weight == nullptr && plan.grad_bias == nullptr) return kernel::kOk;
  return sum_channels(plan.place, {plan.outer, plan.inner, 1}, ParameterTerms<T>{of},
                      SetParameters<T>{of});
}

template <class T>
Status run(const NormPlan& plan) {
  return plan.per_channel != 0 ? batch_norm<T>(plan) : layer_norm<T>(plan);
}

}  // namespace

Status norm(const NormPlan& plan) {
  if (numel(plan) == 0) return kernel::kOk;
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kNotImplemented, "expected float32 or float64 for a normalisation");
}

}  // namespace tsr::cuda
