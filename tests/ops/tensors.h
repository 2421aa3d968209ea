// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Small tensors for tests: from values and to values.
#pragma once

#include <cstring>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "tensor/tensor.h"

namespace tsr::test {

template <class T>
Tensor tensor(DimsView shape, const std::vector<T>& values) {
  Tensor result = empty(shape, dtype_of<T>());
  if (!values.empty()) std::memcpy(result.data(), values.data(), values.size() * sizeof(T));
  return result;
}
inline Tensor f64(DimsView shape, const std::vector<double>& values) {
  return tensor(shape, values);
}
inline Tensor f32(DimsView shape, const std::vector<float>& values) {
  return tensor(shape, values);
}
inline Tensor i64(DimsView shape, const std::vector<int64_t>& values) {
  return tensor(shape, values);
}

// The elements in row-major order, cast to T.
template <class T = double>
std::vector<T> values(const Tensor& input) {
  const Tensor dense = ops::contiguous_memory(ops::cast_memory(input, dtype_of<T>()));
  std::vector<T> out(static_cast<size_t>(dense.numel()));
  if (!out.empty()) std::memcpy(out.data(), dense.data(), out.size() * sizeof(T));
  return out;
}

template <class Fn>
Error error_of(Fn fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::kOk, nullptr, "nothing was thrown");
}

}  // namespace tsr::test
