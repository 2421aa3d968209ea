// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/einsum.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/linalg/contract.h"
#include "ops/linalg/einsum_equation.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using LabelSizes = std::array<int64_t, kLabels>;

// A tensor whose axes have different labels.
struct Operand {
  Tensor tensor;
  Labels labels;

  [[nodiscard]] bool has(int label) const {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }
  [[nodiscard]] int64_t axis_of(int label) const {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
  }
  void drop(size_t axis) { labels.erase(axis); }
};

// ---- One operand: diagonals, axes of size 1, sums ----

// A label twice becomes the diagonal of its two axes, which is the last axis then.
Operand with_diagonals(Operand operand) {
  for (size_t i = 0; i < operand.labels.size();) {
    const int label = operand.labels[i];
    size_t j = i + 1;
    while (j < operand.labels.size() && operand.labels[j] != label) ++j;
    if (j == operand.labels.size()) {
      ++i;
      continue;
    }
    const auto first = static_cast<int64_t>(i);
    const auto second = static_cast<int64_t>(j);
    TSR_CHECK(operand.tensor.size(first) == operand.tensor.size(second), Code::kShape, "operands",
              "expected equal sizes along the axes of one letter, got shape ",
              operand.tensor.sizes());
    operand.tensor = diagonal(operand.tensor, 0, first, second);
    operand.drop(j);
    operand.drop(i);
    operand.labels.push_back(label);
  }
  return operand;
}

LabelSizes sizes_of(const std::vector<Operand>& operands) {
  LabelSizes sizes;
  sizes.fill(1);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    for (size_t d = 0; d < operand.labels.size(); ++d) {
      int64_t& known = sizes[static_cast<size_t>(operand.labels[d])];
      const int64_t size = operand.tensor.sizes()[d];
      TSR_CHECK(known == 1 || size == 1 || size == known, Code::kShape, "operands", "expected ",
                known, " along axis ", d, " of operand ", i,
                " (without repeated letters), got shape ", operand.tensor.sizes());
      if (known == 1) known = size;
    }
  }
  return sizes;
}

// An axis of size 1 whose label is longer elsewhere goes: the product broadcasts over it.
void drop_stretched(Operand& operand, const LabelSizes& sizes) {
  Dims axes;
  Labels left;
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    const int label = operand.labels[d];
    if (operand.tensor.sizes()[d] == 1 && sizes[static_cast<size_t>(label)] != 1)
      axes.push_back(static_cast<int64_t>(d));
    else
      left.push_back(label);
  }
  if (axes.empty()) return;
  operand.tensor = squeeze(operand.tensor, axes);
  operand.labels = left;
}

// Sums over the labels that `keep` does not want.
template <class Keep>
void sum_out(Operand& operand, const Keep& keep) {
  Dims axes;
  Labels left;
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    if (keep(operand.labels[d]))
      left.push_back(operand.labels[d]);
    else
      axes.push_back(static_cast<int64_t>(d));
  }
  if (axes.empty()) return;
  operand.tensor = sum(operand.tensor, DimsView(axes), false, operand.tensor.dtype());
  operand.labels = left;
}

// ---- Two operands: one batched product ----

// How the labels of a pair take part in its product.
struct Roles {
  Labels batch, rows, columns, summed;

  template <class Needed>
  Roles(const Operand& a, const Operand& b, const Needed& needed) {
    for (const int label : a.labels) {
      if (!b.has(label))
        rows.push_back(label);
      else if (needed(label))
        batch.push_back(label);
      else
        summed.push_back(label);
    }
    for (const int label : b.labels) {
      if (!a.has(label)) columns.push_back(label);
    }
  }
};

Labels joined(const Labels& a, const Labels& b, const Labels& c) {
  Labels all = a;
  for (const int label : b) all.push_back(label);
  for (const int label : c) all.push_back(label);
  return all;
}

int64_t count(const Labels& labels, const LabelSizes& sizes) {
  Dims shape;
  for (const int label : labels) shape.push_back(sizes[static_cast<size_t>(label)]);
  return checked_numel(shape, 1);
}

Tensor in_order(const Operand& operand, const Labels& order) {
  Dims axes;
  for (const int label : order) axes.push_back(operand.axis_of(label));
  return permute_dims(operand.tensor, axes);
}

// The operand with axes for all of `order`, of size 1 where it has none.
Tensor spread(const Operand& operand, const Labels& order) {
  Labels own;
  Dims shape;
  for (const int label : order) {
    const bool has = operand.has(label);
    if (has) own.push_back(label);
    shape.push_back(has ? operand.tensor.size(operand.axis_of(label)) : 1);
  }
  return reshape(in_order(operand, own), shape);
}

Operand multiply_pair(const Operand& a, const Operand& b, const Roles& roles,
                      const LabelSizes& sizes) {
  Labels order = joined(roles.batch, roles.rows, roles.columns);
  if (roles.summed.empty()) return {multiply(spread(a, order), spread(b, order)), order};
  const int64_t batch = count(roles.batch, sizes);
  const int64_t inner = count(roles.summed, sizes);
  const Tensor left = reshape(in_order(a, joined(roles.batch, roles.rows, roles.summed)),
                              Dims{batch, count(roles.rows, sizes), inner});
  const Tensor right = reshape(in_order(b, joined(roles.batch, roles.summed, roles.columns)),
                               Dims{batch, inner, count(roles.columns, sizes)});
  Dims shape;
  for (const int label : order) shape.push_back(sizes[static_cast<size_t>(label)]);
  // A product of matrices costs more than the numbers of a short row and a short column.
  constexpr int64_t kShort = 256;
  if (roles.rows.empty() && roles.columns.empty() && batch > 1 && inner <= kShort &&
      !is_complex(left.dtype())) {
    const Dims vectors{batch, inner};
    return {reshape(vecdot(reshape(left, vectors), reshape(right, vectors)), shape), order};
  }
  return {reshape(matmul(left, right), shape), order};
}

