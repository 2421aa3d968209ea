// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// summary: a model as a table: its parameters, or what a call of it does.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tessera/cpp/graph.hpp"
#include "tessera/cpp/nn/module.hpp"
#include "tessera/cpp/print.hpp"

namespace tessera::nn {

// One line for each parameter with its path, shape and number of elements, then the totals.
inline std::string summary(Module& module) {
  const NamedTensors named = module.named_parameters();
  size_t names = std::string_view("Parameter").size();
  size_t shapes = std::string_view("Shape").size();
  size_t counts = std::string_view("Elements").size();
  int64_t total = 0;
  int64_t trainable = 0;
  int64_t nbytes = 0;
  for (const auto& [name, tensor] : named) {
    names = std::max(names, name.size());
    shapes = std::max(shapes, tessera::detail::text_of(tensor.shape()).size());
    counts = std::max(counts, std::to_string(tensor.numel()).size());
    total += tensor.numel();
    trainable += tensor.requires_grad() ? tensor.numel() : 0;
    nbytes += tensor.nbytes();
  }
  const auto row = [&](const std::string& name, const std::string& shape,
                       const std::string& count) {
    return name + std::string(names - name.size() + 2, ' ') + shape +
           std::string(shapes - shape.size() + 2 + counts - count.size(), ' ') + count + "\n";
  };
  std::string text = row("Parameter", "Shape", "Elements");
  for (const auto& [name, tensor] : named) {
    text += row(name, tessera::detail::text_of(tensor.shape()), std::to_string(tensor.numel()));
  }
  char megabytes[32];
  std::snprintf(megabytes, sizeof megabytes, "%.2f", static_cast<double>(nbytes) / 1e6);
  return text + "Parameters: " + std::to_string(total) + " (" + std::to_string(trainable) +
         " trainable), " + tessera::detail::with_point(megabytes) + " MB\n";
}

// Calls the module once. One line for each operator of the call, with the layer whose parameters it
// uses, the shape of its output and its multiply-adds; then the totals, and the memory of the
// outputs and of what a backward would need. The module may change its buffers, as in any call.
inline std::string summary(Module& module, const Tensor& input) {
  const EnableGradGuard on;
  Tensor given = input;
  if (is_floating_point(input.dtype())) given = input.detach().requires_grad_();
  GraphOptions options;
  options.format = GraphFormat::kTable;
  return draw_graph(module(given), module.named_parameters(), options);
}

}  // namespace tessera::nn
