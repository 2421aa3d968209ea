# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.hooks."""

from ...nn.module import RemovableHandle

__all__ = ["RemovableHandle"]
