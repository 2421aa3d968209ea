# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.stateless, the former place of torch.func.functional_call."""

from __future__ import annotations

from ...func import functional_call

__all__ = ["functional_call"]
