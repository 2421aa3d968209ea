// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fill and copy: elements are moved by size, or cast to another dtype. One piece of memory is left
// to CUDA's own copy and fill, rows move in packs, and a transposed copy goes through shared
// memory.
#include "backend/cuda/block.cuh"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/pointwise/pointwise.cuh"

namespace tsr::cuda {
namespace {

// ---- Fill ----

template <class T>
__global__ void fill_kernel(const __grid_constant__ ShortWalk<1> walk, char* out, Parameter value) {
  const T element = *reinterpret_cast<const T*>(&value);
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[1];
    walk.offsets(i, at);
    *reinterpret_cast<T*>(out + at[0]) = element;
  }
}

template <class T>
__global__ void fill_packs_kernel(const __grid_constant__ Packs<1> packs, char* out,
                                  Parameter value) {
  const T element = *reinterpret_cast<const T*>(&value);
  write_packs<T, kPackOf<T>>(packs, out, [&] { return element; });
}

// Whether operand k is one piece of memory, of elements of `size` bytes.
bool is_line(const ElementwisePlan& plan, int k, int64_t size) {
  return plan.ndim == 1 && (plan.strides[k][0] == size || plan.sizes[0] == 1);
}

template <class T>
Status fill_with(const ElementwisePlan& plan, const Parameter& value) {
  const auto size = static_cast<int64_t>(sizeof(T));
  unsigned char bytes[sizeof(Parameter)];
  std::memcpy(bytes, &value, sizeof bytes);
  if (is_line(plan, 0, size) &&
      std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == 0; }))
    return clear(plan.place, plan.data[0], plan.numel * size);
  if (const auto packs = packs_of<1>(plan, {size}, kPackOf<T>)) {
    return launch_packs(plan.place, *packs, &fill_packs_kernel<T>, static_cast<char*>(plan.data[0]),
                        value);
  }
  return each_short_walk<1>(plan, [&](const ShortWalk<1>& walk, const int64_t(&at)[1]) {
    return launch(plan.place, walk.numel, &fill_kernel<T>, walk,
                  static_cast<char*>(plan.data[0]) + at[0], value);
  });
}

// ---- Copy ----

template <class T>
__global__ void copy_kernel(const __grid_constant__ ShortWalk<2> walk,
                            const __grid_constant__ Operands<2> operands) {
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[2];
    walk.offsets(i, at);
    *reinterpret_cast<T*>(static_cast<char*>(operands.data[0]) + at[0]) =
        operands.template read<T>(1, at[1]);
  }
}

template <class T>
__global__ void copy_packs_kernel(const __grid_constant__ Packs<2> packs,
                                  const __grid_constant__ Operands<2> operands) {
  write_packs<T, kPackOf<T>>(
      packs, operands.data[0], [](T x) { return x; },
      operands.template input<T, kPackOf<T>, 1>(packs));
}

// A copy whose neighbours in the output lie along one dim, those in the input along another.
struct Turned {
  int64_t columns;      // neighbours in the output
  int64_t rows;         // neighbours in the input
  int64_t output_step;  // bytes from row to row
  int64_t input_step;   // bytes from column to column
  ShortWalk<2> others;
};

std::optional<Turned> turned_of(const ElementwisePlan& plan, int64_t size) {
  constexpr int64_t kFew = 8;  // of which a tile would be mostly empty
  const int32_t last = plan.ndim - 1;
  if (plan.ndim < 2 || plan.ndim > kShortRank || (plan.host_operands & 2U) != 0 ||
      plan.strides[0][last] != size || plan.strides[1][last] == size || plan.sizes[last] < kFew)
    return std::nullopt;
  for (int32_t d = 0; d < last; ++d) {
    if (plan.strides[1][d] != size || plan.sizes[d] < kFew) continue;
    Turned turned{plan.sizes[last], plan.sizes[d], plan.strides[0][d], plan.strides[1][last], {}};
    ShortWalk<2>& others = turned.others;
    others.ndim = 0;
    others.numel = 1;
    others.sizes[0] = 1;
    others.strides[0][0] = others.strides[1][0] = 0;
    for (int32_t o = 0; o < last; ++o) {
      if (o == d) continue;
      others.sizes[others.ndim] = plan.sizes[o];
      for (int k = 0; k < 2; ++k) others.strides[k][others.ndim] = plan.strides[k][o];
      others.numel *= plan.sizes[o];
      ++others.ndim;
    }
    others.ndim = std::max(others.ndim, 1);
    return turned;
  }
  return std::nullopt;
}

// A block reads a tile along the rows and writes it along the columns. A row of the tile has one
// element more than it needs, so that the threads that read a column meet different banks.
template <class T>
__global__ void turn_kernel(const __grid_constant__ Turned turned, char* to, const char* from) {
  __shared__ T tile[kWarp][kWarp + 1];
  const int64_t across = (turned.columns + kWarp - 1) / kWarp;
  const int64_t down = (turned.rows + kWarp - 1) / kWarp;
  const int lane = lane_of_thread();
  for (int64_t task = blockIdx.x; task < turned.others.numel * across * down; task += gridDim.x) {
    const int64_t upper = divide(task, across);
    const int64_t which = divide(upper, down);
    const int64_t column = (task - upper * across) * kWarp;
    const int64_t row = (upper - which * down) * kWarp;
    int64_t at[2];
    turned.others.offsets(which, at);
    const char* const read = from + at[1] + (row + lane) * static_cast<int64_t>(sizeof(T));
    for (int c = warp_of_thread(); c < kWarp; c += warps_of_block()) {
      if (column + c < turned.columns && row + lane < turned.rows)
        tile[c][lane] = *reinterpret_cast<const T*>(read + (column + c) * turned.input_step);
    }
    __syncthreads();
    char* const write = to + at[0] + (column + lane) * static_cast<int64_t>(sizeof(T));
    for (int r = warp_of_thread(); r < kWarp; r += warps_of_block()) {
      if (row + r < turned.rows && column + lane < turned.columns)
        *reinterpret_cast<T*>(write + (row + r) * turned.output_step) = tile[lane][r];
    }
    __syncthreads();  // the next tile is read here
  }
}

