// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Text of tensors: tensor([[1, 2], [3, 4]]), shortened when they are large.
#pragma once

#include <complex>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "tessera/cpp/autograd.hpp"

namespace tessera {

namespace detail {

inline constexpr int64_t kSummarizeAbove = 1000;  // elements
inline constexpr int64_t kEdgeItems = 3;

// Prints the elements of one tensor with nested brackets.
class TensorText {
 public:
  explicit TensorText(const Tensor& tensor)
      : shape_(tensor.shape()),
        dtype_(tensor.dtype()),
        values_(tensor.to_vector<std::complex<double>>()),
        shorten_(tensor.numel() > kSummarizeAbove) {
    if (is_integral(dtype_)) integers_ = tensor.to_vector<int64_t>();
  }

  std::string text() const {
    size_t at = 0;
    return values_.empty() ? "[]" : axis(0, at);
  }

 private:
  std::string axis(size_t depth, size_t& at) const {
    if (depth == shape_.size()) return element(at++);
    const std::string between =
        depth + 1 == shape_.size() ? ", " : ",\n" + std::string(8 + depth, ' ');
    std::string text = "[";
    for (int64_t i = 0; i < shape_[depth]; ++i) {
      if (shorten_ && i == kEdgeItems && shape_[depth] > 2 * kEdgeItems) {
        const int64_t skipped = shape_[depth] - 2 * kEdgeItems;
        at += static_cast<size_t>(skipped * inner(depth));
        i += skipped;
        text += between + "...";
      }
      text += (i == 0 ? "" : between) + axis(depth + 1, at);
    }
    return text + "]";
  }

  // How many elements stand below one step of an axis.
  int64_t inner(size_t depth) const {
    int64_t count = 1;
    for (size_t i = depth + 1; i < shape_.size(); ++i) count *= shape_[i];
    return count;
  }

  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", value);
    return text;
  }

  std::string element(size_t at) const {
    const std::complex<double> value = values_[at];
    if (dtype_ == kBool) return value.real() != 0 ? "true" : "false";
    if (is_integral(dtype_)) {
      return dtype_ == kUInt64 ? std::to_string(static_cast<uint64_t>(integers_[at]))
                               : std::to_string(integers_[at]);
    }
    if (!is_complex(dtype_)) return number(value.real());
    return number(value.real()) + (value.imag() < 0 ? "" : "+") + number(value.imag()) + "j";
  }

  std::vector<int64_t> shape_;
  DType dtype_;
  std::vector<std::complex<double>> values_;
  std::vector<int64_t> integers_;  // exact, where a double is not
  bool shorten_;
};

}  // namespace detail

inline std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  std::string text = "tensor(" + detail::TensorText(tensor).text();
  const DType dtype = tensor.dtype();
  if (dtype != kFloat32 && dtype != kInt64 && dtype != kBool) {
    text += ", dtype=" + std::string(name(dtype));
  }
  if (tensor.device() != Device::cpu()) text += ", device=" + tensor.device().str();
  if (const Node node = tensor.grad_fn(); node.defined()) {
    text += ", grad_fn=<" + node.name() + ">";
  } else if (tensor.requires_grad()) {
    text += ", requires_grad";
  }
  return text + ")";
}

inline std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  return stream << to_string(tensor);
}

}  // namespace tessera
