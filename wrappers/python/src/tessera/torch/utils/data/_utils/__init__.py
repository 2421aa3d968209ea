# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data._utils, of which programs use `collate`."""

from . import collate

__all__ = ["collate"]
