// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// The OpenBLAS that the library opens must have the threading model that the build asked for, and
// use kernels for the instructions that the processor has.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backend/cpu/level.h"
#include "backend/cpu/linalg/blas.h"

namespace test_blas_flavour {
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

// OpenBLAS takes these where it does not know the processor's number, however new that is.
TEST(OpenBlas, has_kernels_for_the_instructions_of_an_unknown_processor) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;  // whoever runs the test has chosen
  const tsr::cpu::BlasUse use(tsr::cpu::BlasCalls::kInTurn);
  ASSERT_TRUE(use);
  const auto corename = reinterpret_cast<const char* (*)()>(use.find("gotoblas_corename"));
  if (corename == nullptr) return;  // built for one processor
  const std::string core = corename();
  const std::string level = tsr::cpu::best_level()->name;
  if (level == "sse42") return;
  EXPECT_NE(core, "Prescott");
  if (level == "avx512") {
    EXPECT_NE(core, "Haswell");
    EXPECT_NE(core, "Zen");
  }
}

// The answer was for OpenBLAS alone.
TEST(OpenBlas, is_told_without_the_environment) {
  const bool chosen = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  ASSERT_TRUE(tsr::cpu::BlasUse(tsr::cpu::BlasCalls::kInTurn));
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE") != nullptr, chosen);
}

}  // namespace
}  // namespace test_blas_flavour
