// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/generated/entries.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "backend/cpu/host.h"
#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/index/index_sums.h"
#include "backend/cpu/index/index_walk.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ElementwisePlan;
using kernel::IndexOp;
using kernel::IndexPlan;
using kernel::kMaxOperands;
using kernel::kMaxRank;
using kernel::Status;

constexpr int64_t kLine = 64;

// ---- Checking the indices ----

// The elements of one index array, each once: dims of stride 0 are left out, and those that it
// steps through as through one are one.
struct IndexArray {
  const std::byte* data;
  int32_t ndim = 0;
  int64_t numel = 1;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  IndexArray(const ElementwisePlan& walk, int slot)
      : data(static_cast<const std::byte*>(walk.data[slot])) {
    for (int32_t d = 0; d < walk.ndim; ++d) {
      const int64_t size = walk.sizes[d];
      const int64_t stride = walk.strides[slot][d];
      if (stride == 0) continue;
      numel *= size;
      if (ndim > 0 && strides[ndim - 1] == stride * size) {
        sizes[ndim - 1] *= size;
        strides[ndim - 1] = stride;
        continue;
      }
      sizes[ndim] = size;
      strides[ndim++] = stride;
    }
    if (data == nullptr) numel = 0;  // the index itself is empty, not only the result
    if (ndim != 0) return;
    ndim = 1;
    sizes[0] = 1;
    strides[0] = 0;
  }

  // Calls row(first, stride, count) until it returns false.
  template <class Row>
  void each_row(int64_t begin, int64_t end, Row row) const {
    Cursor cursor{ndim, sizes, {}};
    cursor.seek(begin);
    while (begin < end) {
      const int64_t count = std::min(end - begin, cursor.left_in_row());
      if (!row(data + cursor.offset(strides), strides[ndim - 1], count)) return;
      cursor.advance_in_row(count);
      begin += count;
    }
  }
};

// Whether an index lies outside [-below, size).
bool any_outside(const IndexArray& array, int64_t below, int64_t size) {
  std::atomic<bool> found(false);
  const auto low = static_cast<uint64_t>(below);
  const auto extent = static_cast<uint64_t>(size);
  parallel_for(array.numel, kGrain, [&](int64_t begin, int64_t end) {
    uint64_t signs = 0;
    array.each_row(begin, end, [&](const std::byte* first, int64_t stride, int64_t count) {
      if (stride == kIndexSize) {
        signs |= rows_of<IndexRows>().outside_signs(count, first, low, extent);
      } else {
        for (int64_t i = 0; i < count; ++i)
          signs |= outside_sign(load<uint64_t>(first + i * stride), low, extent);
      }
      return true;
    });
    if (signs >> 63 != 0) found.store(true, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

// The first index that is out of range, in the order of the array.
int64_t first_outside(const IndexArray& array, int64_t below, int64_t size) {
  int64_t found = 0;
  array.each_row(0, array.numel, [&](const std::byte* first, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      found = load<int64_t>(first + i * stride);
      if (found < -below || found >= size) return false;
    }
    return true;
  });
  return found;
}

Status outside(const IndexPlan& plan, int32_t j, const IndexArray& array) {
  const int64_t size = plan.indexed_sizes[j];
  const int64_t below = reach_below(plan, j);
  const std::string text =
      concat("expected indices in [", -below, ", ", size - 1, "] for axis ", plan.indexed_axes[j],
             " of size ", size, ", got ", first_outside(array, below, size));
  return failure(Code::kIndex, text.c_str());
}

Status check_indices(const IndexPlan& plan) {
  for (int32_t j = 0; j < plan.indices; ++j) {
    const IndexArray array(plan.walk, j + 2);
    if (any_outside(array, reach_below(plan, j), plan.indexed_sizes[j]))
      return outside(plan, j, array);
  }
  return kernel::kOk;
}

// ---- Folds ----

template <class T>
inline constexpr bool kIsShort = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));  // wraps
  } else {
    return a + b;
  }
}

