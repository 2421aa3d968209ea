// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent gates, a register of units at a time.
#pragma once

#include "backend/common/math_any.h"
#include "backend/common/vec.h"
#include "backend/cpu/nn/gates_rows.h"

namespace tsr::cpu::TSR_ISA {

// The units [unit, unit + V::kSize) of a block.
template <class T>
struct WholeUnits {
  using Value = Vec<T>;
  int64_t unit;
  [[gnu::always_inline]] Value load(const T* block) const { return Value::load(block + unit); }
  [[gnu::always_inline]] void store(T* block, Value value) const { value.store(block + unit); }
};
// The last units of a block, fewer than a register has.
template <class T>
struct LastUnits {
  using Value = Vec<T>;
  int64_t unit, count;
  [[gnu::always_inline]] Value load(const T* block) const {
    return Value::load_part(block + unit, count, T{0});
  }
  [[gnu::always_inline]] void store(T* block, Value value) const {
    value.store_part(block + unit, count);
  }
};

template <kernel::GatesOp kOp, bool kBackward, class T>
void gate_rows(const math::GateRow<T>& first, int64_t y_step, int64_t begin, int64_t end) {
  const auto step = [](const auto& at, const math::GateRow<T>& row) __attribute__((always_inline)) {
    if constexpr (kBackward)
      math::gates_backward<kOp>(at, row);
    else
      math::gates_forward<kOp>(at, row);
  };
  for (int64_t index = begin; index < end; ++index) {
    const math::GateRow<T> row = math::row_at(first, kOp, y_step, index);
    int64_t unit = 0;
    for (; unit + Vec<T>::kSize <= row.hidden; unit += Vec<T>::kSize)
      step(WholeUnits<T>{unit}, row);
    if (unit < row.hidden) step(LastUnits<T>{unit, row.hidden - unit}, row);
  }
}

template <class T>
inline constexpr GatesRows<T> kGatesRows{
    {gate_rows<kernel::GatesOp::kTanh, false, T>, gate_rows<kernel::GatesOp::kRelu, false, T>,
     gate_rows<kernel::GatesOp::kLstm, false, T>, gate_rows<kernel::GatesOp::kGru, false, T>},
    {gate_rows<kernel::GatesOp::kTanh, true, T>, gate_rows<kernel::GatesOp::kRelu, true, T>,
     gate_rows<kernel::GatesOp::kLstm, true, T>, gate_rows<kernel::GatesOp::kGru, true, T>},
};

}  // namespace tsr::cpu::TSR_ISA
