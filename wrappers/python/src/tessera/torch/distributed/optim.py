# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.optim."""

from tessera.optim import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]
