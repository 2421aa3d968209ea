// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// The OpenBLAS that the library opens must have the threading model that the build asked for.

#include <gtest/gtest.h>

#include <string>

#include "backend/cpu/linalg/blas.h"

namespace {

// OpenBLAS's own numbers: 0 serial, 1 POSIX threads, 2 OpenMP. The pthreads flavour has its own
// thread pool beside ours. The system prefers it whenever another package installs it.
int wanted_flavour() {
  return std::string(TSR_BLAS_FLAVOUR) == "openmp" ? 2 : 0;
}

TEST(OpenBlas, opens_the_flavour_that_shares_openmp_threads) {
  const tsr::cpu::BlasLibrary library = tsr::cpu::blas_library();
  EXPECT_NE(std::string(library.path).find("openblas"), std::string::npos) << library.path;
  EXPECT_EQ(library.flavour, wanted_flavour()) << library.path;
}

}  // namespace