// ---- All operands ----

class Contraction {
 public:
  Contraction(std::vector<Operand> operands, Labels result)
      : operands_(std::move(operands)), result_(std::move(result)), sizes_(sizes_of(operands_)) {
    for (Operand& operand : operands_) drop_stretched(operand, sizes_);
    for (size_t i = 0; i < operands_.size(); ++i) {
      sum_out(operands_[i], [&](int label) { return needed_beside(label, i, i); });
    }
  }

  [[nodiscard]] size_t left() const { return operands_.size(); }

  void contract(size_t i, size_t j) {
    const Roles roles(operands_[i], operands_[j],
                      [&](int label) { return needed_beside(label, i, j); });
    Operand product = multiply_pair(operands_[i], operands_[j], roles, sizes_);
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
    operands_.push_back(std::move(product));
    const size_t last = operands_.size() - 1;
    sum_out(operands_[last], [&](int label) { return needed_beside(label, last, last); });
  }

  // The pair whose product is smallest against what it replaces; of equal ones the cheapest.
  [[nodiscard]] std::pair<size_t, size_t> best_pair() const {
    std::pair<size_t, size_t> best{0, 1};
    std::pair<double, double> lowest{std::numeric_limits<double>::infinity(), 0};
    for (size_t i = 0; i < operands_.size(); ++i) {
      for (size_t j = i + 1; j < operands_.size(); ++j) {
        const std::pair<double, double> cost = cost_of(i, j);
        if (cost >= lowest) continue;
        lowest = cost;
        best = {i, j};
      }
    }
    return best;
  }

  Tensor finish() {
    Operand& last = operands_.front();
    sum_out(last, [&](int label) { return wanted(label); });
    return in_order(last, result_);
  }

 private:
  [[nodiscard]] bool wanted(int label) const {
    return std::find(result_.begin(), result_.end(), label) != result_.end();
  }
  // Whether the result or an operand other than these two has the label.
  [[nodiscard]] bool needed_beside(int label, size_t i, size_t j) const {
    if (wanted(label)) return true;
    for (size_t other = 0; other < operands_.size(); ++other) {
      if (other != i && other != j && operands_[other].has(label)) return true;
    }
    return false;
  }
  [[nodiscard]] std::pair<double, double> cost_of(size_t i, size_t j) const {
    const Operand& a = operands_[i];
    const Operand& b = operands_[j];
    const Roles roles(a, b, [&](int label) { return needed_beside(label, i, j); });
    const auto size = [&](const Labels& labels) {
      double all = 1;
      for (const int label : labels) {
        all *= static_cast<double>(sizes_[static_cast<size_t>(label)]);
      }
      return all;
    };
    const double product = size(roles.batch) * size(roles.rows) * size(roles.columns);
    return {product - size(a.labels) - size(b.labels), product * size(roles.summed)};
  }

  std::vector<Operand> operands_;
  Labels result_;
  LabelSizes sizes_;
};

// The next pair of a path that the caller gave.
std::pair<size_t, size_t> pair_of(DimsView path, size_t step, size_t left) {
  TSR_CHECK(2 * step + 1 < path.size(), Code::kValue, "path", "expected ", left - 1,
            " pairs more, got ", path.size(), " numbers in all");
  const int64_t i = path[2 * step];
  const int64_t j = path[2 * step + 1];
  const auto count = static_cast<int64_t>(left);
  TSR_CHECK(i >= 0 && j >= 0 && i < count && j < count && i != j, Code::kValue, "path",
            "expected two positions among ", count, " operands, got ", i, " and ", j);
  return {static_cast<size_t>(i), static_cast<size_t>(j)};
}

std::vector<Operand> label_operands(const Equation& equation, std::span<const Tensor> operands) {
  std::vector<Operand> labelled;
  for (size_t i = 0; i < operands.size(); ++i) {
    check_like(operands[i], "operands", operands[0]);
    labelled.push_back(with_diagonals({operands[i], equation.operands[i]}));
  }
  return labelled;
}

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              std::optional<DimsView> path, Out out) {
  TSR_CHECK(!operands.empty(), Code::kValue, "operands", "expected at least one tensor, got none");
  std::vector<int64_t> ranks;
  bool grad = false;
  for (const Tensor& operand : operands) {
    ranks.push_back(operand.ndim());
    grad = grad || needs_grad(operand);
  }
  const Equation read = read_equation(equation, ranks);
  Contraction contraction(label_operands(read, operands), read.result);
  for (size_t step = 0; contraction.left() > 1; ++step) {
    const auto [i, j] =
        path.has_value() ? pair_of(*path, step, contraction.left()) : contraction.best_pair();
    contraction.contract(i, j);
  }
  const Tensor result = contraction.finish();
  // What needed no product may still be a view of an operand.
  return deliver(operands.size() == 1 ? clone(result) : result, out, grad);
}

}  // namespace tsr::ops
