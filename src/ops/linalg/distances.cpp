// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/distances.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/create/indices.h"
#include "ops/index/index.h"
#include "ops/linalg/matmul.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

constexpr int64_t kManyRows = 25;
constexpr int64_t kBlock = int64_t{1} << 18;  // differences at a time, so that they stay cached

void check_order(double p) {
  TSR_CHECK(p >= 0, Code::kValue, "p", "expected a number of at least 0, got ", p);
}

void check_vectors(const Tensor& x, const char* arg) {
  TSR_CHECK(is_floating(x.dtype()), Code::kDType, arg, "expected a floating dtype, got ",
            x.dtype());
  TSR_CHECK(x.ndim() >= 2, Code::kShape, arg, "expected at least 2 dimensions, got shape ",
            x.sizes());
}

bool wants_product(std::string_view mode, double p, int64_t rows) {
  if (mode == "use_mm_for_euclid_dist") return p == 2;
  if (mode == "donot_use_mm_for_euclid_dist") return false;
  TSR_CHECK(mode == "use_mm_for_euclid_dist_if_necessary", Code::kValue, "compute_mode",
            "expected use_mm_for_euclid_dist_if_necessary, use_mm_for_euclid_dist or ",
            "donot_use_mm_for_euclid_dist, got \"", mode, "\"");
  return p == 2 && rows > kManyRows;
}

// ---- distances; the leading axes agree ----

// The norms of differences, which are formed a block of rows at a time.
Tensor by_differences(const Tensor& x1, const Tensor& x2, double p) {
  const Dims last{-1};
  const int64_t rows = x1.size(x1.ndim() - 2);
  const int64_t others = x2.numel();
  const Tensor columns = expand_dims(x2, -3);
  const auto block = [&](const Tensor& part) {
    return vector_norm(subtract(expand_dims(part, -2), columns), DimsView(last), false, p);
  };
  const int64_t step = std::max<int64_t>(1, kBlock / std::max<int64_t>(1, others));
  if (rows <= step) return block(x1);
  std::vector<Tensor> parts;
  for (const Tensor& part : split(x1, step, -2)) parts.push_back(block(part));
  return ops::concat(parts, -2);
}

// sqrt(|a|² - 2 a b + |b|²) as one matrix product: (-2 a, |a|², 1) (b, 1, |b|²).
Tensor by_product(const Tensor& x1, const Tensor& x2) {
  const Dims last{-1};
  const auto squares = [&](const Tensor& x) { return sum(multiply(x, x), DimsView(last), true); };
  const Tensor square1 = squares(x1);
  const Tensor square2 = squares(x2);
  const Tensor left[] = {multiply(x1, -2), square1, ones_like(square1)};
  const Tensor right[] = {x2, ones_like(square2), square2};
  const Tensor squared = matmul(ops::concat(left, -1), matrix_transpose(ops::concat(right, -1)));
  maximum(squared, 0, Out::inplace(squared));
  return sqrt(squared, Out::inplace(squared));
}

// Σ_j q_ij (a_i - b_j), where q are the gradients over the distances.
Tensor pull(const Tensor& q, const Tensor& a, const Tensor& b) {
  const Dims last{-1};
  return subtract(multiply(a, sum(q, DimsView(last), true)), matmul(q, b));
}

// p = 2, whose derivative is made of matrix products and needs no differences.
Tensor euclidean(const Tensor& x1, const Tensor& x2, bool product) {
  Tensor distances;
  {
    const NoGrad guard;
    distances = product ? by_product(x1, x2) : by_differences(x1, x2, 2);
  }
  if (needs_grad(x1, x2)) {
    record(distances, "CdistBackward", {x1, x2},
           {save_input(x1), save_input(x2), save_output(distances)}, [](Backward& ctx) {
             const Tensor r = ctx.saved(2);
             const Tensor same = equal(r, 0);
             const Tensor q = where(same, 0, divide(ctx.grad(), where(same, 1, r)));
             if (ctx.needs(0)) ctx.set(0, pull(q, ctx.saved(0), ctx.saved(1)));
             if (ctx.needs(1)) ctx.set(1, pull(matrix_transpose(q), ctx.saved(1), ctx.saved(0)));
           });
  }
  return distances;
}

Tensor with_leading(const Tensor& x, DimsView leading) {
  Dims sizes(leading.begin(), leading.end());
  sizes.push_back(x.size(x.ndim() - 2));
  sizes.push_back(x.size(x.ndim() - 1));
  return expand_to(x, sizes);
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode) {
  check_vectors(x1, "x1");
  check_vectors(x2, "x2");
  check_same_device(x1, x2, "x2");
  check_order(p);
  const int64_t rows1 = x1.size(x1.ndim() - 2);
  const int64_t rows2 = x2.size(x2.ndim() - 2);
  const int64_t components = x1.size(x1.ndim() - 1);
  TSR_CHECK(x2.size(x2.ndim() - 1) == components, Code::kShape, "x2", "expected vectors of ",
            components, " components, as x1 has, got shape ", x2.sizes());
  const bool product = wants_product(compute_mode, p, std::max(rows1, rows2));
  const DType dtype = promote_types(x1.dtype(), x2.dtype());
  const Dims leading = broadcast_shapes(DimsView(x1.sizes()).first(x1.sizes().size() - 2),
                                        DimsView(x2.sizes()).first(x2.sizes().size() - 2), "x2");
  const DType opmath = kernel::opmath(dtype);
  const Tensor a = with_leading(astype(x1, opmath), leading);
  const Tensor b = with_leading(astype(x2, opmath), leading);
  // No components: norms need at least one.
  if (components == 0) {
    Dims sizes = leading;
    sizes.push_back(rows1);
    sizes.push_back(rows2);
    return zeros_like_shape(sizes, dtype, x1.device());
  }
  return astype(p == 2 ? euclidean(a, b, product) : by_differences(a, b, p), dtype);
}

Tensor pdist(const Tensor& input, double p) {
  check_vectors(input, "input");
  check_order(p);
  TSR_CHECK(input.ndim() == 2, Code::kShape, "input", "expected a matrix, got shape ",
            input.sizes());
  const int64_t rows = input.size(0);
  const Tensor pairs = triu_indices(rows, rows, 1, DType::kInt64, input.device());
  if (input.size(1) == 0)
    return zeros_like_shape(Dims{pairs.size(1)}, input.dtype(), input.device());
  const Tensor x = in_opmath(input);
  const Tensor first = index_select(x, 0, select(pairs, 0, 0));
  const Tensor second = index_select(x, 0, select(pairs, 0, 1));
  const Dims last{-1};
  return astype(vector_norm(subtract(first, second), DimsView(last), false, p), input.dtype());
}

}  // namespace tsr::ops
