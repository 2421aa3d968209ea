// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Converts a tsr_value, whose kind is checked already, to C parameters. NONE becomes C's absent
// value.
#pragma once

#include "capi/tables.h"

namespace tsr::capi {

template <class... Params>
auto as(AnyFunction function) {
  return reinterpret_cast<tsr_status (*)(Params...)>(function);
}

inline int32_t has(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? 0 : 1;
}
inline const void* pointer(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? nullptr : value.pointer;
}
inline tsr_tensor tensor(const tsr_value& value) {
  return static_cast<tsr_tensor>(const_cast<void*>(pointer(value)));
}
inline tsr_generator generator(const tsr_value& value) {
  return static_cast<tsr_generator>(const_cast<void*>(pointer(value)));
}
inline tsr_tensor* place(const tsr_value& value) {
  return static_cast<tsr_tensor*>(const_cast<void*>(pointer(value)));
}
template <class T>
const T* list(const tsr_value& value) {
  return static_cast<const T*>(pointer(value));
}
inline int32_t count(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? -1 : value.n;
}
inline int64_t integer(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? std::numeric_limits<int64_t>::min() : value.integer;
}
// A tsr_number for the duration of the call.
class Number {
 public:
  explicit Number(const tsr_value& value)
      : number_{value.kind == TSR_VALUE_UNSIGNED ? TSR_NUMBER_UNSIGNED : value.kind, 0,
                value.integer, value.real, value.imaginary} {}
  operator const tsr_number*() const { return number_.kind == TSR_VALUE_NONE ? nullptr : &number_; }

 private:
  tsr_number number_;
};
// A bool, dtype, enumeration or device type.
inline int32_t small(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? -1 : static_cast<int32_t>(value.integer);
}
inline int32_t device_index(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? -1 : value.n;
}
inline const char* text(const tsr_value& value) {
  return static_cast<const char*>(pointer(value));
}
inline int64_t text_length(const tsr_value& value) {
  return value.kind == TSR_VALUE_NONE ? 0 : value.integer;
}

}  // namespace tsr::capi
