// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_HD: marks functions that CUDA compiles for host and device; nothing elsewhere. TSR_HD_CALL:
// the same for long functions, which CUDA is to call and not to copy into every kernel.
#pragma once

#if defined(__CUDACC__)
#define TSR_HD __host__ __device__
#define TSR_HD_CALL __host__ __device__ __noinline__
#else
#define TSR_HD
#define TSR_HD_CALL
#endif
