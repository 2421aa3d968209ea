// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/einsum_equation.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"

namespace tsr::ops {
namespace {

// Stands in a read term where the ellipsis stood.
constexpr int kEllipsis = -1;

std::string without_spaces(std::string_view text) {
  std::string dense;
  for (const char c : text) {
    if (c != ' ') dense += c;
  }
  return dense;
}

// The labels of "ab...c".
Labels read_term(std::string_view term) {
  Labels labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c >= 'A' && c <= 'Z') {
      labels.push_back(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      labels.push_back(c - 'a' + 26);
    } else {
      TSR_CHECK(term.substr(i, 3) == "..." && !has_ellipsis, Code::kValue, "equation",
                "expected letters and at most one ellipsis for each operand and the result, got '",
                term, "'");
      labels.push_back(kEllipsis);
      has_ellipsis = true;
      i += 2;
    }
  }
  return labels;
}

std::vector<Labels> read_terms(std::string_view text) {
  std::vector<Labels> terms;
  for (;;) {
    const size_t comma = text.find(',');
    terms.push_back(read_term(text.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

// The term with `count` axes in place of the ellipsis.
Labels with_ellipsis(const Labels& term, int64_t count) {
  Labels labels;
  for (const int label : term) {
    if (label != kEllipsis) {
      labels.push_back(label);
      continue;
    }
    for (int64_t i = count; i > 0; --i) labels.push_back(kEllipsisEnd - static_cast<int>(i) + 1);
  }
  return labels;
}

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels implicit_result(const std::vector<Labels>& operands, int64_t ellipsis) {
  std::array<int, kLetters> counts{};
  for (const Labels& labels : operands) {
    for (const int label : labels) {
      if (label < kLetters) ++counts[static_cast<size_t>(label)];
    }
  }
  Labels result = with_ellipsis(Labels{kEllipsis}, ellipsis);
  for (int label = 0; label < kLetters; ++label) {
    if (counts[static_cast<size_t>(label)] == 1) result.push_back(label);
  }
  return result;
}

void check_result(const Labels& result, const std::vector<Labels>& operands,
                  std::string_view text) {
  for (size_t i = 0; i < result.size(); ++i) {
    const int label = result[i];
    const auto* behind = result.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    TSR_CHECK(std::find(behind, result.end(), label) == result.end(), Code::kValue, "equation",
              "expected each letter once in the result, got '", text, "'");
    const bool known = std::any_of(operands.begin(), operands.end(),
                                   [&](const Labels& labels) { return contains(labels, label); });
    TSR_CHECK(known, Code::kValue, "equation",
              "expected only letters of the operands in the result, got '", text, "'");
  }
}

}  // namespace

Equation read_equation(std::string_view text, std::span<const int64_t> ranks) {
  const std::string dense = without_spaces(text);
  const size_t arrow = dense.find("->");
  const std::string_view left = std::string_view(dense).substr(0, arrow);
  const std::vector<Labels> terms = read_terms(left);
  TSR_CHECK(terms.size() == ranks.size(), Code::kValue, "operands", "expected ", terms.size(),
            " tensors for the equation '", text, "', got ", ranks.size());
  Equation equation;
  int64_t ellipsis = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool open = contains(terms[i], kEllipsis);
    const auto letters = static_cast<int64_t>(terms[i].size()) - (open ? 1 : 0);
    TSR_CHECK(open ? ranks[i] >= letters : ranks[i] == letters, Code::kShape, "operands",
              "expected ", open ? "at least " : "", letters, " dimensions in operand ", i,
              " for the equation '", text, "', got ", ranks[i]);
    equation.operands.push_back(with_ellipsis(terms[i], ranks[i] - letters));
    if (open) ellipsis = std::max(ellipsis, ranks[i] - letters);
  }
  if (arrow == std::string::npos) {
    equation.result = implicit_result(equation.operands, ellipsis);
    return equation;
  }
  const std::string_view right = std::string_view(dense).substr(arrow + 2);
  equation.result = with_ellipsis(read_term(right), ellipsis);
  check_result(equation.result, equation.operands, text);
  return equation;
}

}  // namespace tsr::ops
