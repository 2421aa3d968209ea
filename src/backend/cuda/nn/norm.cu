// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// batch_norm, group_norm, layer_norm and rms_norm. Sums over a channel are formed in parts, whose
// number depends on the plan alone: by blocks if the numbers of a channel are contiguous, by
// threads if the channels are. group_norm joins the sums over each channel of each image. A team
// computes each row of layer_norm (Note [Rows by layout]).
#include "backend/common/norm_math.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/storage.cuh"
#include "backend/cuda/team.cuh"

namespace tsr::cuda {

using kernel::NormKind;
using kernel::NormPlan;
using kernel::Place;
using kernel::Status;

namespace {

// ---- Sums over channels ----

// `channels` groups of outer * inner numbers.
struct Channels {
  int64_t outer, channels, inner;

  [[nodiscard]] __host__ __device__ int64_t count() const { return outer * inner; }
  [[nodiscard]] bool neighbours() const { return inner == 1; }
  // The offset of number e of channel c.
  __device__ int64_t at(int64_t c, int64_t e) const {
    const int64_t image = divide(e, inner);
    return (image * channels + c) * inner + (e - image * inner);
  }
};
// The same for each channel of each image: `channels` is their number, an image has `width` of them
// and `inner` points. Channels last, as row-major images are a Channels with outer = 1.
struct ImageChannels {
  int64_t channels, width, inner;

