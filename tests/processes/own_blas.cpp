// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products and factorizations in a program that has a BLAS of its own, or, compiled without
// HOST_HAS_BLAS, in one to which a library was preloaded that has one: the library's products are
// not touched by it.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "tessera/tessera.h"

#ifdef HOST_HAS_BLAS
extern "C" {
#include "hostile_blas.h"
}
#endif

namespace {

void need(tsr_status status, const char* what) {
  if (status == TSR_OK) return;
  std::printf("%s: status %d\n", what, status);
  _exit(3);
}

// Not 0 if the sum of a product of ones, m x k and k x n, is wrong.
int wrong(tsr_dtype dtype, int64_t m, int64_t k, int64_t n) {
  const int64_t left[] = {m, k}, right[] = {k, n};
  tsr_tensor a = nullptr, b = nullptr, c = nullptr, real = nullptr, sum = nullptr;
  tsr_number got;
  need(tsr_ones(left, 2, dtype, -1, -1, &a), "tsr_ones");
  need(tsr_ones(right, 2, dtype, -1, -1, &b), "tsr_ones");
  need(tsr_matmul(a, b, &c), "tsr_matmul");
  need(tsr_abs(c, &real), "tsr_abs");
  need(tsr_sum(real, nullptr, -1, 0, -1, &sum), "tsr_sum");
  need(tsr_tensor_item(sum, &got), "tsr_tensor_item");
  for (const tsr_tensor t : {a, b, c, real, sum}) tsr_tensor_release(t);
  const auto want = static_cast<double>(m * n * k);
  if (got.real == want) return 0;
  std::printf("dtype %d, %lld x %lld x %lld: sum %g, expected %g\n", dtype,
              static_cast<long long>(m), static_cast<long long>(k), static_cast<long long>(n),
              got.real, want);
  return 1;
}

// The singular values and the inverse of twice the identity.
int wrong_factors(int64_t n) {
  tsr_number two = {TSR_NUMBER_REAL, 0, 0, 2.0, 0};
  tsr_tensor one = nullptr, a = nullptr, values = nullptr, inverse = nullptr, sums[2] = {};
  need(tsr_eye(n, tsr_none(), 0, TSR_FLOAT64, -1, -1, &one), "tsr_eye");
  need(tsr_multiply_scalar(one, &two, &a), "tsr_multiply_scalar");
  need(tsr_svdvals(a, &values), "tsr_svdvals");
  need(tsr_inv(a, &inverse), "tsr_inv");
  need(tsr_sum(values, nullptr, -1, 0, -1, &sums[0]), "tsr_sum");
  need(tsr_sum(inverse, nullptr, -1, 0, -1, &sums[1]), "tsr_sum");
  int failures = 0;
  for (int i = 0; i < 2; ++i) {
    tsr_number got;
    need(tsr_tensor_item(sums[i], &got), "tsr_tensor_item");
    const double want = static_cast<double>(n) * (i == 0 ? 2 : 0.5);
    if (std::fabs(got.real - want) <= 1e-9 * want) continue;
    std::printf("%s of %lld: sum %g, expected %g\n", i == 0 ? "svdvals" : "inv",
                static_cast<long long>(n), got.real, want);
    ++failures;
  }
  for (const tsr_tensor t : {one, a, values, inverse, sums[0], sums[1]}) tsr_tensor_release(t);
  return failures;
}

}  // namespace

int main() {
  int failures = 0;
  for (const tsr_dtype dtype : {TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_COMPLEX128}) {
    failures += wrong(dtype, 200, 200, 200);
    failures += wrong(dtype, 300, 300, 1);
    failures += wrong(dtype, 64, 8, 16);
  }
  failures += wrong_factors(4) + wrong_factors(150);
  std::printf("%d wrong products\n", failures);
  return failures == 0 ? 0 : 1;
}
