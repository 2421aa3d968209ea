// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reading and writing by index arrays. A writing op first sorts the positions it writes to. Of
// equal positions the last one wins, and sums are formed in a fixed order (Note [Runs in pieces]),
// without atomic operations.
#include "backend/cuda/generated/entries.h"

#include <bit>
#include <numeric>

#include "backend/cuda/fault.cuh"
#include "backend/cuda/index/fold_runs.cuh"
#include "backend/cuda/index/sort_pairs.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::ElementwisePlan;
using kernel::IndexOp;
using kernel::IndexPlan;
using kernel::kMaxIndices;
using kernel::Status;

namespace {

// ---- Checking the indices ----

// The valid range of an index, and how one outside it is reported; `place` numbers the index array.
struct Bound {
  Reporter reporter;
  int64_t size;
  int64_t axis;
  int32_t place;

  __device__ bool holds(int64_t index) const {
    const int64_t low = reporter.kind == FaultKind::kIndex ? -size : 0;
    if (index >= low && index < size) return true;
    report(reporter, place, index, size, axis);
    return false;
  }
};

Status reporter_of(const IndexPlan& plan, Reporter& reporter) {
  const char* const what = plan.op == IndexOp::kGet ? "reading by index" : "writing by index";
  const FaultKind kind = plan.from_end != 0 ? FaultKind::kIndex : FaultKind::kPosition;
  return reporter_for(plan.walk.place, kind, what, reporter);
}

__global__ void check_kernel(Walk<1> walk, const char* indices, Bound bound) {
  for (int64_t i = first_index(); i < walk.numel; i += index_step()) {
    int64_t at[1];
    walk.offsets(i, at);
    static_cast<void>(bound.holds(*reinterpret_cast<const int64_t*>(indices + at[0])));
  }
}

// The elements of one index array, each once: dims of stride 0 are left out.
Walk<1> elements_of(const ElementwisePlan& plan, int operand) {
  Walk<1> walk;
  walk.ndim = 0;
  walk.numel = 1;
  for (int32_t d = 0; d < plan.ndim; ++d) {
    if (plan.strides[operand][d] == 0) continue;
    walk.sizes[walk.ndim] = plan.sizes[d];
    walk.strides[0][walk.ndim++] = plan.strides[operand][d];
    walk.numel *= plan.sizes[d];
  }
  if (plan.data[operand] == nullptr) walk.numel = 0;  // the index itself is empty
  if (walk.ndim != 0) return walk;
  walk.ndim = 1;
  walk.sizes[0] = 1;
  walk.strides[0][0] = 0;
  return walk;
}

// Without elements to move, indices out of range are still errors.
Status only_check(const IndexPlan& plan) {
  Reporter reporter;
  Status status = reporter_of(plan, reporter);
  for (int32_t j = 0; j < plan.indices && status == kernel::kOk; ++j) {
    const Walk<1> walk = elements_of(plan.walk, j + 2);
    const Bound bound{reporter, plan.indexed_sizes[j], plan.indexed_axes[j], j};
    status = launch(plan.walk.place, walk.numel, &check_kernel, walk,
                    static_cast<const char*>(plan.walk.data[j + 2]), bound);
  }
  return status;
}

// ---- Finding places ----

// A walk over values, array and index arrays. K is 1, or kMaxIndices for any number; kDims is
// kShortRank where that is enough (Note [Short walks]).
template <int K, int kDims>
struct Lookup {
  Walk<K + 2, kDims> walk;
  const char* data[K];
  int32_t indices;
  int64_t sizes[K];
  int64_t steps[K];  // bytes of the array
  int64_t axes[K];
  Reporter reporter;