Status copy_bytes(const ElementwisePlan& plan, int64_t nbytes) {
  const DeviceGuard guard(plan.place.device);
  TSR_CUDA_TRY(guard.error());
  TSR_CUDA_TRY(cudaMemcpyAsync(plan.data[0], plan.data[1], static_cast<size_t>(nbytes),
                               cudaMemcpyDeviceToDevice, stream_of(plan.place)));
  return queued(plan.place);
}

template <class T>
Status copy_as(const ElementwisePlan& plan) {
  const auto size = static_cast<int64_t>(sizeof(T));
  if ((plan.host_operands & 2U) != 0) {
    Parameter value;
    std::memcpy(&value, plan.data[1], sizeof value);
    return fill_with<T>(plan, value);
  }
  if (is_line(plan, 0, size) && is_line(plan, 1, size)) return copy_bytes(plan, plan.numel * size);
  if (const std::optional<Turned> turned = turned_of(plan, size)) {
    const int64_t tiles = turned->others.numel * ((turned->columns + kWarp - 1) / kWarp) *
                          ((turned->rows + kWarp - 1) / kWarp);
    return launch_blocks(plan.place, tiles, kThreads, &turn_kernel<T>, *turned,
                         static_cast<char*>(plan.data[0]), static_cast<const char*>(plan.data[1]));
  }
  if (const auto packs = packs_of<2>(plan, {size, size}, kPackOf<T>))
    return launch_packs(plan.place, *packs, &copy_packs_kernel<T>, operands_of<2>(plan));
  return each_walk<2>(plan, [&](const ShortWalk<2>& walk, const Operands<2>& operands) {
    return launch(plan.place, walk.numel, &copy_kernel<T>, walk, operands);
  });
}

// ---- Casts ----

// Dtypes are tested per element: all threads take the same branch.
template <class Wide>
__global__ void cast_kernel(const __grid_constant__ ShortWalk<2> walk,
                            const __grid_constant__ Operands<2> operands, DType to, DType from) {
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[2];
    walk.offsets(i, at);
    store_as(to, static_cast<char*>(operands.data[0]) + at[0],
             load_as<Wide>(from, operands.at(1, at[1])));
  }
}

// Between floating dtypes, whose casts every step of mixed precision needs.
template <class To, class From>
constexpr int kPackOfCast =
    kPackOf<typename To::Type> < kPackOf<typename From::Type> ? kPackOf<typename To::Type>
                                                              : kPackOf<typename From::Type>;

template <class To, class From>
__global__ void cast_packs_kernel(const __grid_constant__ Packs<2> packs,
                                  const __grid_constant__ Operands<2> operands) {
  using In = typename From::Type;
  using T = typename To::Value::Element;
  constexpr int kItems = kPackOfCast<To, From>;
  write_packs<typename To::Type, kItems>(
      packs, operands.data[0],
      [](In x) { return To::store(Number<T>(static_cast<T>(From::load(x).v))); },
      operands.template input<In, kItems, 1>(packs));
}

// nullopt: the layout has no packs.
template <class To, class From>
std::optional<Status> cast_packs(const ElementwisePlan& plan) {
  const int64_t sizes[2] = {sizeof(typename To::Type), sizeof(typename From::Type)};
  const auto packs = packs_of<2>(plan, sizes, kPackOfCast<To, From>);
  if (!packs) return std::nullopt;
  return launch_packs(plan.place, *packs, &cast_packs_kernel<To, From>, operands_of<2>(plan));
}

// Calls visit.operator()<Storage>() for a real floating dtype.
template <class Visit>
auto visit_float(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kFloat16:
      return visit.template operator()<Short<Half>>();
    case DType::kBFloat16:
      return visit.template operator()<Short<BFloat16>>();
    case DType::kFloat32:
      return visit.template operator()<Plain<float>>();
    default:
      return visit.template operator()<Plain<double>>();
  }
}

Status cast(const ElementwisePlan& plan, DType to, DType from) {
  if (is_floating(to) && is_floating(from)) {
    const std::optional<Status> status = visit_float(to, [&]<class To>() {
      return visit_float(from, [&]<class From>() { return cast_packs<To, From>(plan); });
    });
    if (status) return *status;
  }
  return visit_wide(from, [&]<class Wide>() {
    return each_walk<2>(plan, [&](const ShortWalk<2>& walk, const Operands<2>& operands) {
      return launch(plan.place, walk.numel, &cast_kernel<Wide>, walk, operands, to, from);
    });
  });
}

}  // namespace

Status fill(const ElementwisePlan& plan) {
  if (plan.numel == 0) return kernel::kOk;
  return visit_size(plan.dtypes[0], [&]<class T>() { return fill_with<T>(plan, plan.params[0]); });
}

Status copy(const ElementwisePlan& plan) {
  if (plan.numel == 0) return kernel::kOk;
  if (plan.dtypes[0] == plan.dtypes[1])
    return visit_size(plan.dtypes[0], [&]<class T>() { return copy_as<T>(plan); });
  return cast(plan, plan.dtypes[0], plan.dtypes[1]);
}

}  // namespace tsr::cuda
