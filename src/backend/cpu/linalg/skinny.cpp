// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products with few rows: their cost is reading or writing the one large matrix.
#include <algorithm>
#include <complex>
#include <numeric>
#include <utility>

#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/linalg/product_rows.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::GemmPlan;

constexpr int64_t kFew = 16;
// Terms of an element of a large result with which the loops here are faster than BLAS. They take
// eight in a pass.
template <class T>
constexpr int64_t kFewProducts = sizeof(T) == sizeof(float) ? 8 : 11;
// From this number of elements on, reading the matrix dominates; smaller ones are cheap to copy.
constexpr int64_t kLarge = int64_t{1} << 20;
constexpr int64_t kStreamBytes = int64_t{8} << 20;
constexpr int64_t kGrain = 65536;      // elements of the large matrix that pay for a thread
constexpr int64_t kColumnGrain = 512;  // of a result that threads share by columns

// The product A B, or its transpose: the product of the transposes in the other order.
struct Product {
  int64_t m, n, k;
  const void* a;
  const void* b;
  void* c;
  int64_t a_strides[2], b_strides[2], c_strides[2];

  Product(const GemmPlan& plan, const void* left, const void* right, void* target)
      : m(plan.m), n(plan.n), k(plan.k), a(left), b(right), c(target) {
    std::copy_n(plan.a_strides, 2, a_strides);
    std::copy_n(plan.b_strides, 2, b_strides);
    std::copy_n(plan.c_strides, 2, c_strides);
  }
  void transpose() {
    std::swap(m, n);
    std::swap(a, b);
    std::swap(a_strides[0], b_strides[1]);
    std::swap(a_strides[1], b_strides[0]);
    std::swap(c_strides[0], c_strides[1]);
  }
};

template <class T>
SkinnyProduct<T> describe(const Product& p, const GemmPlan& plan) {
  SkinnyProduct<T> result{};
  result.matrix = static_cast<const T*>(p.b);
  result.rows = static_cast<const T*>(p.a);
  result.row_step = p.a_strides[0];
  result.inner_step = p.a_strides[1];
  result.out = static_cast<T*>(p.c);
  result.out_row_step = p.c_strides[0];
  result.few = p.m;
  result.inner = p.k;
  result.columns = p.n;
  result.alpha = parameter<T>(plan.alpha);
  result.beta = parameter<T>(plan.beta);
  return result;
}

// Few rows times a large matrix.
template <class T>
bool few_rows(const Product& p, const GemmPlan& plan) {
  if (p.m < 2 || p.m > kFew || p.k * p.n < kLarge || p.c_strides[1] != 1) return false;
  const auto& rows = rows_of<SkinnyRows<T>>();
  SkinnyProduct<T> product = describe<T>(p, plan);
  if (p.b_strides[0] == 1 && p.a_strides[1] == 1) {
    product.line_step = p.b_strides[1];
    parallel_for(p.n, std::max<int64_t>(1, kGrain / p.k),
                 [&](int64_t begin, int64_t end) { rows.dots(product, begin, end); });
    return true;
  }
  if (p.b_strides[1] != 1) return false;
  product.line_step = p.b_strides[0];
  const int64_t grain = (kGrain / p.k / kColumnGrain + 1) * kColumnGrain;
  parallel_for(p.n, grain, [&](int64_t begin, int64_t end) { rows.sums(product, begin, end); });
  return true;
}

// A large result, each element a sum of few products.
template <class T>
bool few_products(const Product& p, const GemmPlan& plan) {
  SkinnyProduct<T> product = describe<T>(p, plan);
  if (p.k > kFewProducts<T> || p.k < 1 || p.m * p.n < kLarge || p.c_strides[1] != 1 ||
      p.b_strides[1] != 1 || product.beta != T{0})
    return false;
  const auto& rows = rows_of<SkinnyRows<T>>();
  product.line_step = p.b_strides[0];
  product.streams = p.m * p.n * static_cast<int64_t>(sizeof(T)) >= kStreamBytes;
  parallel_for(p.m, std::max<int64_t>(1, kGrain / p.n),
               [&](int64_t begin, int64_t end) { rows.outer(product, begin, end); });
  return true;
}