  // The offsets of element i in the values and in the array; false if an index is out of range.
  __device__ bool find(int64_t i, int64_t& value, int64_t& element) const {
    int64_t at[K + 2];
    walk.offsets(i, at);
    value = at[0];
    element = at[1];
    bool inside = true;
    for (int j = 0; j < indices; ++j) {
      const int64_t index = *reinterpret_cast<const int64_t*>(data[j] + at[j + 2]);
      inside = Bound{reporter, sizes[j], axes[j], j}.holds(index) && inside;
      element += (index < 0 ? index + sizes[j] : index) * steps[j];
    }
    return inside;
  }
};

// True if no index array depends on dim d, and the dim advances in the array.
bool is_free(const IndexPlan& plan, int32_t d) {
  if (plan.walk.strides[1][d] == 0) return false;
  for (int32_t j = 0; j < plan.indices; ++j) {
    if (plan.walk.strides[j + 2][d] != 0) return false;
  }
  return true;
}

// Adds dim d of the plan to a walk over its first `used` operands; K may be more.
template <int K, int kDims>
void add_dim(Walk<K, kDims>& walk, const ElementwisePlan& plan, int32_t d, int used) {
  walk.sizes[walk.ndim] = plan.sizes[d];
  for (int k = 0; k < K; ++k) walk.strides[k][walk.ndim] = k < used ? plan.strides[k][d] : 0;
  walk.numel *= plan.sizes[d];
  ++walk.ndim;
}
template <int K, int kDims = kernel::kMaxRank>
Walk<K, kDims> no_dims() {
  Walk<K, kDims> walk;
  walk.ndim = 0;
  walk.numel = 1;
  walk.sizes[0] = 1;
  for (int k = 0; k < K; ++k) walk.strides[k][0] = 0;
  return walk;
}

// The lookup over all dims, or over those that are not free.
template <int K, int kDims>
Lookup<K, kDims> lookup_of(const IndexPlan& plan, bool with_free, const Reporter& reporter) {
  Lookup<K, kDims> lookup{};
  lookup.reporter = reporter;
  lookup.walk = no_dims<K + 2, kDims>();
  for (int32_t d = 0; d < plan.walk.ndim; ++d) {
    if (with_free || !is_free(plan, d)) add_dim(lookup.walk, plan.walk, d, plan.indices + 2);
  }
  lookup.indices = plan.indices;
  for (int32_t j = 0; j < plan.indices; ++j) {
    lookup.data[j] = static_cast<const char*>(plan.walk.data[j + 2]);
    lookup.sizes[j] = plan.indexed_sizes[j];
    lookup.steps[j] = plan.indexed_strides[j];
    lookup.axes[j] = plan.indexed_axes[j];
  }
  return lookup;
}

template <class Visit>
Status with_lookup(const IndexPlan& plan, bool with_free, const Visit& visit) {
  Reporter reporter;
  const Status status = reporter_of(plan, reporter);
  if (status != kernel::kOk) return status;
  if (plan.walk.ndim > kShortRank)
    return visit(lookup_of<kMaxIndices, kernel::kMaxRank>(plan, with_free, reporter));
  if (plan.indices <= 1) return visit(lookup_of<1, kShortRank>(plan, with_free, reporter));
  return visit(lookup_of<kMaxIndices, kShortRank>(plan, with_free, reporter));
}

// ---- Reading ----

template <class T, int K, int kDims>
__global__ void get_kernel(const __grid_constant__ Lookup<K, kDims> lookup, char* values,
                           const char* array) {
  for (int64_t i = first_index(); i < lookup.walk.numel; i += index_step()) {
    int64_t value;
    int64_t element;
    const bool found = lookup.find(i, value, element);
    *reinterpret_cast<T*>(values + value) =
        found ? *reinterpret_cast<const T*>(array + element) : T{};
  }
}

Status get(const IndexPlan& plan) {
  auto* values = static_cast<char*>(plan.walk.data[0]);
  const auto* array = static_cast<const char*>(plan.walk.data[1]);
  return visit_size(plan.walk.dtypes[1], [&]<class T>() {
    return with_lookup(plan, true, [&]<int K, int kDims>(const Lookup<K, kDims>& lookup) {
      return launch(plan.walk.place, plan.walk.numel, &get_kernel<T, K, kDims>, lookup, values,
                    array);
    });
  });
}

// ---- Writing ----

// The elements to write, sorted by their position: keys[s] * unit + low is the offset in the array,
// positions[s] the offset in the values. Each stands for a whole walk over the free dims.
struct Order {
  const int32_t* refused;  // not 0: an index was out of range, and nothing is written
  const uint64_t* keys;
  const int64_t* positions;
  int64_t count;
  int64_t low, unit;
  Walk<2> free;  // values, array
  const char* values;
  char* array;

