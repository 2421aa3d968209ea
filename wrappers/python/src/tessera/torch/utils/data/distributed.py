# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data.distributed."""

from ....utils.data import DistributedSampler

__all__ = ["DistributedSampler"]
