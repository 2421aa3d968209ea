// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers, models, losses, initial values.
#pragma once

#include "tessera/cpp/nn/activations.hpp"
#include "tessera/cpp/nn/adaptive.hpp"
#include "tessera/cpp/nn/attention.hpp"
#include "tessera/cpp/nn/bags.hpp"
#include "tessera/cpp/nn/containers.hpp"
#include "tessera/cpp/nn/conv.hpp"
#include "tessera/cpp/nn/dropouts.hpp"
#include "tessera/cpp/nn/fractional.hpp"
#include "tessera/cpp/nn/image.hpp"
#include "tessera/cpp/nn/init.hpp"
#include "tessera/cpp/nn/layers.hpp"
#include "tessera/cpp/nn/losses.hpp"
#include "tessera/cpp/nn/module.hpp"
#include "tessera/cpp/nn/more_losses.hpp"
#include "tessera/cpp/nn/norm.hpp"
#include "tessera/cpp/nn/padding.hpp"
#include "tessera/cpp/nn/parameter_lists.hpp"
#include "tessera/cpp/nn/pooling.hpp"
#include "tessera/cpp/nn/recurrent.hpp"
#include "tessera/cpp/nn/sizes.hpp"
#include "tessera/cpp/nn/summary.hpp"
#include "tessera/cpp/nn/sync_norm.hpp"
#include "tessera/cpp/nn/transformer.hpp"
#include "tessera/cpp/nn/utils.hpp"