// Whether the product is one number, made of contiguous vectors: gemm of a BLAS library is slow at
// those.
bool is_dot(const Product& p) {
  return p.m == 1 && p.n == 1 && p.a_strides[1] == 1 && p.b_strides[0] == 1;
}

// Calls dot(first, count) for the parts of vectors and adds up the results. The parts depend on the
// length alone, and not on the number of threads. False if memory is missing.
template <class Sum, class Dot>
bool sum_of_parts(int64_t count, Sum& total, const Dot& dot) {
  constexpr int64_t kPart = 65536;
  constexpr int64_t kPartsForThread = 2;
  if (count <= kPart) {
    total = dot(0, count);
    return true;
  }
  const int64_t parts = (count + kPart - 1) / kPart;
  const Workspace space(parts * static_cast<int64_t>(sizeof(Sum)));
  auto* const sums = static_cast<Sum*>(space.data());
  if (sums == nullptr) return false;
  parallel_for(parts, kPartsForThread, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      sums[part] = dot(part * kPart, std::min(kPart, count - part * kPart));
  });
  total = std::accumulate(sums, sums + parts, Sum{});
  return true;
}

template <class T>
bool one_product(const Product& p, const GemmPlan& plan) {
  if (!is_dot(p)) return false;
  const SkinnyProduct<T> whole = describe<T>(p, plan);
  double total = 0;
  const bool done = sum_of_parts(p.k, total, [&](int64_t first, int64_t count) {
    T sum;
    SkinnyProduct<T> part = whole;
    part.matrix += first;
    part.rows += first;
    part.inner = count;
    part.out = &sum;
    part.alpha = T{1};
    part.beta = T{0};
    rows_of<SkinnyRows<T>>().dots(part, 0, 1);
    return static_cast<double>(sum);
  });
  if (!done) return false;
  const T sum = whole.alpha * static_cast<T>(total);
  *whole.out = whole.beta == T{0} ? sum : sum + whole.beta * *whole.out;
  return true;
}

// The same of complex numbers, whose parts have the type T.
template <class T>
bool one_complex_product(const Product& p, const GemmPlan& plan) {
  using C = std::complex<T>;
  if (!is_dot(p)) return false;
  const SkinnyProduct<C> whole = describe<C>(p, plan);
  const double a_sign = plan.conj_a != 0 ? -1 : 1;  // of the imaginary parts
  const double b_sign = plan.conj_b != 0 ? -1 : 1;
  std::complex<double> total;
  const bool done = sum_of_parts(p.k, total, [&](int64_t first, int64_t count) {
    const PartProducts sums =
        rows_of<SkinnyRows<T>>().complex_dot(count, reinterpret_cast<const T*>(whole.rows + first),
                                             reinterpret_cast<const T*>(whole.matrix + first));
    return std::complex<double>(sums.real_real - a_sign * b_sign * sums.imag_imag,
                                b_sign * sums.real_imag + a_sign * sums.imag_real);
  });
  if (!done) return false;
  const C sum = whole.alpha * static_cast<C>(total);
  *whole.out = whole.beta == C{0} ? sum : sum + whole.beta * *whole.out;
  return true;
}

template <class T>
bool run(const GemmPlan& plan, const void* a, const void* b, void* c) {
  Product p(plan, a, b, c);
  if (one_product<T>(p, plan)) return true;
  if (few_rows<T>(p, plan) || few_products<T>(p, plan)) return true;
  p.transpose();
  return few_rows<T>(p, plan) || few_products<T>(p, plan);
}

}  // namespace

bool skinny_gemm(const GemmPlan& plan, const void* a, const void* b, void* c) {
  if (std::min({plan.m, plan.n, plan.k}) > kFew) return false;
  if (plan.dtype == DType::kFloat32) return run<float>(plan, a, b, c);
  if (plan.dtype == DType::kFloat64) return run<double>(plan, a, b, c);
  const Product p(plan, a, b, c);
  return plan.dtype == DType::kComplex64 ? one_complex_product<float>(p, plan)
                                         : one_complex_product<double>(p, plan);
}

}  // namespace tsr::cpu
