/* SPDX-FileCopyrightText: 2026 The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */
/* The functions of a foreign BLAS as a library to be loaded before all others (LD_PRELOAD). */
#include "hostile_blas.h"
