// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bags of rows of a table: sums, means and maxima of the rows that each bag names.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

enum class BagPass : int32_t { kSums, kTable, kFactors, kMaxima, kCount };

// sums[b] = Σ factors[i] table[index[i]] over the indices i of bag b, for `mean` divided by how
// many they are. The sum is linear in the table, in the factors and in the gradient of the sums;
// the pass says which of the three is written, from the other two. kMaxima writes the largest
// elements instead (NaN wins), and to `chosen` the row that each is from, the first of equal ones;
// of an empty bag 0 and -1. Everything is row-major, and every sum takes its terms in the order of
// the indices. Rows named `skipped` are left out. An index outside the table fails with kIndex,
// before anything is written; so does a first start other than 0. Starts that fall fail with
// kValue.
struct BagPlan {
  BagPass pass;
  int32_t mean;
  int64_t bags, indices;
  int64_t rows, features;
  int64_t skipped;  // -1: no row is
  Place place;
  DType dtype;            // of the table, which is written in float32 or float64 only
  void* table;            // (rows, features)
  const int64_t* index;   // (indices)
  const int64_t* starts;  // (bags): the first index of each bag; null: indices / bags in each
  void* factors;          // (indices), opmath; null: ones
  void* sums;             // (bags, features), opmath
  int64_t* chosen;        // (bags, features)
};
inline const char* name_of(const BagPlan& plan) noexcept {
  return name_in({"bag_sums", "bag_table", "bag_factors", "bag_maxima"}, plan.pass);
}

}  // namespace tsr::kernel
