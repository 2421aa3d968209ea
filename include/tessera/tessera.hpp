// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tessera for C++17 and up: header-only, over the C ABI and the standard library alone.
#pragma once

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/create.hpp"
#include "tessera/cpp/custom_function.hpp"
#include "tessera/cpp/data.hpp"
#include "tessera/cpp/error.hpp"
#include "tessera/cpp/forward_ad.hpp"
#include "tessera/cpp/index.hpp"
#include "tessera/cpp/interop.hpp"
#include "tessera/cpp/io.hpp"
#include "tessera/cpp/memory.hpp"
#include "tessera/cpp/nn.hpp"
#include "tessera/cpp/ops.hpp"
#include "tessera/cpp/optim.hpp"
#include "tessera/cpp/print.hpp"
#include "tessera/cpp/random.hpp"
#include "tessera/cpp/saved_tensors.hpp"
#include "tessera/cpp/schedules.hpp"
#include "tessera/cpp/streams.hpp"
#include "tessera/cpp/tensor.hpp"
#include "tessera/cpp/threads.hpp"
#include "tessera/cpp/tracing.hpp"
#include "tessera/tessera.h"