template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));  // wraps
  } else if constexpr (kIsShort<T>) {
    return T(static_cast<float>(a) * static_cast<float>(b));
  } else if constexpr (kIsComplex<T>) {  // the operator of std::complex asks for infinities
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

// 16-bit floats that are no NaN are in the order of these integers; both zeros are 0.
template <class T>
int16_t order_of(T number) {
  const auto bits = static_cast<int16_t>(number.bits);
  const auto sign = static_cast<int16_t>(bits >> 15);
  return static_cast<int16_t>(((bits & 0x7fff) ^ sign) - sign);
}
template <class T>
bool is_nan(T number) {
  constexpr int kInfinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  return (number.bits & 0x7fff) > kInfinity;
}

// NaN wins. Which of two numbers is larger no processor foresees, so the choice is no branch; NaN
// is rare.
template <class T>
T extreme_of(T a, T b, bool largest) {
  if constexpr (kIsShort<T>) {
    const int16_t x = order_of(a);
    const int16_t y = order_of(b);
    const bool beyond = largest ? y > x : y < x;
    T result;
    result.bits = ((beyond & !is_nan(a)) | is_nan(b)) ? b.bits : a.bits;
    return result;
  } else {
    const T chosen = largest ? (b > a ? b : a) : (b < a ? b : a);
    return b != b ? b : chosen;
  }
}

template <class T, IndexOp kOp>
T folded(T a, T b) {
  if constexpr (kOp == IndexOp::kAccumulate) return sum_of(a, b);
  if constexpr (kOp == IndexOp::kMultiply) return product_of(a, b);
  if constexpr (kOp == IndexOp::kMaximum || kOp == IndexOp::kMinimum)
    return extreme_of(a, b, kOp == IndexOp::kMaximum);
}

// Complex numbers move part by part: a load of both parts would wait for the two stores of them.
template <class T>
T load_number(const std::byte* from) {
  if constexpr (kIsComplex<T>) {
    using Real = typename T::value_type;
    return {load<Real>(from), load<Real>(from + sizeof(Real))};
  } else {
    return load<T>(from);
  }
}
template <class T>
void store_number(T number, std::byte* to) {
  if constexpr (kIsComplex<T>) {
    store_number(number.real(), to);
    store_number(number.imag(), to + sizeof(T) / 2);
  } else {
    std::memcpy(to, &number, sizeof(T));
  }
}

template <class T, IndexOp kOp>
struct Fold {
  static constexpr bool kWrites = true;
  static constexpr auto kSize = static_cast<int64_t>(sizeof(T));  // of a value
  static constexpr auto kElement = kSize;                         // of the array
  static void one(std::byte* value, std::byte* element) {
    store_number(folded<T, kOp>(load_number<T>(element), load_number<T>(value)), element);
  }
  static void row(int64_t count, std::byte* values, int64_t step, std::byte* elements,
                  int64_t stride) {
    if constexpr (kOp == IndexOp::kAccumulate && !std::is_integral_v<T> && !kIsShort<T>) {
      if (step == kSize && stride == kSize) {
        constexpr int64_t kParts = kIsComplex<T> ? 2 : 1;
        const IndexRows& rows = rows_of<IndexRows>();
        const auto add = sizeof(T) / kParts == sizeof(float) ? rows.add_float : rows.add_double;
        return add(kParts * count, elements, values);
      }
    }
    if (step == kSize && stride == kSize) {  // constant steps, which the compiler makes vectors of
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) one(values + i * kSize, elements + i * kSize);
      return;
    }
    for (int64_t i = 0; i < count; ++i) one(values + i * step, elements + i * stride);
  }
  template <class F>
  static void with_row(int64_t count, F&& function) {
    constexpr int64_t kFew = 64 / kSize;  // for which a call would cost more than the elements
    if (count <= kFew) {
      function([=](std::byte* values, std::byte* elements) {
        for (int64_t i = 0; i < count; ++i) one(values + i * kSize, elements + i * kSize);
      });
    } else {
      function([=](std::byte* values, std::byte* elements) {
        row(count, values, kSize, elements, kSize);
      });
    }
  }
};

// ---- Dividing the work ----

// True if no two elements share an index. Each index is then checked when it is used, so that the
// indices are read only once.
bool checks_while_reading(const IndexPlan& plan) {
  return plan.op == IndexOp::kGet && plan.indices == 1 && plan.walk.numel > 0 &&
         plan.walk.strides[2][plan.walk.ndim - 1] != 0 &&
         IndexArray(plan.walk, 2).numel == plan.walk.numel;
}

