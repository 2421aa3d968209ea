# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/api."""

from .pages import outputs

__all__ = ["outputs"]
