// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorts all rows at once, by row and then by key. If a key and its row number fit into 64 bits this
// is one sort, otherwise a sort by keys followed by a stable sort by rows.
#include <bit>

#include "backend/cuda/generated/entries.h"
#include "backend/cuda/index/key_at.cuh"
#include "backend/cuda/index/sort_pairs.h"
#include "backend/cuda/launch.cuh"

namespace tsr::cuda {

using kernel::SortPlan;
using kernel::Status;

namespace {

// `flip` has the bits of a key set when the largest comes first; the number of the row, where
// `with_rows`, stands above them.
__global__ void sort_keys_kernel(SortPlan plan, int64_t size, uint64_t flip, bool with_rows,
                                 int key_bits, uint64_t* keys, int64_t* positions) {
  for (int64_t i = first_index(); i < plan.rows * plan.columns; i += index_step()) {
    const uint64_t key =
        narrow_key_at(plan.dtype, static_cast<const char*>(plan.input) + i * size) ^ flip;
    keys[i] = with_rows ? static_cast<uint64_t>(divide(i, plan.columns)) << key_bits | key : key;
    positions[i] = i;
  }
}
__global__ void rows_kernel(int64_t count, int64_t columns, uint64_t* keys,
                            const int64_t* positions) {
  for (int64_t i = first_index(); i < count; i += index_step())
    keys[i] = static_cast<uint64_t>(positions[i] / columns);
}

template <class T>
__global__ void keep_kernel(SortPlan plan, const int64_t* positions) {
  for (int64_t i = first_index(); i < plan.rows * plan.keep; i += index_step()) {
    const int64_t row = i / plan.keep;
    const int64_t rank = plan.ranks == nullptr ? i % plan.keep : plan.ranks[i];
    const int64_t from = positions[row * plan.columns + rank];
    if (plan.values != nullptr)
      static_cast<T*>(plan.values)[i] = static_cast<const T*>(plan.input)[from];
    if (plan.positions != nullptr) plan.positions[i] = from - row * plan.columns;
  }
}

Status sort_rows(const SortPlan& plan, Pairs& pairs) {
  const int64_t count = plan.rows * plan.columns;
  const int key_bits = significant_bits(plan.dtype);
  const int row_bits = std::bit_width(static_cast<uint64_t>(plan.rows - 1));
  const bool at_once = key_bits + row_bits <= 64;
  const uint64_t all = ~uint64_t{0} >> (64 - key_bits);
  Status status = launch(plan.place, count, &sort_keys_kernel, plan, itemsize(plan.dtype),
                         plan.descending != 0 ? all : uint64_t{0}, at_once && row_bits > 0,
                         key_bits, pairs.keys, pairs.positions);
  if (status != kernel::kOk) return status;
  status = sort_pairs(plan.place, pairs, count, at_once ? key_bits + row_bits : key_bits);
  if (status != kernel::kOk || at_once) return status;
  status = launch(plan.place, count, &rows_kernel, count, plan.columns, pairs.keys,
                  static_cast<const int64_t*>(pairs.positions));
  return status != kernel::kOk ? status : sort_pairs(plan.place, pairs, count, row_bits);
}

}  // namespace

Status sort(const SortPlan& plan) {
  if (is_complex(plan.dtype)) return failure(Code::kDType, "sort: expected a real dtype");
  if (plan.rows == 0 || plan.keep == 0) return kernel::kOk;
  const int64_t count = plan.rows * plan.columns;
  const Workspace space(plan.place, count * Pairs::kBytes);
  if (space.missing()) return no_workspace();
  Pairs pairs = Pairs::in(space.data<void>(), count);
  const Status status = sort_rows(plan, pairs);
  if (status != kernel::kOk) return status;
  return visit_size(plan.dtype, [&]<class T>() {
    return launch(plan.place, plan.rows * plan.keep, &keep_kernel<T>, plan,
                  static_cast<const int64_t*>(pairs.positions));
  });
}

}  // namespace tsr::cuda