  [[nodiscard]] __host__ __device__ int64_t count() const { return inner; }
  [[nodiscard]] bool neighbours() const { return true; }
  __device__ int64_t at(int64_t c, int64_t e) const {
    const int64_t image = divide(c, width);
    return (image * inner + e) * width + (c - image * width);
  }
};

struct Sums {
  double first, second;
  __device__ void add(Sums other) {
    first += other.first;
    second += other.second;
  }
};

// The sums of part p of channel c go to partial[p * channels + c]; terms(c, e, at) returns what an
// element adds.
template <class Shape, class Terms>
__global__ void by_thread_kernel(Shape shape, int64_t parts, int64_t part_size, Terms terms,
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
template <class Shape, class Terms>
__global__ void by_block_kernel(Shape shape, int64_t parts, int64_t part_size, Terms terms,
                                Sums* partial) {
  __shared__ Sums place[kWarps];
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

// finish(c, sums of the whole channel). A block has 32 neighbouring channels, whose parts its warps
// share: the order of the parts is fixed, and memory is read in whole lines.
template <class Finish>
__global__ void finish_channels_kernel(int64_t channels, int64_t parts, const Sums* partial,
                                       Finish finish) {
  __shared__ Sums place[kThreads];
  for (int64_t begin = int64_t{blockIdx.x} * kWarp; begin < channels;
       begin += int64_t{gridDim.x} * kWarp) {
    const int64_t c = begin + lane_of_thread();
    Sums sums{0, 0};
    for (int64_t p = warp_of_thread(); c < channels && p < parts; p += warps_of_block())
      sums.add(partial[p * channels + c]);
    place[threadIdx.x] = sums;
    __syncthreads();
    if (warp_of_thread() == 0 && c < channels) {
      for (int warp = 1; warp < warps_of_block(); ++warp)
        sums.add(place[warp * kWarp + lane_of_thread()]);
      finish(c, sums);
    }
    __syncthreads();  // the next channels write here
  }
}

template <class Shape, class Terms, class Finish>
Status sum_channels(Place place, Shape shape, const Terms& terms, const Finish& finish) {
  const bool threads = shape.neighbours();
  // Enough parts to keep the device busy, but none smaller than is worth a part.
  const int64_t wanted = (threads ? 131072 : 1024) / shape.channels + 1;
  const int64_t most = shape.count() / (threads ? 64 : 8192) + 1;
  const int64_t part_size = (shape.count() + std::min(wanted, most) - 1) / std::min(wanted, most);
  const int64_t parts = (shape.count() + part_size - 1) / part_size;
  const int64_t tasks = parts * shape.channels;
  const Workspace space(place, tasks * static_cast<int64_t>(sizeof(Sums)));
  if (space.missing()) return no_workspace();
  auto* partial = space.data<Sums>();
  const Status status = threads
                            ? launch(place, tasks, &by_thread_kernel<Shape, Terms>, shape, parts,
                                     part_size, terms, partial)
                            : launch_blocks(place, tasks, kThreads, &by_block_kernel<Shape, Terms>,
                                            shape, parts, part_size, terms, partial);
  if (status != kernel::kOk) return status;
  return launch_blocks(place, (shape.channels + kWarp - 1) / kWarp, kThreads,
                       &finish_channels_kernel<Finish>, shape.channels, parts,
                       static_cast<const Sums*>(partial), finish);
}

// ---- A plan with its types ----

// Images and rows are stored as S; statistics are T, and computation is in T.
template <class S>
struct Typed {
  using T = typename S::Value::Element;
  using Type = typename S::Type;
  NormPlan plan;

  __device__ T x(int64_t i) const { return S::load(static_cast<const Type*>(plan.input)[i]).v; }
  // In a backward pass `output` is the gradient.
  __device__ T y(int64_t i) const { return S::load(static_cast<const Type*>(plan.output)[i]).v; }
  __device__ void put_y(int64_t i, T value) const { put(plan.output, i, value); }
  __device__ void put_dx(int64_t i, T value) const { put(plan.grad_input, i, value); }
  __device__ T* mean() const { return static_cast<T*>(plan.mean); }
  __device__ T* rstd() const { return static_cast<T*>(plan.rstd); }
  __device__ T weight(int64_t c) const {
    return plan.weight == nullptr ? T{1} : parameter(plan.weight, plan.weight_dtype, c);
  }
  __device__ T bias(int64_t c) const {
    return plan.bias == nullptr ? T{0} : parameter(plan.bias, plan.bias_dtype, c);
  }
  __device__ void put_parameters(int64_t c, double weight_gradient, double bias_gradient) const {
    if (plan.grad_weight != nullptr)
      put_parameter(plan.grad_weight, plan.weight_dtype, c, static_cast<T>(weight_gradient));
    if (plan.grad_bias != nullptr)
      put_parameter(plan.grad_bias, plan.bias_dtype, c, static_cast<T>(bias_gradient));
  }

 private:
  __device__ static void put(void* data, int64_t i, T value) {
    static_cast<Type*>(data)[i] = S::store(Number<T>(value));
  }
  // Parameters have the dtype of the images, or T.
  __device__ T parameter(const void* data, DType dtype, int64_t c) const {
    if (dtype == plan.dtype) return S::load(static_cast<const Type*>(data)[c]).v;
    return static_cast<const T*>(data)[c];
  }
  __device__ void put_parameter(void* data, DType dtype, int64_t c, T value) const {
    if (dtype == plan.dtype)
      put(data, c, value);
    else
      static_cast<T*>(data)[c] = value;
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
template <class S>
struct Deviations {
  Typed<S> of;
  __device__ Sums operator()(int64_t c, int64_t, int64_t at) const {
    const auto d = of.x(at) - of.x(c * of.plan.inner);
    return {static_cast<double>(d), static_cast<double>(d * d)};
  }
};
template <class S>
struct SetStatistics {
  using T = typename Typed<S>::T;
  Typed<S> of;
  __device__ void operator()(int64_t c, Sums sums) const {
    const NormPlan& plan = of.plan;
    const double count = static_cast<double>(plan.outer * plan.inner);
    const auto found = math::group_moments(static_cast<double>(of.x(c * plan.inner)), sums.first,
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

template <class S>
__global__ void normalize_kernel(Typed<S> of, int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t c = modulo(divide(i, of.plan.inner), of.plan.channels);
    const auto scale = of.rstd()[c] * of.weight(c);
    of.put_y(i, (of.x(i) - of.mean()[c]) * scale + of.bias(c));
  }
}

// g and g (x - mean)
template <class S>
struct Slopes {
  Typed<S> of;
  __device__ Sums operator()(int64_t c, int64_t, int64_t at) const {
    const auto g = of.y(at);
    return {static_cast<double>(g), static_cast<double>(g * (of.x(at) - of.mean()[c]))};
  }
};
template <class T>
struct Slope {
  T a, b, c;
};
template <class S>
struct SetSlopes {
  using T = typename Typed<S>::T;
  Typed<S> of;
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

template <class S>
__global__ void normalize_backward_kernel(Typed<S> of, const Slope<typename Typed<S>::T>* slopes,
                                          int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t c = modulo(divide(i, of.plan.inner), of.plan.channels);
    const auto slope = slopes[c];
    of.put_dx(i, of.y(i) * slope.a - (of.x(i) - of.mean()[c]) * slope.b - slope.c);
  }
}

template <class S>
Status batch_norm(const NormPlan& plan) {
  using T = typename Typed<S>::T;
  const Typed<S> of{plan};
  if (plan.backward == 0) {
    if (plan.use_statistics == 0) {
      const Status status =
          sum_channels(plan.place, channels_of(plan), Deviations<S>{of}, SetStatistics<S>{of});
      if (status != kernel::kOk) return status;
    }
    return launch(plan.place, numel(plan), &normalize_kernel<S>, of, numel(plan));
  }
  const Workspace space(plan.place, plan.channels * static_cast<int64_t>(sizeof(Slope<T>)));
  if (space.missing()) return no_workspace();
  auto* slopes = space.data<Slope<T>>();
  const Status status =
      sum_channels(plan.place, channels_of(plan), Slopes<S>{of}, SetSlopes<S>{of, slopes});
  if (status != kernel::kOk || plan.grad_input == nullptr) return status;
  return launch(plan.place, numel(plan), &normalize_backward_kernel<S>, of,
                static_cast<const Slope<T>*>(slopes), numel(plan));
}

// ---- group_norm ----

// "Plane" k is channel k % channels of image k / channels; the planes of a group are neighbours.
template <class S>
struct Planes {
  using T = typename Typed<S>::T;
  Typed<S> of;

  [[nodiscard]] __host__ __device__ int64_t each() const {
    return of.plan.channels / of.plan.groups;
  }
  [[nodiscard]] __host__ __device__ int64_t count() const {
    return of.plan.outer * of.plan.channels;
  }
  __device__ int64_t channel(int64_t plane) const { return modulo(plane, of.plan.channels); }
  __device__ int64_t group(int64_t plane) const { return divide(plane, each()); }
  // The plane of element i of the images.
  __device__ int64_t plane(int64_t i) const {
    const NormPlan& plan = of.plan;
    if (plan.channels_last == 0) return divide(i, plan.inner);
    return divide(i, plan.inner * plan.channels) * plan.channels + modulo(i, plan.channels);
  }
  // The first number of a group: the shift of its moments.
  __device__ T shift(int64_t group) const {
    const NormPlan& plan = of.plan;
    const int64_t head = group * each();
    if (plan.channels_last == 0) return of.x(head * plan.inner);
    return of.x(head / plan.channels * plan.inner * plan.channels + channel(head));
  }
};

template <class S>
struct PlaneDeviations {
  Planes<S> planes;
  __device__ Sums operator()(int64_t k, int64_t, int64_t at) const {
    const auto d = planes.of.x(at) - planes.shift(planes.group(k));
    return {static_cast<double>(d), static_cast<double>(d * d)};
  }
};
template <class S>
struct PlaneSlopes {
  Planes<S> planes;
  __device__ Sums operator()(int64_t k, int64_t, int64_t at) const {
    const auto g = planes.of.y(at);
    const auto d = planes.of.x(at) - planes.of.mean()[planes.group(k)];
    return {static_cast<double>(g), static_cast<double>(g * d)};
  }
};
struct KeepSums {
  Sums* sums;
  __device__ void operator()(int64_t k, Sums found) const { sums[k] = found; }
};

// The sums over the planes of a group, in a backward pass weighted: g w instead of g.
template <class S>
__device__ Sums group_sums(const Planes<S>& planes, const Sums* sums, int64_t group,
                           bool weighted) {
  Sums whole{0, 0};
  for (int64_t k = group * planes.each(); k < (group + 1) * planes.each(); ++k) {
    const double w = weighted ? static_cast<double>(planes.of.weight(planes.channel(k))) : 1.0;
    whole.add({w * sums[k].first, w * sums[k].second});
  }
  return whole;
}

template <class S>
__global__ void group_statistics_kernel(Planes<S> planes, const Sums* sums, int64_t groups) {
  using T = typename Typed<S>::T;
  const NormPlan& plan = planes.of.plan;
  for (int64_t group = first_index(); group < groups; group += index_step()) {
    const Sums whole = group_sums(planes, sums, group, false);
    const auto found =
        math::group_moments(static_cast<double>(planes.shift(group)), whole.first, whole.second,
                            static_cast<double>(planes.each() * plan.inner));
    planes.of.mean()[group] = static_cast<T>(found.mean);
    planes.of.rstd()[group] = static_cast<T>(math::reciprocal_deviation(found.variance, plan.eps));
  }
}
template <class S>
__global__ void group_normalize_kernel(Planes<S> planes, int64_t count) {
  const Typed<S>& of = planes.of;
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t k = planes.plane(i);
    const int64_t group = planes.group(k);
    const int64_t c = planes.channel(k);
    of.put_y(i, (of.x(i) - of.mean()[group]) * (of.rstd()[group] * of.weight(c)) + of.bias(c));
  }
}

template <class S>
__global__ void group_slopes_kernel(Planes<S> planes, const Sums* sums, int64_t groups,
                                    Slope<typename Typed<S>::T>* slopes) {
  using T = typename Typed<S>::T;
  for (int64_t group = first_index(); group < groups; group += index_step()) {
    const Sums whole = group_sums(planes, sums, group, true);
    const auto found =
        math::norm_slope(false, 1, static_cast<double>(planes.of.rstd()[group]), whole.first,
                         whole.second, static_cast<double>(planes.each() * planes.of.plan.inner));
    slopes[group] = {static_cast<T>(found.a), static_cast<T>(found.b), static_cast<T>(found.c)};
  }
}
// The parameters' gradients: the sums over the images of what the planes of a channel add.
template <class S>
__global__ void group_parameters_kernel(Planes<S> planes, const Sums* sums) {
  const NormPlan& plan = planes.of.plan;
  for (int64_t c = first_index(); c < plan.channels; c += index_step()) {
    Sums whole{0, 0};
    for (int64_t k = c; k < planes.count(); k += plan.channels) {
      const double r = static_cast<double>(planes.of.rstd()[planes.group(k)]);
      whole.add({sums[k].first, sums[k].second * r});
    }
    planes.of.put_parameters(c, whole.second, whole.first);
  }
}
template <class S>
__global__ void group_backward_kernel(Planes<S> planes, const Slope<typename Typed<S>::T>* slopes,
                                      int64_t count) {
  const Typed<S>& of = planes.of;
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t k = planes.plane(i);
    const int64_t group = planes.group(k);
    const auto slope = slopes[group];
    of.put_dx(i, of.y(i) * of.weight(planes.channel(k)) * slope.a -
                     (of.x(i) - of.mean()[group]) * slope.b - slope.c);
  }
}

template <class S, class Terms>
Status sum_planes(const Planes<S>& planes, const Terms& terms, Sums* sums) {
  const NormPlan& plan = planes.of.plan;
  if (plan.channels_last == 0)
    return sum_channels(plan.place, Channels{1, planes.count(), plan.inner}, terms, KeepSums{sums});
  return sum_channels(plan.place, ImageChannels{planes.count(), plan.channels, plan.inner}, terms,
                      KeepSums{sums});
}

template <class S>
Status group_norm(const NormPlan& plan) {
  using T = typename Typed<S>::T;
  const Planes<S> planes{{plan}};
  const int64_t groups = plan.outer * plan.groups;
  const Workspace sum_space(plan.place, planes.count() * static_cast<int64_t>(sizeof(Sums)));
  const Workspace slope_space(plan.place, groups * static_cast<int64_t>(sizeof(Slope<T>)));
  if (sum_space.missing() || slope_space.missing()) return no_workspace();
  auto* sums = sum_space.data<Sums>();
  const auto* found = static_cast<const Sums*>(sums);
  auto* slopes = slope_space.data<Slope<T>>();
  const bool backward = plan.backward != 0;
  Status status = backward ? sum_planes(planes, PlaneSlopes<S>{planes}, sums)
                           : sum_planes(planes, PlaneDeviations<S>{planes}, sums);
  if (status != kernel::kOk) return status;
  if (!backward) {
    status = launch(plan.place, groups, &group_statistics_kernel<S>, planes, found, groups);
    if (status != kernel::kOk) return status;
    return launch(plan.place, numel(plan), &group_normalize_kernel<S>, planes, numel(plan));
  }
  if (plan.grad_weight != nullptr || plan.grad_bias != nullptr) {
    status = launch(plan.place, plan.channels, &group_parameters_kernel<S>, planes, found);
    if (status != kernel::kOk) return status;
  }
  if (plan.grad_input == nullptr) return kernel::kOk;
  status = launch(plan.place, groups, &group_slopes_kernel<S>, planes, found, groups, slopes);
  if (status != kernel::kOk) return status;
  return launch(plan.place, numel(plan), &group_backward_kernel<S>, planes,
                static_cast<const Slope<T>*>(slopes), numel(plan));
}

// ---- layer_norm and rms_norm, which has no mean ----

// Two passes: the row is in the cache, and deviations from the mean do not cancel.
template <class S>
struct LayerForward {
  using T = typename Typed<S>::T;
  Typed<S> of;

  template <class Team>
  __device__ void operator()(int64_t row, const Team& team) const {
    const int64_t width = of.plan.inner;
    const int64_t at = row * width;
    const bool centered = of.plan.kind == NormKind::kRows;
    const auto numbers = team.hold(width, [&](int64_t i) { return of.x(at + i); });
    double sum = 0;
    if (centered) numbers.each([&](int64_t, T x) { sum += static_cast<double>(x); });
    const T center = centered ? static_cast<T>(team.sum(sum) / static_cast<double>(width)) : T{0};
    sum = 0;
    double squares = 0;
    numbers.each([&](int64_t, T x) {
      const T d = x - center;
      sum += centered ? static_cast<double>(d) : 0.0;
      squares += static_cast<double>(d * d);
    });
    const auto found = math::group_moments(static_cast<double>(center), team.sum(sum),
                                           team.sum(squares), static_cast<double>(width));
    const T scale = static_cast<T>(math::reciprocal_deviation(found.variance, of.plan.eps));
    if (team.leads()) {
      if (centered) of.mean()[row] = center;
      of.rstd()[row] = scale;
    }
    numbers.each([&](int64_t i, T x) {
      of.put_y(at + i, (x - center) * scale * of.weight(i) + of.bias(i));
    });
  }
};

// An element of the input, and its gradient times the weight.
template <class T>
struct Weighted {
  T x, slope;
};

template <class S>
struct LayerBackward {
  using T = typename Typed<S>::T;
  Typed<S> of;

  template <class Team>
  __device__ void operator()(int64_t row, const Team& team) const {
    const int64_t width = of.plan.inner;
    const int64_t at = row * width;
    const bool centered = of.plan.kind == NormKind::kRows;
    const T mean = centered ? of.mean()[row] : T{0};
    const auto numbers = team.hold(width, [&](int64_t i) {
      return Weighted<T>{of.x(at + i), of.y(at + i) * of.weight(i)};
    });
    double sum = 0;
    double dot = 0;
    numbers.each([&](int64_t, Weighted<T> of_i) {
      sum += centered ? static_cast<double>(of_i.slope) : 0.0;
      dot += static_cast<double>(of_i.slope * (of_i.x - mean));
    });
    const auto found = math::norm_slope(false, 1, static_cast<double>(of.rstd()[row]),
                                        team.sum(sum), team.sum(dot), static_cast<double>(width));
    const Slope<T> k{static_cast<T>(found.a), static_cast<T>(found.b), static_cast<T>(found.c)};
    numbers.each([&](int64_t i, Weighted<T> of_i) {
      of.put_dx(at + i, of_i.slope * k.a - (of_i.x - mean) * k.b - k.c);
    });
  }
};

// The parameters' gradients are sums over the rows: g and g times the normalised number.
template <class S>
struct ParameterTerms {
  using T = typename Typed<S>::T;
  Typed<S> of;
  __device__ Sums operator()(int64_t, int64_t row, int64_t at) const {
    const auto g = of.y(at);
    const T mean = of.plan.kind == NormKind::kRows ? of.mean()[row] : T{0};
    const T hat = (of.x(at) - mean) * of.rstd()[row];
    return {static_cast<double>(g), static_cast<double>(g * hat)};
  }
};
template <class S>
struct SetParameters {
  Typed<S> of;
  __device__ void operator()(int64_t c, Sums sums) const {
    of.put_parameters(c, sums.second, sums.first);
  }
};

template <class S>
Status layer_norm(const NormPlan& plan) {
  const Typed<S> of{plan};
  if (plan.backward == 0)
    return launch_rows(plan.place, plan.outer, plan.inner, 1, LayerForward<S>{of});
  if (plan.grad_input != nullptr) {
    const Status status = launch_rows(plan.place, plan.outer, plan.inner, 1, LayerBackward<S>{of});
    if (status != kernel::kOk) return status;
  }
  if (plan.grad_weight == nullptr && plan.grad_bias == nullptr) return kernel::kOk;
  return sum_channels(plan.place, Channels{plan.outer, plan.inner, 1}, ParameterTerms<S>{of},
                      SetParameters<S>{of});
}

template <class S>
Status run(const NormPlan& plan) {
  if (plan.kind == NormKind::kGroups) return group_norm<S>(plan);
  return plan.kind == NormKind::kChannels ? batch_norm<S>(plan) : layer_norm<S>(plan);
}

}  // namespace

Status norm(const NormPlan& plan) {
  if (numel(plan) == 0) return kernel::kOk;
  return visit_floating(plan.dtype, "expected a real floating dtype for a normalisation",
                        [&]<class S>() { return run<S>(plan); });
}

}  // namespace tsr::cuda
