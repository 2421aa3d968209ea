// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The Fourier rows of one instruction-set level.
#include "backend/cpu/isa/fft_split.h"

#include "backend/cpu/isa/find.h"

namespace tsr::cpu::TSR_ISA {

const FftRows<float> kFftRowsFloat = kFftRows<float>;
const FftRows<double> kFftRowsDouble = kFftRows<double>;

}  // namespace tsr::cpu::TSR_ISA
