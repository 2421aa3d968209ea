# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# The platform that the CPU backend is written for. Elsewhere the configuration ends here, with one line, instead of
# the build in the middle with an error of the compiler. The compiler is asked, because a 64-bit kernel can run a
# 32-bit system, and a compiler can be one for another processor.

include(CheckCXXSourceCompiles)

set(tsr_platform_source "
#if !defined(__linux__) || !defined(__x86_64__) || defined(__ILP32__)
#error another platform
#endif
int main() { return 0; }
")
set(CMAKE_REQUIRED_QUIET ON)
check_cxx_source_compiles("${tsr_platform_source}" TSR_COMPILES_FOR_LINUX_X86_64)
unset(CMAKE_REQUIRED_QUIET)
if(NOT TSR_COMPILES_FOR_LINUX_X86_64)
  message(FATAL_ERROR "Tessera: expected a compiler for Linux on x86-64 (64 bits), got one for another platform "
                      "(${CMAKE_SYSTEM_NAME}, ${CMAKE_SYSTEM_PROCESSOR}): ${CMAKE_CXX_COMPILER}")
endif()
