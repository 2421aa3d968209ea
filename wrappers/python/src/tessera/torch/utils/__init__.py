# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils."""

from ...utils import deterministic
from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "deterministic", "dlpack", "hooks"]
