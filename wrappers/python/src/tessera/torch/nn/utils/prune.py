# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.prune."""

from __future__ import annotations

from tessera.nn.utils.prune import *  # noqa: F403
from tessera.nn.utils.prune import __all__ as __all__