  __device__ bool same_place(int64_t a, int64_t b) const { return keys[a] == keys[b]; }
};

template <int K, int kDims>
__global__ void lookup_keys_kernel(const __grid_constant__ Lookup<K, kDims> lookup, int64_t low,
                                   int64_t unit, uint64_t* keys, int64_t* positions,
                                   int32_t* refused) {
  for (int64_t i = first_index(); i < lookup.walk.numel; i += index_step()) {
    int64_t element;
    if (!lookup.find(i, positions[i], element)) {
      *refused = 1;
      element = low;
    }
    keys[i] = static_cast<uint64_t>(divide(element - low, unit));
  }
}

// Of equal positions, only the last one writes.
template <class T>
__global__ void put_kernel(Order order) {
  if (*order.refused != 0) return;
  for (int64_t t = first_index(); t < order.count * order.free.numel; t += index_step()) {
    const int64_t s = divide(t, order.free.numel);
    if (s + 1 < order.count && order.same_place(s, s + 1)) continue;
    int64_t at[2];
    order.free.offsets(t - s * order.free.numel, at);
    char* place =
        order.array + order.low + static_cast<int64_t>(order.keys[s]) * order.unit + at[1];
    *reinterpret_cast<T*>(place) =
        *reinterpret_cast<const T*>(order.values + order.positions[s] + at[0]);
  }
}

// The lowest and highest byte offset that keys can have, relative to the first element of the
// array, and a number that divides all of them: of small keys the sort looks at few bits.
struct Reach {
  int64_t low = 0;
  int64_t high = 0;
  int64_t unit = 0;
  void add(int64_t size, int64_t stride) {
    const int64_t far = (size - 1) * stride;
    (far < 0 ? low : high) += far;
    if (size > 1) unit = std::gcd(unit, stride);
  }
  [[nodiscard]] int bits() const {
    return std::bit_width(static_cast<uint64_t>((high - low) / unit));
  }
};
Reach reach_of(const IndexPlan& plan) {
  Reach reach;
  for (int32_t d = 0; d < plan.walk.ndim; ++d) {
    if (!is_free(plan, d)) reach.add(plan.walk.sizes[d], plan.walk.strides[1][d]);
  }
  for (int32_t j = 0; j < plan.indices; ++j)
    reach.add(plan.indexed_sizes[j], plan.indexed_strides[j]);
  reach.unit = std::max<int64_t>(reach.unit, 1);
  return reach;
}

Status run_order(const IndexPlan& plan, const Order& order) {
  const DType dtype = plan.walk.dtypes[1];
  if (plan.op == IndexOp::kPut) {
    return visit_size(dtype, [&]<class T>() {
      return launch(plan.walk.place, order.count * order.free.numel, &put_kernel<T>, order);
    });
  }
  const bool compares = plan.op == IndexOp::kMaximum || plan.op == IndexOp::kMinimum;
  if (compares && is_complex(dtype))
    return failure(Code::kDType, "expected a real dtype for the largest or the smallest element");
  const FoldTarget target{order.refused, order.array, order.low, order.unit,
                          order.free,    dtype,       plan.op};
  const auto fold = [&]<class V>() {
    return fold_runs<V>(
        plan.walk.place,
        GivenValues<V>{order.keys, order.count, order.values, order.positions, dtype}, target);
  };
  if (compares && dtype == DType::kUInt64) return fold.template operator()<Number<uint64_t>>();
  return visit_arithmetic(dtype, fold);
}

Status write(const IndexPlan& plan) {
  const kernel::Place place = plan.walk.place;
  const Reach reach = reach_of(plan);
  Order order{};
  order.low = reach.low;
  order.unit = reach.unit;
  order.values = static_cast<const char*>(plan.walk.data[0]);
  order.array = static_cast<char*>(plan.walk.data[1]);
  order.free = no_dims<2>();
  for (int32_t d = 0; d < plan.walk.ndim; ++d) {
    if (is_free(plan, d)) add_dim(order.free, plan.walk, d, 2);
  }
  order.count = plan.walk.numel / order.free.numel;
  const Workspace space(place, order.count * Pairs::kBytes);
  const Workspace flag(place, sizeof(int32_t));
  if (space.missing() || flag.missing()) return no_workspace();
  auto* refused = flag.data<int32_t>();
  Status status = clear(place, refused, sizeof(int32_t));
  if (status != kernel::kOk) return status;
  Pairs pairs = Pairs::in(space.data<void>(), order.count);
  status = with_lookup(plan, false, [&]<int K, int kDims>(const Lookup<K, kDims>& lookup) {
    return launch(place, order.count, &lookup_keys_kernel<K, kDims>, lookup, reach.low, reach.unit,
                  pairs.keys, pairs.positions, refused);
  });
  if (status != kernel::kOk) return status;
  status = sort_pairs(place, pairs, order.count, reach.bits());
  if (status != kernel::kOk) return status;
  order.refused = refused;
  order.keys = pairs.keys;
  order.positions = pairs.positions;
  return run_order(plan, order);
}

}  // namespace

Status index(const IndexPlan& plan) {
  if (plan.walk.numel == 0) return only_check(plan);
  return plan.op == IndexOp::kGet ? get(plan) : write(plan);
}

}  // namespace tsr::cuda
