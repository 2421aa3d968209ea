// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// An external C++ program that uses only the installed package.
#include <iostream>
#include <tessera/tessera.hpp>

int main() {
  tessera::Tensor x = tessera::tensor({1.0, 2.0, 3.0}).requires_grad_();
  (x * x).sum().backward();
  std::cout << x.grad() << "\n";
  return x.grad().sum().item<double>() == 12 ? 0 : 1;
}
