// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// The OpenBLAS that is loaded must be the flavour the build asked for.

#include <cblas.h>
#include <gtest/gtest.h>

#include <string>

namespace {

// OpenBLAS's own numbers: 0 serial, 1 POSIX threads, 2 OpenMP. The thread flavour has a pool of its
// own beside ours and wins the system's choice whenever another package pulls it in.
int wanted_parallel() {
  return std::string(TSR_BLAS_FLAVOUR) == "openmp" ? 2 : 0;
}

TEST(OpenBlas, loads_the_flavour_that_shares_our_threads) {
  EXPECT_EQ(openblas_get_parallel(), wanted_parallel()) << openblas_get_config();
}

}  // namespace
