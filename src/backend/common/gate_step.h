// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One time step of the recurrent layers for the units of one row, and its derivative (see
// kernel/recurrent.h). LSTM: Gers, Schmidhuber and Cummins, Learning to Forget (2000). GRU: Cho et
// al., Learning Phrase Representations (2014), with the reset gate behind the product, as cuDNN and
// PyTorch have it.
//
// `At` says which units: load() and store() move a value of type V for these units from and to a
// block of `hidden` numbers. On the CPU V is a vector, on CUDA one number. All values are loaded
// before the first is stored, because blocks may be the same memory.
#pragma once

#include "base/host_device.h"
#include "kernel/recurrent.h"

namespace tsr::math {

// The blocks of one row; null where the plan has null.
template <class T>
struct GateRow {
  int64_t hidden;
  T* gates;
  const T* product;
  const T* bias;
  T* h;
  T* c;
  T* y;
  T* h_before;
  T* c_before;
  const T* grad_y;
  T* grad_h;
  T* grad_c;
  T* grad_gates;
  T* grad_product;
};

template <class T>
GateRow<T> first_row(const kernel::GatesPlan& plan) {
  return {
      plan.hidden,
      static_cast<T*>(plan.gates),
      static_cast<const T*>(plan.product),
      static_cast<const T*>(plan.bias),
      static_cast<T*>(plan.h),
      static_cast<T*>(plan.c),
      static_cast<T*>(plan.y),
      static_cast<T*>(plan.h_before),
      static_cast<T*>(plan.c_before),
      static_cast<const T*>(plan.grad_y),
      static_cast<T*>(plan.grad_h),
      static_cast<T*>(plan.grad_c),
      static_cast<T*>(plan.grad_gates),
      static_cast<T*>(plan.grad_product),
  };
}

template <class P>
[[gnu::always_inline]] TSR_HD inline P* moved_by(P* pointer, int64_t count) {
  return pointer == nullptr ? nullptr : pointer + count;
}

// Row `index` of the plan whose first row is given.
template <class T>
[[gnu::always_inline]] TSR_HD inline GateRow<T> row_at(const GateRow<T>& first, kernel::GatesOp op,
                                                       int64_t y_step, int64_t index) {
  const int64_t one = index * first.hidden;
  const int64_t gates = one * kernel::gates_width(op);
  const int64_t grads = op == kernel::GatesOp::kGru ? 3 * one : gates;
  GateRow<T> row = first;
  row.gates = moved_by(row.gates, gates);
  row.product = moved_by(row.product, 3 * one);
  row.h = moved_by(row.h, one);
  row.c = moved_by(row.c, one);
  row.y = moved_by(row.y, index * y_step);
  row.h_before = moved_by(row.h_before, one);
  row.c_before = moved_by(row.c_before, one);
  row.grad_y = moved_by(row.grad_y, index * y_step);
  row.grad_h = moved_by(row.grad_h, one);
  row.grad_c = moved_by(row.grad_c, one);
  row.grad_gates = moved_by(row.grad_gates, grads);
  row.grad_product = moved_by(row.grad_product, 3 * one);
  return row;
}

template <class At, class T>
[[gnu::always_inline]] TSR_HD inline auto load_or_zero(const At& at, const T* block) {
  using V = typename At::Value;
  return block == nullptr ? V(0) : at.load(block);
}
template <class At, class T>
[[gnu::always_inline]] TSR_HD inline auto gate_input(const At& at, const GateRow<T>& row, int k) {
  const auto value = at.load(row.gates + k * row.hidden);
  return row.bias == nullptr ? value : value + at.load(row.bias + k * row.hidden);
}

// ---- the new state ----

// Keeps the old h and writes the new one.
template <class At, class T>
[[gnu::always_inline]] TSR_HD inline void put_state(const At& at, const GateRow<T>& row,
                                                    typename At::Value h) {
  if (row.h_before != nullptr) at.store(row.h_before, at.load(row.h));
  if (row.h != nullptr) at.store(row.h, h);
  if (row.y != nullptr) at.store(row.y, h);
}

template <kernel::GatesOp kOp, class At, class T>
[[gnu::always_inline]] TSR_HD inline void gates_forward(const At& at, const GateRow<T>& row) {
  using kernel::GatesOp;
  using V = typename At::Value;
  const int64_t n = row.hidden;
  const V first = gate_input(at, row, 0);
  if constexpr (kOp == GatesOp::kTanh || kOp == GatesOp::kRelu) {
    V h = first;
    if constexpr (kOp == GatesOp::kTanh)
      h = tanh(first);
    else
      h = select(first < V(0), V(0), first);
    at.store(row.gates, h);
    put_state(at, row, h);
  } else if constexpr (kOp == GatesOp::kLstm) {
    const V i = sigmoid(first);
    const V f = sigmoid(gate_input(at, row, 1));
    const V g = tanh(gate_input(at, row, 2));
    const V o = sigmoid(gate_input(at, row, 3));
    const V before = at.load(row.c);
    const V c = f * before + i * g;
    at.store(row.gates, i);
    at.store(row.gates + n, f);
    at.store(row.gates + 2 * n, g);
    at.store(row.gates + 3 * n, o);
    if (row.c_before != nullptr) at.store(row.c_before, before);
    at.store(row.c, c);
    put_state(at, row, o * tanh(c));
  } else {
    const V r = sigmoid(first + at.load(row.product));
    const V z = sigmoid(gate_input(at, row, 1) + at.load(row.product + n));
    V m = at.load(row.product + 2 * n);
    if (row.bias != nullptr) m = m + at.load(row.bias + 3 * n);
    const V candidate = tanh(gate_input(at, row, 2) + r * m);
    at.store(row.gates, r);
    at.store(row.gates + n, z);
    at.store(row.gates + 2 * n, candidate);
    at.store(row.gates + 3 * n, m);
    put_state(at, row, candidate + z * (at.load(row.h) - candidate));
  }
}

// ---- derivatives ----
// With s = σ(x): ds = s (1 - s) dx; with t = tanh(x): dt = (1 - t²) dx.

template <class V>
[[gnu::always_inline]] TSR_HD inline V through_sigmoid(V slope, V s) {
  return slope * s * (V(1) - s);
}
template <class V>
[[gnu::always_inline]] TSR_HD inline V through_tanh(V slope, V t) {
  return slope * (V(1) - t * t);
}

template <kernel::GatesOp kOp, class At, class T>
[[gnu::always_inline]] TSR_HD inline void gates_backward(const At& at, const GateRow<T>& row) {
  using kernel::GatesOp;
  using V = typename At::Value;
  const int64_t n = row.hidden;
  const V dh = load_or_zero(at, row.grad_y) + load_or_zero(at, row.grad_h);
  const V first = at.load(row.gates);
  if constexpr (kOp == GatesOp::kTanh) {
    at.store(row.grad_gates, through_tanh(dh, first));
  } else if constexpr (kOp == GatesOp::kRelu) {
    at.store(row.grad_gates, select(first > V(0), dh, V(0)));
  } else if constexpr (kOp == GatesOp::kLstm) {
    // c = f c₀ + i g, h = o tanh(c)
    const V i = first;
    const V f = at.load(row.gates + n);
    const V g = at.load(row.gates + 2 * n);
    const V o = at.load(row.gates + 3 * n);
    const V before = at.load(row.c_before);
    const V t = tanh(f * before + i * g);
    const V dc = at.load(row.grad_c) + through_tanh(dh * o, t);
    at.store(row.grad_gates, through_sigmoid(dc * g, i));
    at.store(row.grad_gates + n, through_sigmoid(dc * before, f));
    at.store(row.grad_gates + 2 * n, through_tanh(dc * i, g));
    at.store(row.grad_gates + 3 * n, through_sigmoid(dh * t, o));
    at.store(row.grad_c, dc * f);
  } else {
    // h = n + z (h₀ - n), n = tanh(x + r m)
    const V r = first;
    const V z = at.load(row.gates + n);
    const V candidate = at.load(row.gates + 2 * n);
    const V m = at.load(row.gates + 3 * n);
    const V before = at.load(row.h_before);
    const V dn = through_tanh(dh * (V(1) - z), candidate);
    const V dz = through_sigmoid(dh * (before - candidate), z);
    const V dr = through_sigmoid(dn * m, r);
    at.store(row.grad_gates, dr);
    at.store(row.grad_gates + n, dz);
    at.store(row.grad_gates + 2 * n, dn);
    at.store(row.grad_product, dr);
    at.store(row.grad_product + n, dz);
    at.store(row.grad_product + 2 * n, dn * r);
    at.store(row.grad_h, dh * z);
  }
}

}  // namespace tsr::math
