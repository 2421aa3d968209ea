# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel table, the kernel ids and the names of the op rows."""

from .tables import outputs

__all__ = ["outputs"]
