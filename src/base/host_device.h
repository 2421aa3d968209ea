// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// TSR_HD: marks functions that CUDA compiles for host and device; nothing elsewhere.
#pragma once

#if defined(__CUDACC__)
#define TSR_HD __host__ __device__
#else
#define TSR_HD
#endif