template <class Move>
Status run_reading(const IndexPlan& plan) {
  Part whole(plan);
  if (checks_while_reading(plan)) whole.range = Range::kChecked;
  std::atomic<bool> ok(true);
  parallel_for(plan.walk.numel, kGrain, [&](int64_t begin, int64_t end) {
    if (!walk_part<Move>(whole, begin, end)) ok.store(false, std::memory_order_relaxed);
  });
  return ok.load(std::memory_order_relaxed) ? kernel::kOk
                                            : outside(plan, 0, IndexArray(plan.walk, 2));
}

// Every thread walks its part in row-major order, so repeated positions meet in one fixed order.
template <class Move>
void run_writing(const IndexPlan& plan) {
  const ElementwisePlan& walk = plan.walk;
  const Part whole(plan);
  if (walk.numel < 2 * kGrain) {
    walk_part<Move>(whole, 0, whole.numel);
    return;
  }
  const int32_t dim = independent_dim(walk);
  if (dim >= 0) {
    const int64_t stride = std::max<int64_t>(1, std::abs(walk.strides[1][dim]));
    const int64_t fair = kGrain * walk.sizes[dim] / walk.numel;
    parallel_for(walk.sizes[dim], std::max({kLine / stride, fair, int64_t{1}}),
                 [&](int64_t begin, int64_t end) {
                   const Part part = whole.along(dim, begin, end);
                   walk_part<Move>(part, 0, part.numel);
                 });
    return;
  }
  // All threads read all indices; each writes its own range of positions.
  const int64_t size = plan.indices > 0 ? plan.indexed_sizes[0] : 1;
  parallel_for(size, std::max<int64_t>(1, size / num_threads()), [&](int64_t begin, int64_t end) {
    Part part = whole;
    part.range = Range::kWindow;
    part.low = begin;
    part.high = end;
    walk_part<Move>(part, 0, part.numel);
  });
}

template <class T>
Status move_elements(const IndexPlan& plan) {
  if (plan.op == IndexOp::kGet) return run_reading<Get<T>>(plan);
  run_writing<Put<T>>(plan);
  return kernel::kOk;
}

template <class T, IndexOp kOp>
Status fold_elements(const IndexPlan& plan) {
  run_writing<Fold<T, kOp>>(plan);
  return kernel::kOk;
}

template <class T>
Status fold_elements(const IndexPlan& plan) {
  switch (plan.op) {
    case IndexOp::kAccumulate:
      if constexpr (kIsShort<T>) {
        return accumulate_short(plan);
      } else {
        return fold_elements<T, IndexOp::kAccumulate>(plan);
      }
    case IndexOp::kMultiply:
      return fold_elements<T, IndexOp::kMultiply>(plan);
    default:
      break;
  }
  if constexpr (kIsComplex<T>) {
    return failure(Code::kDType, "expected a real dtype for the largest or the smallest element");
  } else {
    return plan.op == IndexOp::kMaximum ? fold_elements<T, IndexOp::kMaximum>(plan)
                                        : fold_elements<T, IndexOp::kMinimum>(plan);
  }
}

}  // namespace

Status index(const IndexPlan& plan) {
  const Status status = checks_while_reading(plan) ? kernel::kOk : check_indices(plan);
  if (status != kernel::kOk || plan.walk.numel == 0) return status;
  if (plan.op != IndexOp::kGet && plan.op != IndexOp::kPut) {
    return visit_dtype(plan.walk.dtypes[1], [&]<class Tag>(Tag) -> Status {
      return fold_elements<typename Tag::type>(plan);
    });
  }
  switch (itemsize(plan.walk.dtypes[1])) {
    case 1:
      return move_elements<int8_t>(plan);
    case 2:
      return move_elements<int16_t>(plan);
    case 4:
      return move_elements<int32_t>(plan);
    case 8:
      return move_elements<int64_t>(plan);
    default:
      return move_elements<Pair>(plan);
  }
}

}  // namespace tsr::cpu
