// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Probability distributions: random values, densities, moments and divergences, with the names,
// formulas and errors of Python's tessera.distributions.
//
// A distribution is a batch of independent ones, which differ in their parameters. Parameters are
// tensors or numbers, and broadcast.
#pragma once

#include "tessera/cpp/distributions/discrete.hpp"
#include "tessera/cpp/distributions/distribution.hpp"
#include "tessera/cpp/distributions/gamma.hpp"
#include "tessera/cpp/distributions/multivariate.hpp"
#include "tessera/cpp/distributions/real.hpp"
