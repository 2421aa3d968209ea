# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.parametrizations."""

from __future__ import annotations

from tessera.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
