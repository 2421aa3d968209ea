// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Text of tensors: tensor([[1, 2], [3, 4]]), shortened when they are large.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "tessera/cpp/autograd.hpp"

namespace tessera {

namespace detail {

// printf writes the decimal point of the user's language; with a comma, [1,5, 2,5] would have four
// numbers.
inline std::string with_point(std::string number) {
  const auto is_point = [](char c) {
    return !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && c != '-' && c != '+';
  };
  const auto first = std::find_if(number.begin(), number.end(), is_point);
  const auto end = std::find_if_not(first, number.end(), is_point);  // it may have several bytes
  if (first != end) number.replace(first, end, ".");
  return number;
}

inline constexpr int64_t kSummarizeAbove = 1000;  // elements
inline constexpr int64_t kEdgeItems = 3;

// The printed part of a tensor: of long axes (`axis` and later ones) only the edges. Only this part
// is copied, so a large tensor costs little.
inline Tensor edges(const Tensor& tensor, int64_t axis = 0) {
  if (axis == tensor.ndim()) return tensor;
  const int64_t length = tensor.size(axis);
  if (length <= 2 * kEdgeItems) return edges(tensor, axis + 1);
  const Tensor first = edges(tensor.narrow(axis, 0, kEdgeItems), axis + 1);
  const Tensor last = edges(tensor.narrow(axis, length - kEdgeItems, kEdgeItems), axis + 1);
  return concat({first, last}, axis);
}

// Prints the elements of one tensor with nested brackets.
class TensorText {
 public:
  explicit TensorText(const Tensor& tensor)
      : shape_(tensor.shape()), dtype_(tensor.dtype()), shorten_(tensor.numel() > kSummarizeAbove) {
    const NoGradGuard no_grad;
    const Tensor shown = shorten_ ? edges(tensor) : tensor;
    values_ = shown.to_vector<std::complex<double>>();
    if (is_integral(dtype_)) integers_ = shown.to_vector<int64_t>();
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
    const bool shorten = shorten_ && shape_[depth] > 2 * kEdgeItems;
    const int64_t length = shorten ? 2 * kEdgeItems : shape_[depth];
    std::string text = "[";
    for (int64_t i = 0; i < length; ++i) {
      if (shorten && i == kEdgeItems) text += between + "...";
      text += (i == 0 ? "" : between) + axis(depth + 1, at);
    }
    return text + "]";
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "nan";  // some processors make nan with a sign
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", value);
    return with_point(text);
  }

  std::string element(size_t at) const {
    const std::complex<double> value = values_[at];
    if (dtype_ == kBool) return value.real() != 0 ? "true" : "false";
    if (is_integral(dtype_)) {
      return dtype_ == kUInt64 ? std::to_string(static_cast<uint64_t>(integers_[at]))
                               : std::to_string(integers_[at]);
    }
    if (!is_complex(dtype_)) return number(value.real());
    return number(value.real()) + (std::signbit(value.imag()) ? "" : "+") + number(value.imag()) +
           "j";
  }

  std::vector<int64_t> shape_;
  DType dtype_;
  std::vector<std::complex<double>> values_;
  std::vector<int64_t> integers_;  // exact for numbers that a double cannot hold
  bool shorten_;
};

}  // namespace detail

inline std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  std::string text = "tensor(" + detail::TensorText(tensor).text();
  if (tensor.numel() == 0 && tensor.ndim() != 1) {
    text += ", shape=" + detail::text_of(tensor.shape());
  }
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
inline std::ostream& operator<<(std::ostream& stream, DType dtype) {
  return stream << name(dtype);
}
inline std::ostream& operator<<(std::ostream& stream, Device device) {
  return stream << device.str();
}

}  // namespace tessera
