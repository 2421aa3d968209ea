// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"

#include <cstring>

#include "base/text.h"

namespace tsr {

void Scalar::store(DType dtype, void* dst) const {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    const T value = to<T>();
    std::memcpy(dst, &value, sizeof(T));
  });
}

void append_text(std::string& out, const Scalar& value) {
  switch (value.category()) {
    case Category::kBool:
      append_text(out, value.to<bool>());
      return;
    case Category::kIntegral:
      if (value.is_large()) {
        append_text(out, value.to<uint64_t>());
      } else {
        append_text(out, value.to<int64_t>());
      }
      return;
    case Category::kFloating:
      append_text(out, value.to<double>());
      return;
    case Category::kComplex:
      append_text(out, value.to<std::complex<double>>());
      return;
  }
}

}  // namespace tsr
