// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How the passes of a convolution are described to oneDNN. Version 2 wants a description of the
// operation first; since version 3 that of the primitive takes its arguments.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace tsr::cpu::onednn {

struct Window {
  dnnl::memory::dims stride, dilation, left, right;
};

using Layout = dnnl::memory::desc;
using Forward = dnnl::convolution_forward;
using BackwardInput = dnnl::convolution_backward_data;
using BackwardWeight = dnnl::convolution_backward_weights;

// `bias` may be empty. A derivative has the forward pass as a hint.
#if DNNL_VERSION_MAJOR >= 3

inline Forward::primitive_desc describe_forward(const dnnl::engine& engine,
                                                const dnnl::primitive_attr& attributes,
                                                dnnl::algorithm algorithm, const Layout& input,
                                                const Layout& weight, const Layout& bias,
                                                const Layout& output, const Window& w) {
  return {engine,     dnnl::prop_kind::forward_training,
          algorithm,  input,
          weight,     bias,
          output,     w.stride,
          w.dilation, w.left,
          w.right,    attributes};
}
inline BackwardInput::primitive_desc describe_backward_input(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, dnnl::algorithm algorithm,
    const Layout& input, const Layout& weight, const Layout& output, const Window& w,
    const Forward::primitive_desc& hint) {
  return {engine,     algorithm, input,   weight, output,    w.stride,
          w.dilation, w.left,    w.right, hint,   attributes};
}
inline BackwardWeight::primitive_desc describe_backward_weight(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, dnnl::algorithm algorithm,
    const Layout& input, const Layout& weight, const Layout& bias, const Layout& output,
    const Window& w, const Forward::primitive_desc& hint) {
  return {engine,   algorithm,  input,  weight,  bias, output,
          w.stride, w.dilation, w.left, w.right, hint, attributes};
}

#else

inline Forward::primitive_desc describe_forward(const dnnl::engine& engine,
                                                const dnnl::primitive_attr& attributes,
                                                dnnl::algorithm algorithm, const Layout& input,
                                                const Layout& weight, const Layout& bias,
                                                const Layout& output, const Window& w) {
  const Forward::desc operation(dnnl::prop_kind::forward_training, algorithm, input, weight, bias,
                                output, w.stride, w.dilation, w.left, w.right);
  return {operation, attributes, engine};
}
inline BackwardInput::primitive_desc describe_backward_input(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, dnnl::algorithm algorithm,
    const Layout& input, const Layout& weight, const Layout& output, const Window& w,
    const Forward::primitive_desc& hint) {
  const BackwardInput::desc operation(algorithm, input, weight, output, w.stride, w.dilation,
                                      w.left, w.right);
  return {operation, attributes, engine, hint};
}
inline BackwardWeight::primitive_desc describe_backward_weight(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, dnnl::algorithm algorithm,
    const Layout& input, const Layout& weight, const Layout& bias, const Layout& output,
    const Window& w, const Forward::primitive_desc& hint) {
  const BackwardWeight::desc operation(algorithm, input, weight, bias, output, w.stride, w.dilation,
                                       w.left, w.right);
  return {operation, attributes, engine, hint};
}

#endif

}  // namespace tsr::cpu::onednn
